import { builder } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { finalFields } from '../../api/graphql/final-fields.ts';
import { byKey, keyArgument, keyMember, onlyName, withRequiredKey } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { addReference } from '../../api/graphql/lookup-reference.ts';
import { authorized, replayableSuccessType, type Types } from '../../api/graphql/mutations.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../../api/graphql/paging.ts';
import { assertMay, assertUnrestrictedKey, callerOf, may, seesCustomer } from '../../kernel/caller.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { CardPaymentRef } from '../card-payments/schema.ts';
import { ChargeRef } from '../charges/schema.ts';
import { PaymentRef } from '../payments/schema.ts';
import { SaleRef } from '../receiving/sale-schema.ts';
import { RefundStatusEnum } from './enums-schema.ts';
import { filterArguments, filterOf } from './filter-schema.ts';
import {
  isFinal,
  isRefundId,
  keyInReference,
  READ_REFUNDED,
  type Refund,
  type RefundedResource,
  type RefundedType,
  type RefundService,
  readableTypes,
  referenceOfKey,
  refundCardPaymentInput,
  refundChargeInput,
  refundPaymentInput,
} from './model.ts';

const loads = addLoaders({
  refund: ({ refunds }, tenant, refundIds) => refunds.findMany(tenant, refundIds),
  /** Finds the refunds of card payments by order code. */
  refundsOfCardPayment: ({ refunds }, tenant, orderCodes) =>
    refunds.ofResources(tenant, 'card_payment', orderCodes),
  /** Finds the refunds of charges by their id. */
  refundsOfCharge: ({ refunds }, tenant, chargeIds) => refunds.ofResources(tenant, 'charge', chargeIds),
  /** Finds the refunds of payments by their id. */
  refundsOfPayment: ({ refunds }, tenant, paymentIds) => refunds.ofResources(tenant, 'payment', paymentIds),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    refunds: RefundService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

export const RefundRef = builder.objectRef<Refund>('Refund');

/** The loader of each type of refunded resource. */
const LOADERS = { card_payment: 'cardPayment', payment: 'payment', charge: 'charge' } as const;

/** Loads a resource; null for a caller that may not read it. */
export function refundedResource({ type, id }: RefundedResource, context: Context) {
  if (!may(callerOf(context), READ_REFUNDED[type])) return null;
  return context.loaders[LOADERS[type]].load(id);
}

addEntity(RefundRef, 'refundId');
builder.node(RefundRef, {
  id: { resolve: ({ refundId }) => refundId },
  loadOne: async (refundId, context) => {
    const { types } = assertReader(context);
    return ofTypes(await context.loaders.refund.load(refundId), types);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'refundId' in value,
  description: 'Money given back to a payer.',
  fields: (t) => ({
    refundId: t.exposeString('refundId', {
      description: 'The identifier of the refund: ref_ and 24 hex digits.',
    }),
    status: t.field({ type: RefundStatusEnum, resolve: ({ status }) => status }),
    amountCents: t.expose('amountCents', { type: 'Cents' }),
    of: t.field({
      type: SaleRef,
      nullable: true,
      description: 'The sale that was refunded.',
      resolve: ({ resource }, _, context) => refundedResource(resource, context),
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description:
        'The reason as given, at most 140 characters; for a payment that is returned automatically, the cause of it.',
    }),
    endToEndId: t.exposeString('endToEndId', {
      nullable: true,
      description: 'The bank’s identifier of the return; null for a card.',
    }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'The reason of the acquirer or the bank for the failure; null unless FAILED.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
    completedAt: t.expose('completedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the payer had the money; null unless COMPLETED.',
    }),
    failedAt: t.expose('failedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the acquirer or the bank refused the refund; null unless FAILED, and if the upstream service does not report it.',
    }),
    ...finalFields(
      t,
      'Whether the status is final, as COMPLETED and FAILED are: no later status can follow.',
      ({ status }) => isFinal(status),
    ),
    version: t.exposeInt('version', {
      description:
        'A number that grows with each change of this refund: of two answers the larger is the newer.',
    }),
  }),
});

/**
 * The refunds that another service shows; null if it does not show one of them: a partial list would mislead.
 */
async function refundsOfIds(
  refundIds: readonly string[],
  { refund }: Context['loaders'],
): Promise<Refund[] | null> {
  const found = await Promise.all(refundIds.map((refundId) => refund.load(refundId)));
  return found.every((each) => each !== null) ? found : null;
}

builder.interfaceField(SaleRef, 'refunds', (t) =>
  t.field({
    type: [RefundRef],
    nullable: true,
    description:
      'The refunds, oldest first. Null to a browser’s checkout or payment token, and if the upstream service does not report them.',
  }),
);

builder.objectField(CardPaymentRef, 'refunds', (t) =>
  t.field({
    type: [RefundRef],
    nullable: true,
    description:
      'The refunds, oldest first. Null to a browser’s checkout or payment token, and if the upstream service does not report them.',
    resolve: ({ orderCode }, _, context) =>
      seesCustomer(callerOf(context)) ? context.loaders.refundsOfCardPayment.load(orderCode) : null,
  }),
);

builder.objectField(PaymentRef, 'refunds', (t) =>
  t.field({
    type: [RefundRef],
    nullable: true,
    description:
      'The refunds, oldest first; at most 20, and those that have failed. Null to a browser’s checkout or payment token, and if the upstream service does not report them.',
    resolve: ({ paymentId, refundIds }, _, context) => {
      if (!seesCustomer(callerOf(context))) return null;
      return refundIds
        ? refundsOfIds(refundIds, context.loaders)
        : context.loaders.refundsOfPayment.load(paymentId);
    },
  }),
);

builder.objectField(ChargeRef, 'refunds', (t) =>
  t.field({
    type: [RefundRef],
    nullable: true,
    description:
      'The refunds, oldest first; at most 20, and those that have failed. Null if the upstream service does not report them.',
    resolve: ({ chargeId, refundIds }, _, { loaders }) =>
      refundIds ? refundsOfIds(refundIds, loaders) : loaders.refundsOfCharge.load(chargeId),
  }),
);

const RefundConnection = builder.connectionObject(
  {
    type: RefundRef,
    name: 'RefundConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'RefundEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

/** Finds a refund by its id, or by the reference with the key of its request. */
async function findRefund(reference: string, context: Context) {
  const { tenant, types } = assertReader(context);
  if (!isRefundId(reference) && keyInReference(reference) === null)
    throw new ValidationError([
      { path: 'refundId', message: 'must be ref_ and 24 hex digits, or ref_idem_ and an idempotency key' },
    ]);
  return ofTypes(await context.services.refunds.find(tenant, reference), types);
}

addReference('ref_', findRefund);

builder.queryFields((t) => ({
  refund: t.field({
    type: RefundRef,
    nullable: true,
    description: `The refund with this refundId. ${byKey('refund')}`,
    args: { refundId: t.arg.string(), idempotencyKey: keyArgument(t.arg, 'refund') },
    resolve: (_, args, context) => {
      assertReader(context);
      const [name, value] = onlyName(args, ['refundId', 'idempotencyKey']);
      return findRefund(name === 'idempotencyKey' ? referenceOfKey(value) : value, context);
    },
  }),
  refunds: t.field({
    type: RefundConnection,
    description: `A list of refunds, newest first. ${BOTH_WAYS}`,
    args: {
      ...connectionArguments(t.arg),
      ...filterArguments(t.arg),
    },
    resolve: async (_, args, context) => {
      const { tenant, types } = assertReader(context);
      const filter = { ...filterOf(args), types };
      const cursors = context.listCursors('refunds');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.refunds.list(tenant, { ...filter, ...range });
      const nodes = items.map(({ position, resource }) => ({ position, node: resource }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.refunds.count(tenant, filter),
      });
    },
  }),
}));

/**
 * Refuses a caller that may read no refund at all. Returns the types of the resources whose refunds it may
 * read; undefined means all.
 * @throws PermissionError
 */
export function assertReader(context: Parameters<typeof callerOf>[0]) {
  const caller = callerOf(context);
  const types = readableTypes(caller);
  if (types?.length === 0) assertMay(caller, READ_REFUNDED.card_payment);
  return { tenant: caller.tenant, types };
}

/** The refund, if its resource has one of the types; null otherwise. */
function ofTypes(refund: Refund | null, types: readonly RefundedType[] | undefined): Refund | null {
  return refund && (!types || types.includes(refund.resource.type)) ? refund : null;
}

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

/** The members that the inputs of all refunds share. */
function detailsOf(t: PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>) {
  return {
    amountCents: t.field({
      type: 'Cents',
      description: 'The amount to refund in cents; if omitted, all that is refundable. Null is refused.',
    }),
    reason: t.string({ description: 'The reason for the refund, at most 140 characters.' }),
    idempotencyKey: keyMember(t, 'give the same refund', { required: true }),
  };
}

const RefundCardPaymentInput = builder.inputType('RefundCardPaymentInput', {
  validate: { schema: withRequiredKey(refundCardPaymentInput) },
  fields: (t) => ({
    orderCode: t.string({ required: true }),
    ...detailsOf(t),
  }),
});

const RefundPaymentInput = builder.inputType('RefundPaymentInput', {
  validate: { schema: withRequiredKey(refundPaymentInput) },
  fields: (t) => ({
    paymentId: t.string({ required: true }),
    ...detailsOf(t),
  }),
});

const RefundChargeInput = builder.inputType('RefundChargeInput', {
  validate: { schema: withRequiredKey(refundChargeInput) },
  fields: (t) => ({
    chargeId: t.string({ required: true }),
    ...detailsOf(t),
  }),
});

const successOf = (name: `Refund${string}Success`) =>
  replayableSuccessType<{ refund: Refund }>(name, (t) => ({
    refund: t.expose('refund', { type: RefundRef }),
  }));

const RefundCardPaymentSuccess = successOf('RefundCardPaymentSuccess');
const RefundPaymentSuccess = successOf('RefundPaymentSuccess');
const RefundChargeSuccess = successOf('RefundChargeSuccess');

const ERRORS = {
  types: [
    ValidationError,
    NotFoundError,
    RateLimitError,
    InsufficientFundsError,
    PreconditionError,
    IdempotencyError,
    UpstreamError,
  ],
};

builder.mutationFields((t) => ({
  refundCardPayment: t.field({
    type: RefundCardPaymentSuccess,
    description:
      'Refunds a card payment, from what can be withdrawn, or from what still waits for its release. Never more than refundableCents, at most 180 days after the payment and 20 times, without those that have failed. After a timeout, repeat it with the same idempotencyKey.',
    args: { input: t.arg({ type: RefundCardPaymentInput, required: true }) },
    errors: ERRORS,
    resolve: authorized(
      assertUnrestrictedKey,
      ({ tenant }, { input: { orderCode, ...input } }, { services }) =>
        services.refunds.request(tenant, { type: 'card_payment', id: orderCode }, input),
    ),
  }),
  refundPayment: t.field({
    type: RefundPaymentSuccess,
    description:
      'Refunds a payment by PIX, from what can be withdrawn. Never more than refundableCents, at most 90 days after the payment and 20 times, without those that have failed. After a timeout, repeat it with the same idempotencyKey.',
    args: { input: t.arg({ type: RefundPaymentInput, required: true }) },
    errors: ERRORS,
    resolve: authorized(
      assertUnrestrictedKey,
      ({ tenant }, { input: { paymentId, ...input } }, { services }) =>
        services.refunds.request(tenant, { type: 'payment', id: paymentId }, input),
    ),
  }),
  refundCharge: t.field({
    type: RefundChargeSuccess,
    description:
      'Refunds a charge. A refund of a split charge takes from each beneficiary in proportion, as far as its balance goes; the account pays the rest, from what can be withdrawn. Never more than refundableCents, at most 90 days after the payment and 20 times, without those that have failed. After a timeout, repeat it with the same idempotencyKey.',
    args: { input: t.arg({ type: RefundChargeInput, required: true }) },
    errors: ERRORS,
    resolve: authorized(
      assertUnrestrictedKey,
      ({ tenant }, { input: { chargeId, ...input } }, { services }) =>
        services.refunds.request(tenant, { type: 'charge', id: chargeId }, input),
    ),
  }),
}));
