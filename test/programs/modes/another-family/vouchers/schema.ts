import { builder, UNKNOWN } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { authorized, replayableSuccessType } from '../../api/graphql/mutations.ts';
import {
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../../api/graphql/paging.ts';
import { assertMay, assertUnrestrictedKey, callerOf } from '../../kernel/caller.ts';
import {
  IdempotencyError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { descriptionInput } from '../checkout/schema.ts';
import {
  assertVoucherId,
  createVoucherInput,
  type Voucher,
  type VoucherFilter,
  type VoucherService,
} from './model.ts';

const loads = addLoaders({
  voucher: ({ vouchers }, tenant, voucherIds) => vouchers.findMany(tenant, voucherIds),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    vouchers: VoucherService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

export const VoucherStatusEnum = builder.enumType('VoucherStatus', {
  description: 'The states of a voucher.',
  values: {
    OPEN: { value: 'open', description: 'Nobody has paid the voucher yet.' },
    PAID: { value: 'paid', description: 'The amount is in the balance.' },
    UNKNOWN,
  } as const,
});

export const VoucherRef = builder.objectRef<Voucher>('Voucher');
addEntity(VoucherRef, 'voucherId');
builder.node(VoucherRef, {
  id: { resolve: ({ voucherId }) => voucherId },
  loadOne: (voucherId, context) => {
    readerOf(context);
    return context.loaders.voucher.load(voucherId);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'voucherId' in value,
  description: 'A slip that the payer pays at a counter.',
  fields: (t) => ({
    voucherId: t.exposeString('voucherId', { description: 'The identifier: vou_ and 32 hex digits.' }),
    status: t.field({ type: VoucherStatusEnum, resolve: ({ status }) => status }),
    amountCents: t.expose('amountCents', { type: 'Cents', description: 'The amount in cents.' }),
    description: t.exposeString('description', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
    paidAt: t.expose('paidAt', { type: 'DateTime', nullable: true }),
  }),
});

const VoucherConnection = builder.connectionObject(
  {
    type: VoucherRef,
    name: 'VoucherConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'VoucherEdge' },
);

export const VoucherFilterInput = builder.inputType('VoucherFilter', {
  fields: (t) => ({
    status: t.field({ type: [VoucherStatusEnum] }),
    amountCents: t.field({ type: 'Cents', description: 'The amount in cents.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Selects vouchers of this instant or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Selects vouchers from before this instant.' }),
  }),
});

/** @throws ValidationError naming the argument */
export function voucherFilterOf(
  filter: typeof VoucherFilterInput.$inferInput | null | undefined,
): VoucherFilter {
  return readFilter<VoucherFilter>(filter);
}

/** @throws PermissionError */
export function readerOf(context: Context) {
  const caller = callerOf(context);
  assertMay(caller, 'vouchers.read');
  return caller;
}

builder.queryFields((t) => ({
  voucher: t.field({
    type: VoucherRef,
    nullable: true,
    description: 'The voucher with this voucherId.',
    args: { voucherId: t.arg.string({ required: true, description: 'The identifier of the voucher.' }) },
    resolve: (_, { voucherId }, context) => {
      const { tenant } = readerOf(context);
      assertVoucherId(voucherId);
      return context.services.vouchers.find(tenant, voucherId);
    },
  }),
  vouchers: t.field({
    type: VoucherConnection,
    description: 'A list of vouchers, newest first.',
    args: { ...connectionArguments(t.arg), filter: t.arg({ type: VoucherFilterInput }) },
    resolve: async (_, args, context) => {
      const { tenant } = readerOf(context);
      const filter = voucherFilterOf(args.filter);
      const cursors = context.listCursors('vouchers');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.vouchers.list(tenant, { ...filter, ...range });
      const nodes = items.map(({ position, resource }) => ({ position, node: resource }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.vouchers.count(tenant, filter),
      });
    },
  }),
}));

const CreateVoucherInputRef = builder.inputType('CreateVoucherInput', {
  validate: { schema: createVoucherInput },
  fields: (t) => ({
    valueCents: t.field({ type: 'Cents', required: true, description: 'The amount in cents; at least 1.' }),
    description: descriptionInput(t),
    idempotencyKey: t.string({
      description: 'A key for retries: the same key and input give the same voucher.',
    }),
  }),
});

const CreateVoucherSuccess = replayableSuccessType<{ voucher: Voucher }>('CreateVoucherSuccess', (t) => ({
  voucher: t.expose('voucher', { type: VoucherRef }),
}));

builder.mutationField('createVoucher', (t) =>
  t.field({
    type: CreateVoucherSuccess,
    description: 'Creates a voucher.',
    args: { input: t.arg({ type: CreateVoucherInputRef, required: true }) },
    errors: { types: [ValidationError, RateLimitError, PreconditionError, IdempotencyError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.vouchers.create(tenant, input),
    ),
  }),
);
