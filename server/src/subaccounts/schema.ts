import {
  assertMayManageSubaccounts,
  assertMayReadSubaccountPayouts,
  assertMayReadSubaccounts,
  assertMayRequestSubaccountPayouts,
  seesSubaccount,
} from '../access/model.ts';
import type { StoredEvent } from '../events/event.ts';
import { builder } from '../graphql/builder.ts';
import { type Context, callerOf } from '../graphql/context.ts';
import { connectionOf, pageSize, placeArgument, totalOf } from '../graphql/paging.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import {
  anyPayoutReference,
  anySubaccountId,
  type CursorPage,
  createSubaccountInput,
  guidanceOf,
  isSettled,
  requestPayoutInput,
  type StatementEntry,
  type Subaccount,
  type SubaccountPayout,
  type SubaccountPayoutStatus,
  transferInput,
  unknownSubaccount,
} from './model.ts';

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const UNKNOWN = {
  value: 'unknown',
  description: 'A value that this server does not know yet. Never accepted as input.',
} as const;

/** The reference forms, in words. */
const REFERENCE_FORMS =
  'its withdrawalId, its TURBO- code, saq_idem_<idempotencyKey>, the saq_ refId of the statement, or its SUB- code';

const StatementEntryKindEnum = builder.enumType('StatementEntryKind', {
  values: {
    TRANSFER_IN: { value: 'transfer_in', description: 'From the main account.' },
    PAYOUT: { value: 'payout' },
    PAYOUT_REVERSAL: { value: 'payout_reversal', description: 'The amount of a failed payout, given back.' },
    UNKNOWN,
  } as const,
});

const SubaccountPayoutStatusEnum = builder.enumType('SubaccountPayoutStatus', {
  values: {
    PROCESSING: { value: 'processing', description: 'The money may have left: wait.' },
    COMPLETED: { value: 'completed', description: 'The PIX has arrived.' },
    FAILED: {
      value: 'failed',
      description: 'The amount is back once reversed is true, and only then may it be made anew.',
    },
    UNKNOWN,
  } as const,
});

const PayoutGuidanceEnum = builder.enumType('PayoutGuidance', {
  description: 'What the caller should do now; the document’s prose on the states, as data.',
  values: {
    NONE: { description: 'Nothing: it is done.' },
    WAIT: {
      description:
        'The money may have left, or only a webhook says how it ended. Do not repeat the payout; ask again later.',
    },
    RETRY_WITH_NEW_KEY: {
      description: 'The amount is back. A new payout may be made, with a new idempotency key.',
    },
    CONTACT_SUPPORT: { description: 'Failed and not reversed.' },
  } as const,
});

const SubaccountRef = builder.objectRef<Subaccount>('Subaccount');
export const SubaccountPayoutRef = builder.objectRef<SubaccountPayout>('SubaccountPayout');

