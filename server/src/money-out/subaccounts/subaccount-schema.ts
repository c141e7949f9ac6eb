import { encodeGlobalID } from '@pothos/plugin-relay';
import { builder } from '../../api/graphql/builder.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { keyMember, onlyName, withRequiredKey } from '../../api/graphql/keys.ts';
import { authorized, replayableSuccessType } from '../../api/graphql/mutations.ts';
import { BOTH_WAYS, connectionArguments, readConnection, totalOf } from '../../api/graphql/paging.ts';
import { assertMay, callerOf, seesSubaccount } from '../../kernel/caller.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { LONG_EXTERNAL_ID, readFilter } from '../../kernel/list-filter.ts';
import { idempotencyKeyText, longExternalIdText } from '../../kernel/text.ts';
import { StatementEntryKindEnum } from './enums-schema.ts';
import { StatementFilterInput, SubaccountFilterInput, statementFilterOf } from './filter-schema.ts';
import {
  createSubaccountInput,
  entryIdOf,
  type StatementEntry,
  type Subaccount,
  type SubaccountFilter,
  transferInput,
} from './model.ts';
import { anySubaccountId } from './names.ts';

export const SubaccountRef = builder.objectRef<Subaccount>('Subaccount');

export const StatementEntryRef = builder.objectRef<StatementEntry>('StatementEntry').implement({
  description: 'One movement of a subaccount’s balance. An entry never changes, and is never removed.',
  fields: (t) => ({
    id: t.id({
      description:
        'The unique identifier of the entry, the same in every answer. An entry is not a Node: it is read in its statement.',
      resolve: (entry) => encodeGlobalID('StatementEntry', entryIdOf(entry)),
    }),
    kind: t.field({
      type: StatementEntryKindEnum,
      description: 'The reason for which the balance moved.',
      resolve: ({ kind }) => kind,
    }),
    refId: t.exposeString('refId', {
      description:
        'The reference of the entry: saq_… for a payout; SUB-… on the reversal of a payout refused before the bank; psplit_… for a part of a split charge, and ref_… for a refund of it.',
    }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'The signed amount in cents by which the entry changed the balance.',
    }),
    balanceAfterCents: t.expose('balanceAfterCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The subaccount’s balance right after the entry, in cents; null if the upstream service does not report it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

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
    'An account that an integrator keeps for one of its customers. A key that may only request payouts sees its id and its payouts, and null for all else.',
  fields: (t) => ({
    subaccountId: t.exposeString('id', {
      description: 'The identifier of the subaccount: sacc_ and 32 hex digits.',
    }),
    name: t.string({
      nullable: true,
      description: 'The name as given when the subaccount was opened.',
      resolve: ({ name }, _, context) => (seesSubaccount(callerOf(context)) ? name : null),
    }),
    externalId: t.string({
      nullable: true,
      description:
        'Your own identifier of the subaccount, which no other subaccount has; null if none was given.',
      resolve: ({ externalId }, _, context) => (seesSubaccount(callerOf(context)) ? externalId : null),
    }),
    balanceCents: t.field({
      type: 'Cents',
      nullable: true,
      description: 'The balance that may be paid out, in cents of BRL.',
      resolve: ({ balanceCents }, _, context) => (seesSubaccount(callerOf(context)) ? balanceCents : null),
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: ({ createdAt }, _, context) => (seesSubaccount(callerOf(context)) ? createdAt : null),
    }),
    statement: t.field({
      type: StatementEntryConnection,
      description: `The entries of the statement, newest first. ${BOTH_WAYS}`,
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
    args: {
      subaccountId: t.arg.string({ validate: { schema: anySubaccountId } }),
      externalId: t.arg.string({
        description: 'Your own identifier of the subaccount.',
        validate: { schema: longExternalIdText },
      }),
    },
    description:
      'The subaccount with this subaccountId, or with this externalId, which is the key of its creation. Give exactly one.',
    resolve: (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, args.externalId == null ? 'subaccount_payouts.read' : 'subaccounts.read');
      const [name, value] = onlyName(args, ['subaccountId', 'externalId']);
      const { subaccounts } = context.services;
      if (name === 'externalId') return subaccounts.findByExternalId(caller.tenant, value);
      subaccounts.assertNames({ subaccountId: value });
      return context.loaders.subaccount.load(value);
    },
  }),
  subaccountTransfer: t.field({
    type: StatementEntryRef,
    nullable: true,
    args: {
      subaccountId: t.arg.string({ required: true, validate: { schema: anySubaccountId } }),
      idempotencyKey: t.arg.string({
        required: true,
        description: 'The key with which the transfer was requested.',
        validate: { schema: idempotencyKeyText },
      }),
    },
    description:
      'The transfer to a subaccount that was requested with this idempotencyKey, after a timeout: null means that none was made with it so far, and one whose outcome is unknown is an error.',
    resolve: (_, { subaccountId, idempotencyKey }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccounts.read');
      context.services.subaccounts.assertNames({ subaccountId });
      return context.services.subaccounts.findTransfer(caller.tenant, subaccountId, idempotencyKey);
    },
  }),
  subaccounts: t.field({
    type: SubaccountConnection,
    description: `The subaccounts, newest first. ${BOTH_WAYS}`,
    args: { ...connectionArguments(t.arg), filter: t.arg({ type: SubaccountFilterInput }) },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccounts.read');
      const filter = readFilter<SubaccountFilter>(args.filter, LONG_EXTERNAL_ID);
      const { subaccounts } = context.services;
      return readConnection(context.listCursors('subaccounts'), args, {
        list: (range) => subaccounts.list(caller.tenant, { ...range, ...filter }),
        node: ({ item }) => item,
        total: () => subaccounts.count(caller.tenant, filter),
      });
    },
  }),
}));

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const CreateSubaccountInput = builder.inputType('CreateSubaccountInput', {
  validate: { schema: createSubaccountInput },
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the subaccount, at most 200 characters.' }),
    externalId: t.string({
      description:
        'Your own identifier of the subaccount, at most 200 characters. The same externalId and name give the same subaccount.',
    }),
  }),
});

