import { assertMay, seesSubaccount } from '../access/model.ts';
import { builder } from '../graphql/builder.ts';
import { callerOf } from '../graphql/context.ts';
import { addEntity } from '../graphql/federation.ts';
import { authorized, replayableSuccessType } from '../graphql/mutations.ts';
import { BOTH_WAYS, connectionArguments, knownValue, readConnection, totalOf } from '../graphql/paging.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { detailsOf } from '../kernel/list-filter.ts';
import {
  createSubaccountInput,
  entryIdOf,
  type StatementEntry,
  type StatementEntryKind,
  type StatementFilter,
  type Subaccount,
  transferInput,
} from './model.ts';
import { anySubaccountId } from './names.ts';

export const UNKNOWN = {
  value: 'unknown',
  description: 'A value that this server does not know yet. Never accepted as input.',
} as const;

const StatementEntryKindEnum = builder.enumType('StatementEntryKind', {
  values: {
    TRANSFER_IN: { value: 'transfer_in', description: 'From the main account.' },
    PAYOUT: { value: 'payout' },
    PAYOUT_REVERSAL: { value: 'payout_reversal', description: 'The amount of a failed payout, given back.' },
    SPLIT_IN: {
      value: 'split_in',
      description:
        'A beneficiary’s part of a split charge; with the id of a refund, what that refund took and has failed to give back.',
    },
    SPLIT_REVERSAL: { value: 'split_reversal', description: 'Taken back by a refund of a split charge.' },
    UNKNOWN,
  } as const,
});

export const SubaccountRef = builder.objectRef<Subaccount>('Subaccount');