const StatementEntryRef = builder.objectRef<StatementEntry>('StatementEntry').implement({
  fields: (t) => ({
    kind: t.field({ type: StatementEntryKindEnum, resolve: ({ kind }) => kind }),
    refId: t.exposeString('refId', {
      description: 'saq_… for a payout; SUB-… on the reversal of a payout refused before the bank.',
    }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'Signed: what the entry did to the balance.',
    }),
    balanceAfterCents: t.expose('balanceAfterCents', { type: 'Cents', nullable: true }),
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

const SubaccountPayoutConnection = builder.connectionObject(
  {
    type: SubaccountPayoutRef,
    name: 'SubaccountPayoutConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'SubaccountPayoutEdge' },
);

const SubaccountConnection = builder.connectionObject(
  {
    type: SubaccountRef,
    name: 'SubaccountConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'SubaccountEdge' },
);

builder.node(SubaccountRef, {
  id: { resolve: ({ id }) => id },
  loadOne: (id, context) => {
    assertMayReadSubaccountPayouts(callerOf(context));
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
      description: 'Newest first.',
      args: { first: t.arg.int({ description: '1 to 100; 50 where left out.' }), after: t.arg.string() },
      resolve: async ({ id }, args, context) => {
        const caller = callerOf(context);
        assertMayReadSubaccounts(caller);
        const { subaccounts } = context.services;
        return connection(context, `statement:${id}`, args, {
          list: (page) => subaccounts.statement(caller.tenant, id, page),
          total: () => subaccounts.countStatement(caller.tenant, id),
        });
      },
    }),
    payouts: t.field({
      type: SubaccountPayoutConnection,
      description: 'Newest first.',
      args: {
        first: t.arg.int({ description: '1 to 100; 50 where left out.' }),
        after: t.arg.string(),
        status: t.arg({ type: [SubaccountPayoutStatusEnum] }),
      },
      resolve: async ({ id }, args, context) => {
        const caller = callerOf(context);
        assertMayReadSubaccountPayouts(caller);
        const status = args.status?.map(knownStatus);
        const { subaccounts } = context.services;
        return connection(context, `subaccountPayouts:${id}`, args, {
          list: (page) => subaccounts.payouts(caller.tenant, id, { ...page, status }),
          total: () => subaccounts.countPayouts(caller.tenant, id, { status }),
        });
      },
    }),
    payout: t.field({
      type: SubaccountPayoutRef,
      nullable: true,
      description: `By any of its references: ${REFERENCE_FORMS}.`,
      args: { reference: t.arg.string({ required: true, validate: { schema: anyPayoutReference } }) },
      resolve: ({ id }, { reference }, context) => {
        const caller = callerOf(context);
        assertMayReadSubaccountPayouts(caller);
        context.services.subaccounts.assertNames({ reference });
        return context.services.subaccounts.findPayout(caller.tenant, id, reference);
      },
    }),
  }),
});

builder.node(SubaccountPayoutRef, {
  id: { resolve: ({ id }) => id, description: 'The same whichever reference form led here.' },
  loadOne: (id, context) => {
    assertMayReadSubaccountPayouts(callerOf(context));
    return context.loaders.subaccountPayout.load(id);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'payoutId' in value,
  description: 'A payout of a subaccount by PIX.',
  fields: (t) => ({
    payoutId: t.exposeString('payoutId', {
      nullable: true,
      description: 'The refId of its entry in the statement: saq_idem_<idempotencyKey> for one with a key.',
    }),
    withdrawalId: t.exposeString('withdrawalId', {
      nullable: true,
      description: '24 hex; null while the payout is still being created.',
    }),
    code: t.exposeString('code', {
      nullable: true,
      description: 'TURBO-…; or SUB-… for a payout refused before reaching the bank.',
    }),
    subaccountId: t.exposeString('subaccountId'),
    subaccount: t.field({
      type: SubaccountRef,
      resolve: async ({ subaccountId }, _, context) =>
        (await context.loaders.subaccount.load(subaccountId)) ?? unknownSubaccount(subaccountId),
    }),
    status: t.field({ type: SubaccountPayoutStatusEnum, resolve: ({ status }) => status }),
    guidance: t.field({ type: PayoutGuidanceEnum, resolve: guidanceOf }),
    reversed: t.exposeBoolean('reversed', { description: 'The amount went back to the subaccount.' }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'Gross: what the subaccount was debited.',
    }),
    feeCents: t.expose('feeCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The markup, included in the gross amount. Null where the service behind the facade does not name it.',
    }),
    platformFeeCents: t.expose('platformFeeCents', {
      type: 'Cents',
      nullable: true,
      description: 'Null where the payout was never assembled for sending.',
    }),
    netAmountCents: t.expose('netAmountCents', {
      type: 'Cents',
      nullable: true,
      description: 'What the PIX key receives. Null where the payout was never assembled for sending.',
    }),
    pixKey: t.exposeString('pixKey', { nullable: true, description: 'Masked.' }),
    endToEndId: t.exposeString('endToEndId', {
      nullable: true,
      description: 'The bank’s identifier of the PIX; the receiver finds the credit with it.',
    }),
    recipientName: t.exposeString('recipientName', { nullable: true }),
    recipientBankName: t.exposeString('recipientBankName', { nullable: true }),
    failureReason: t.exposeString('failureReason', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true }),
    reversedAt: t.expose('reversedAt', { type: 'DateTime', nullable: true }),
    inDoubt: t.boolean({
      description:
        'The service behind the facade has not said whether it has made this payout: the money may have left. Wait; do not request it again under another key. unresolvedRequests lists all such requests.',
      resolve: ({ inDoubt }) => inDoubt === true,
    }),
    final: t.boolean({
      description:
        'COMPLETED, or FAILED and reversed. False while only a webhook says so, which the service behind the facade has not confirmed.',
      resolve: isSettled,
    }),
    version: t.exposeInt('version', {
      description: 'Grows with each change of this payout: of two answers the larger is the newer.',
    }),
  }),
});

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: SubaccountPayout['status'] | null;
  payout: SubaccountPayout;
}

const SubaccountPayoutUpdate = builder.objectRef<Update>('SubaccountPayoutUpdate').implement({
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'The `after` that continues behind this update.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: SubaccountPayoutStatusEnum,
      nullable: true,
      resolve: (update) => update.previousStatus,
    }),
    subaccountPayout: t.field({ type: SubaccountPayoutRef, resolve: (update) => update.payout }),
  }),
});

// ── Pages ───────────────────────────────────────────────────────────────────────────────────────

