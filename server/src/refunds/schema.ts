import { assertMay, assertUnrestrictedKey, seesCustomer } from '../access/model.ts';
import { CardPaymentRef } from '../card-payments/schema.ts';
import type { StoredEvent } from '../events/event.ts';
import { builder } from '../graphql/builder.ts';
import { callerOf } from '../graphql/context.ts';
import { authorized, replayableSuccessType } from '../graphql/mutations.ts';
import { connectionOf, knownValue, pagesBeside, rangeOf, totalOf } from '../graphql/paging.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import {
  isFinal,
  isRefundId,
  keyInReference,
  type Refund,
  type RefundStatus,
  refundCardPaymentInput,
} from './model.ts';

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const RefundStatusEnum = builder.enumType('RefundStatus', {
  values: {
    PROCESSING: { value: 'processing', description: 'The money may have left: wait.' },
    COMPLETED: { value: 'completed', description: 'The payer has it.' },
    FAILED: {
      value: 'failed',
      description: 'Refused by the acquirer; the amount is back where it was taken.',
    },
    UNKNOWN: {
      value: 'unknown',
      description: 'A value that this server does not know yet. Never accepted as input.',
    },
  } as const,
});

const RefundRef = builder.objectRef<Refund>('Refund');

const RefundedResource = builder.unionType('RefundedResource', { types: [CardPaymentRef] });

builder.node(RefundRef, {
  id: { resolve: ({ refundId }) => refundId },
  loadOne: (refundId, context) => {
    assertMay(callerOf(context), 'card_payments.read');
    return context.loaders.refund.load(refundId);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'refundId' in value,
  description: 'Money given back to a payer.',
  fields: (t) => ({
    refundId: t.exposeString('refundId', { description: 'ref_ and 24 hex digits.' }),
    status: t.field({ type: RefundStatusEnum, resolve: ({ status }) => status }),
    amountCents: t.expose('amountCents', { type: 'Cents' }),
    of: t.field({
      type: RefundedResource,
      nullable: true,
      description: 'What was refunded.',
      resolve: ({ resource }, _, context) => context.loaders.cardPayment.load(resource.id),
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'As given, at most 140 characters; of a payment that is returned by itself, why it is.',
    }),
    endToEndId: t.exposeString('endToEndId', {
      nullable: true,
      description: 'The bank’s identifier of the return; null for a card.',
    }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'In the acquirer’s words; null unless FAILED.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true }),
    final: t.boolean({
      description: 'COMPLETED or FAILED: no later status can come.',
      resolve: ({ status }) => isFinal(status),
    }),
    version: t.exposeInt('version', {
      description: 'Grows with each change of this refund: of two answers the larger is the newer.',
    }),
  }),
});

builder.objectField(CardPaymentRef, 'refunds', (t) =>
  t.field({
    type: [RefundRef],
    nullable: true,
    description:
      'Oldest first. Null to a browser’s checkout or payment token, and where the service does not tell.',
    resolve: ({ orderCode }, _, context) =>
      seesCustomer(callerOf(context)) ? context.loaders.refundsOfCardPayment.load(orderCode) : null,
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

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: RefundStatus | null;
  refund: Refund;
}

const RefundUpdate = builder.objectRef<Update>('RefundUpdate').implement({
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'The `after` that continues behind this update.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: RefundStatusEnum,
      nullable: true,
      resolve: (update) => update.previousStatus,
    }),
    refund: t.field({ type: RefundRef, resolve: (update) => update.refund }),
  }),
});

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

builder.queryFields((t) => ({
  refund: t.field({
    type: RefundRef,
    nullable: true,
    description: 'By its refundId; after a timeout by `ref_idem_` and the idempotencyKey of its request.',
    args: { refundId: t.arg.string({ required: true }) },
    resolve: (_, { refundId }, context) => {
      const { tenant } = assertReader(context);
      if (!isRefundId(refundId) && keyInReference(refundId) === null)
        throw new ValidationError([
          {
            path: 'refundId',
            message: 'must be ref_ and 24 hex digits, or ref_idem_ and an idempotency key',
          },
        ]);
      return context.services.refunds.find(tenant, refundId);
    },
  }),
  refunds: t.field({
    type: RefundConnection,
    description:
      'Newest first. `first` and `after` read towards the older, `last` and `before` towards the newer.',
    args: {
      first: t.arg.int({ description: '1 to 100; 50 where neither it nor `last` is given.' }),
      after: t.arg.string(),
      last: t.arg.int({ description: '1 to 100; not together with `first`.' }),
      before: t.arg.string(),
      status: t.arg({ type: [RefundStatusEnum] }),
    },
    resolve: async (_, args, context) => {
      const { tenant } = assertReader(context);
      const status = args.status?.map((each) => knownValue<RefundStatus>(each, 'status'));
      const cursors = context.listCursors('refunds');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.refunds.list(tenant, { ...range, status });
      const nodes = items.map(({ place, refund }) => ({ place, node: refund }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.refunds.count(tenant, { status }),
      });
    },
  }),
}));

function assertReader(context: Parameters<typeof callerOf>[0]) {
  const caller = callerOf(context);
  assertMay(caller, 'card_payments.read');
  return caller;
}

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const RefundCardPaymentInput = builder.inputType('RefundCardPaymentInput', {
  validate: { schema: refundCardPaymentInput },
  fields: (t) => ({
    orderCode: t.string({ required: true }),
    amountCents: t.field({ type: 'Cents', description: 'All that is refundable where left out.' }),
    reason: t.string({ description: 'At most 140 characters.' }),
    idempotencyKey: t.string({
      description: '1 to 128 of A-Z a-z 0-9 _ - . : ; the same key and input give the same refund.',
    }),
  }),
});

const RefundSuccess = replayableSuccessType<{ refund: Refund }>('RefundSuccess', (t) => ({
  refund: t.expose('refund', { type: RefundRef }),
}));

builder.mutationFields((t) => ({
  refundCardPayment: t.field({
    type: RefundSuccess,
    description:
      'From what can be withdrawn, or from what still waits for its release; never more than refundableCents, at most 180 days after the payment and 20 times. After a timeout, repeat it with the same idempotencyKey.',
    args: { input: t.arg({ type: RefundCardPaymentInput, required: true }) },
    errors: {
      union: { name: 'RefundResult' },
      types: [
        ValidationError,
        NotFoundError,
        RateLimitError,
        InsufficientFundsError,
        UnavailableError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: authorized(
      assertUnrestrictedKey,
      ({ tenant }, { input: { orderCode, ...input } }, { services }) =>
        services.refunds.request(tenant, { type: 'card_payment', id: orderCode }, input),
    ),
  }),
}));

// ── Subscriptions ───────────────────────────────────────────────────────────────────────────────

builder.subscriptionField('allRefundUpdates', (t) =>
  t.field({
    type: RefundUpdate,
    description: 'Every refund of the account; no first state, only changes.',
    args: { after: t.arg.string() },
    subscribe: (_, { after }, context) => {
      assertReader(context);
      context.services.refunds.assertAnnounced();
      return context.subscribe({
        topic: { resource: 'refund' },
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
);

/** An update with the state at the time of the change. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'refund') throw new TypeError(`${event.kind} is not a refund's event`);
  const { occurredAt, previousStatus, snapshot } = event;
  return { cursor, occurredAt, previousStatus, refund: snapshot };
}