const TransferToSubaccountInput = builder.inputType('TransferToSubaccountInput', {
  validate: { schema: withRequiredKey(transferInput) },
  fields: (t) => ({
    subaccountId: t.string({ required: true }),
    amountCents: t.field({
      type: 'Cents',
      required: true,
      description: 'The amount in cents, at most the wallet’s assignableCents.',
    }),
    idempotencyKey: keyMember(t, 'give the same transfer', { required: true }),
  }),
});

const CreateSubaccountSuccess = replayableSuccessType<{ subaccount: Subaccount }>(
  'CreateSubaccountSuccess',
  (t) => ({ subaccount: t.expose('subaccount', { type: SubaccountRef }) }),
  { formerly: 'SubaccountSuccess' },
);

const TransferToSubaccountSuccess = replayableSuccessType<{ subaccount: Subaccount; entry: StatementEntry }>(
  'TransferToSubaccountSuccess',
  (t) => ({
    subaccount: t.expose('subaccount', { type: SubaccountRef }),
    entry: t.expose('entry', {
      type: StatementEntryRef,
      description: 'The transfer in the subaccount’s statement.',
    }),
  }),
  { formerly: 'SubaccountSuccess' },
);

builder.mutationFields((t) => ({
  createSubaccount: t.field({
    type: CreateSubaccountSuccess,
    description: 'Opens a subaccount. The same externalId and name give the same subaccount.',
    args: { input: t.arg({ type: CreateSubaccountInput, required: true }) },
    errors: { types: [ValidationError, RateLimitError, UpstreamError] },
    resolve: authorized(
      (caller) => assertMay(caller, 'subaccounts.manage'),
      ({ tenant }, { input }, { services }) => services.subaccounts.create(tenant, input),
    ),
  }),
  transferToSubaccount: t.field({
    type: TransferToSubaccountSuccess,
    description:
      'Transfers money from the main account to a subaccount, at once. The only way back is a payout.',
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