async function connection<Item>(
  context: Context,
  name: string,
  args: { first?: number | null | undefined; after?: string | null | undefined },
  {
    list,
    total,
  }: {
    list: (page: { first: number; after: number | undefined }) => Promise<CursorPage<Item>>;
    total: () => Promise<number>;
  },
) {
  const first = pageSize(args.first);
  const cursors = context.listCursors(name);
  const after = placeArgument(cursors, args.after);
  const { items, hasNextPage } = await list({ first, after });
  const nodes = items.map(({ place, item }) => ({ place, node: item }));
  return connectionOf(cursors, nodes, { hasNextPage, hasPreviousPage: after !== undefined, total });
}

function knownStatus(status: SubaccountPayoutStatus | 'unknown'): SubaccountPayoutStatus {
  if (status === 'unknown')
    throw new ValidationError([{ path: 'status', message: 'UNKNOWN cannot be asked for' }]);
  return status;
}

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

builder.queryFields((t) => ({
  subaccount: t.field({
    type: SubaccountRef,
    nullable: true,
    args: { subaccountId: t.arg.string({ required: true, validate: { schema: anySubaccountId } }) },
    resolve: (_, { subaccountId }, context) => {
      assertMayReadSubaccountPayouts(callerOf(context));
      context.services.subaccounts.assertNames({ subaccountId });
      return context.loaders.subaccount.load(subaccountId);
    },
  }),
  subaccounts: t.field({
    type: SubaccountConnection,
    description: 'Newest first.',
    args: { first: t.arg.int({ description: '1 to 100; 50 where left out.' }), after: t.arg.string() },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMayReadSubaccounts(caller);
      const { subaccounts } = context.services;
      return connection(context, 'subaccounts', args, {
        list: (page) => subaccounts.list(caller.tenant, page),
        total: () => subaccounts.count(caller.tenant),
      });
    },
  }),
  subaccountPayout: t.field({
    type: SubaccountPayoutRef,
    nullable: true,
    description: `By any of its references: ${REFERENCE_FORMS}. A malformed one is an error, so that nobody takes a slip for a payout that was never made. Of one whose request is in doubt the status is PROCESSING; null says that there is none.`,
    args: {
      subaccountId: t.arg.string({ required: true, validate: { schema: anySubaccountId } }),
      reference: t.arg.string({ required: true, validate: { schema: anyPayoutReference } }),
    },
    resolve: (_, { subaccountId, reference }, context) => {
      const caller = callerOf(context);
      assertMayReadSubaccountPayouts(caller);
      context.services.subaccounts.assertNames({ subaccountId, reference });
      return context.services.subaccounts.findPayout(caller.tenant, subaccountId, reference);
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

const IDEMPOTENCY_KEY =
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

const RequestSubaccountPayoutInput = builder.inputType('RequestSubaccountPayoutInput', {
  validate: { schema: requestPayoutInput as never },
  fields: (t) => ({
    subaccountId: t.string({ required: true }),
    amountCents: t.field({
      type: 'Cents',
      required: true,
      description: 'Gross: more than the markup and the fee, at most the subaccount’s balance.',
    }),
    pixKey: t.string({
      required: true,
      description: 'CPF or CNPJ with its check digits, phone as +55…, e-mail, or random key.',
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

const REPLAYED = 'True when an earlier request with the same key already did it.';

const SubaccountSuccess = builder
  .objectRef<{ subaccount: Subaccount; replayed: boolean }>('SubaccountSuccess')
  .implement({
    fields: (t) => ({
      subaccount: t.field({ type: SubaccountRef, resolve: ({ subaccount }) => subaccount }),
      replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
    }),
  });

const SubaccountPayoutSuccess = builder
  .objectRef<{ payout: SubaccountPayout; replayed: boolean }>('SubaccountPayoutSuccess')
  .implement({
    fields: (t) => ({
      subaccountPayout: t.field({ type: SubaccountPayoutRef, resolve: ({ payout }) => payout }),
      replayed: t.exposeBoolean('replayed', { description: REPLAYED }),
    }),
  });

builder.mutationFields((t) => ({
  createSubaccount: t.field({
    type: SubaccountSuccess,
    description: 'The same externalId and name again give the same subaccount.',
    args: { input: t.arg({ type: CreateSubaccountInput, required: true }) },
    errors: {
      union: { name: 'CreateSubaccountResult' },
      types: [ValidationError, PermissionError, RateLimitError, UpstreamError],
    },
    resolve: (_, { input }, context) => {
      const caller = callerOf(context);
      assertMayManageSubaccounts(caller);
      return context.services.subaccounts.create(caller.tenant, input);
    },
  }),
  transferToSubaccount: t.field({
    type: SubaccountSuccess,
    description: 'From the main account, at once; there is no way back but a payout.',
    args: { input: t.arg({ type: TransferToSubaccountInput, required: true }) },
    errors: {
      union: { name: 'TransferToSubaccountResult' },
      types: [
        ValidationError,
        NotFoundError,
        PermissionError,
        RateLimitError,
        InsufficientFundsError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: (_, { input }, context) => {
      const caller = callerOf(context);
      assertMayManageSubaccounts(caller);
      context.services.subaccounts.assertNames({ subaccountId: input.subaccountId }, 'input.');
      return context.services.subaccounts.transfer(caller.tenant, input);
    },
  }),
  requestSubaccountPayout: t.field({
    type: SubaccountPayoutSuccess,
    description:
      'By PIX, from the subaccount’s balance. With live keys alone. After a timeout, repeat it with the same idempotencyKey, or look it up as saq_idem_<idempotencyKey>.',
    args: { input: t.arg({ type: RequestSubaccountPayoutInput, required: true }) },
    errors: {
      union: { name: 'RequestSubaccountPayoutResult' },
      types: [
        ValidationError,
        NotFoundError,
        PermissionError,
        RateLimitError,
        UnavailableError,
        InsufficientFundsError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: (_, { input }, context) => {
      const caller = callerOf(context);
      assertMayRequestSubaccountPayouts(caller);
      context.services.subaccounts.assertNames({ subaccountId: input.subaccountId }, 'input.');
      return context.services.subaccounts.requestPayout(caller.tenant, input);
    },
  }),
}));

// ── Subscriptions ───────────────────────────────────────────────────────────────────────────────

builder.subscriptionFields((t) => ({
  subaccountPayoutUpdates: t.field({
    type: SubaccountPayoutUpdate,
    description: `By any of its references: ${REFERENCE_FORMS}. Completes at COMPLETED, or at FAILED once it is reversed.`,
    args: {
      subaccountId: t.arg.string({ required: true, validate: { schema: anySubaccountId } }),
      reference: t.arg.string({ required: true, validate: { schema: anyPayoutReference } }),
      after: t.arg.string(),
    },
    subscribe: async (_, { subaccountId, reference, after }, context) => {
      const caller = callerOf(context);
      assertMayReadSubaccountPayouts(caller);
      context.services.subaccounts.assertNames({ subaccountId, reference });
      const found = await context.services.subaccounts.findPayoutWithVersion(
        caller.tenant,
        subaccountId,
        reference,
      );
      if (!found) throw new NotFoundError('Payout not found');
      const { version, id, payout } = found;
      return context.subscribe({
        topic: { resource: 'subaccount_payout', resourceId: id },
        after,
        begin: async () => ({
          version,
          first: (cursor: string) => stateUpdate(payout, cursor),
          over: isSettled(payout),
        }),
        toItem: eventUpdate,
        isLast: (event) => event.resource === 'subaccount_payout' && isSettled(event.snapshot),
      });
    },
    resolve: fresh,
  }),
  allSubaccountPayoutUpdates: t.field({
    type: SubaccountPayoutUpdate,
    description: 'Every payout of one subaccount, or of all; no first state, only changes.',
    args: {
      subaccountId: t.arg.string({ validate: { schema: anySubaccountId } }),
      after: t.arg.string(),
    },
    subscribe: async (_, { subaccountId, after }, context) => {
      const caller = callerOf(context);
      assertMayReadSubaccountPayouts(caller);
      context.services.subaccounts.assertNames({ subaccountId });
      if (subaccountId != null && !(await context.services.subaccounts.find(caller.tenant, subaccountId)))
        throw new NotFoundError('Subaccount not found');
      return context.subscribe({
        topic: { resource: 'subaccount_payout' },
        wants: (event) =>
          event.resource === 'subaccount_payout' &&
          (subaccountId == null || event.snapshot.subaccountId === subaccountId),
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: fresh,
  }),
}));

/** The context of a subscription lives as long as it does: what it has loaded for one update is old at the next. */
function fresh(update: Update, _: unknown, { loaders }: Context): Update {
  loaders.subaccount.clearAll();
  return update;
}

function stateUpdate(payout: SubaccountPayout, cursor: string): Update {
  const occurredAt = payout.reversedAt ?? payout.completedAt ?? payout.createdAt;
  return { cursor, occurredAt, previousStatus: null, payout };
}

/** The state as it was at the change, not today's. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'subaccount_payout')
    throw new TypeError(`${event.kind} is not a subaccount payout's event`);
  const { occurredAt, previousStatus, snapshot } = event;
  return { cursor, occurredAt, previousStatus, payout: snapshot };
}