export const StatementEntryRef = builder.objectRef<StatementEntry>('StatementEntry').implement({
  fields: (t) => ({
    id: t.globalID({
      description:
        'The same in every answer, and no other entry’s. Not a Node: entries are read in their statement.',
      resolve: (entry) => ({ type: 'StatementEntry', id: entryIdOf(entry) }),
    }),
    kind: t.field({ type: StatementEntryKindEnum, resolve: ({ kind }) => kind }),
    refId: t.exposeString('refId', {
      description:
        'saq_… for a payout; SUB-… on the reversal of a payout refused before the bank; psplit_… for a part of a split charge, and ref_… for a refund of it.',
    }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'Signed: what the entry did to the balance.',
    }),
    balanceAfterCents: t.expose('balanceAfterCents', { type: 'Cents', nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

export const StatementFilterInput = builder.inputType('StatementFilter', {
  description: 'Entries that fulfil all that is given. The list is then in the order of createdAt.',
  fields: (t) => ({
    kind: t.field({ type: [StatementEntryKindEnum], description: 'Of any of these kinds.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Made then or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Made before then.' }),
    reference: t.string({ description: 'With this refId.' }),
    amountCents: t.field({ type: 'Cents', description: 'Of exactly this amount, in or out.' }),
  }),
});

/** Reads the filter as the port has it; undefined where it has no members. @throws ValidationError naming the argument */
export function statementFilterOf(
  given: typeof StatementFilterInput.$inferInput | null | undefined,
): StatementFilter | undefined {
  if (!given) return undefined;
  const { kind, createdAfter, createdBefore } = given;
  const filter = {
    ...detailsOf(given),
    ...(kind && { kind: kind.map((each) => knownValue<StatementEntryKind>(each, 'filter.kind')) }),
    ...(createdAfter && { createdAfter }),
    ...(createdBefore && { createdBefore }),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
}

const StatementEntryConnection = builder.connectionObject(
  {
    type: StatementEntryRef,
    name: 'StatementEntryConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'StatementEntryEdge' },
);

const SubaccountConnection = builder.connectionObject(
  {
    type: SubaccountRef,
    name: 'SubaccountConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'SubaccountEdge' },
);

addEntity(SubaccountRef, 'subaccountId');
builder.node(SubaccountRef, {
  id: { resolve: ({ id }) => id },
  loadOne: (id, context) => {
    assertMay(callerOf(context), 'subaccount_payouts.read');
    return context.loaders.subaccount.load(id);
  },
  isTypeOf: (value) =>
    typeof value === 'object' && value !== null && 'balanceCents' in value && 'name' in value,
  description:
    'What an integrator keeps for one of its customers. A key that may only request payouts sees its id and its payouts, and null for all else.',
  fields: (t) => ({
    subaccountId: t.exposeString('id', { description: 'sacc_ and 32 hex.' }),
    name: t.string({
      nullable: true,
      resolve: ({ name }, _, context) => (seesSubaccount(callerOf(context)) ? name : null),
    }),
    externalId: t.string({
      nullable: true,
      resolve: ({ externalId }, _, context) => (seesSubaccount(callerOf(context)) ? externalId : null),
    }),
    balanceCents: t.field({
      type: 'Cents',
      nullable: true,
      resolve: ({ balanceCents }, _, context) => (seesSubaccount(callerOf(context)) ? balanceCents : null),
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: ({ createdAt }, _, context) => (seesSubaccount(callerOf(context)) ? createdAt : null),
    }),
    statement: t.field({
      type: StatementEntryConnection,
      description: `Newest first. ${BOTH_WAYS}`,
      args: { ...connectionArguments(t.arg), filter: t.arg({ type: StatementFilterInput }) },
      resolve: async ({ id }, args, context) => {
        const caller = callerOf(context);
        assertMay(caller, 'subaccounts.read');
        const filter = statementFilterOf(args.filter);
        const { subaccounts } = context.services;
        return readConnection(context.listCursors(`statement:${id}`), args, {
          list: (range) => subaccounts.statement(caller.tenant, id, range, filter),
          node: ({ item }) => item,
          total: () => subaccounts.countStatement(caller.tenant, id, filter),
        });
      },
    }),
  }),
});

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

builder.queryFields((t) => ({
  subaccount: t.field({
    type: SubaccountRef,
    nullable: true,
    args: { subaccountId: t.arg.string({ required: true, validate: { schema: anySubaccountId } }) },
    resolve: (_, { subaccountId }, context) => {
      assertMay(callerOf(context), 'subaccount_payouts.read');
      context.services.subaccounts.assertNames({ subaccountId });
      return context.loaders.subaccount.load(subaccountId);
    },
  }),
  subaccounts: t.field({
    type: SubaccountConnection,
    description: `Newest first. ${BOTH_WAYS}`,
    args: connectionArguments(t.arg),
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccounts.read');
      const { subaccounts } = context.services;
      return readConnection(context.listCursors('subaccounts'), args, {
        list: (range) => subaccounts.list(caller.tenant, range),
        node: ({ item }) => item,
        total: () => subaccounts.count(caller.tenant),
      });
    },
  }),
}));

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const CreateSubaccountInput = builder.inputType('CreateSubaccountInput', {
  validate: { schema: createSubaccountInput },
  fields: (t) => ({
    name: t.string({ required: true, description: 'At most 200 characters.' }),
    externalId: t.string({
      description:
        'Your own name for it, at most 200 characters: the same and the same name give the same one.',
    }),
  }),
});

export const IDEMPOTENCY_KEY =
  '1 to 128 of A-Z a-z 0-9 _ - . : ; the same key and input have one effect, and the same answer.';

const TransferToSubaccountInput = builder.inputType('TransferToSubaccountInput', {
  validate: { schema: transferInput },
  fields: (t) => ({
    subaccountId: t.string({ required: true }),
    amountCents: t.field({
      type: 'Cents',
      required: true,
      description: 'At most what the wallet says is assignable.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const SubaccountSuccess = replayableSuccessType<{ subaccount: Subaccount; entry?: StatementEntry }>(
  'SubaccountSuccess',
  (t) => ({
    subaccount: t.expose('subaccount', { type: SubaccountRef }),
    entry: t.field({
      type: StatementEntryRef,
      nullable: true,
      description: 'The transfer in the subaccount’s statement; null of createSubaccount.',
      resolve: ({ entry }) => entry ?? null,
    }),
  }),
);

builder.mutationFields((t) => ({
  createSubaccount: t.field({
    type: SubaccountSuccess,
    description: 'The same externalId and name again give the same subaccount.',
    args: { input: t.arg({ type: CreateSubaccountInput, required: true }) },
    errors: { types: [ValidationError, RateLimitError, UpstreamError] },
    resolve: authorized(
      (caller) => assertMay(caller, 'subaccounts.manage'),
      ({ tenant }, { input }, { services }) => services.subaccounts.create(tenant, input),
    ),
  }),
  transferToSubaccount: t.field({
    type: SubaccountSuccess,
    description: 'From the main account, at once; there is no way back but a payout.',
    args: { input: t.arg({ type: TransferToSubaccountInput, required: true }) },
    errors: {
      types: [
        ValidationError,
        NotFoundError,
        RateLimitError,
        InsufficientFundsError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: authorized(
      (caller) => assertMay(caller, 'subaccounts.manage'),
      ({ tenant }, { input }, { services }) => {
        services.subaccounts.assertNames({ subaccountId: input.subaccountId }, 'input.');
        return services.subaccounts.transfer(tenant, input);
      },
    ),
  }),
}));
