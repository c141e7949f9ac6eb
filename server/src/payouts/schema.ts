import { assertMay, assertUnrestrictedKey } from '../access/model.ts';
import type { StoredEvent } from '../events/event.ts';
import { AccountUpdate, addAccountUpdates } from '../graphql/account-updates.ts';
import { builder, decodeGlobalID } from '../graphql/builder.ts';
import { callerOf } from '../graphql/context.ts';
import { addEntity } from '../graphql/federation.ts';
import { authorized, replayableSuccessType } from '../graphql/mutations.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  knownValue,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../graphql/paging.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  NotFoundError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { detailsOf } from '../kernel/list-filter.ts';
import { ltcText } from '../kernel/money.ts';
import { EXTERNAL_ID_FORM, idempotencyKeyText } from '../kernel/text.ts';
import { PayoutMethodEnum, PayoutStatusEnum } from './enums-schema.ts';
import {
  DESTINATIONS_IN_WORDS,
  isSettled,
  maskDestination,
  matchesFilter,
  type Payout,
  type PayoutFilter,
  type PayoutMethod,
  type PayoutStatus,
  payoutIdOf,
  type RequestPayoutInput,
  requestPayoutInput,
  SHOWN_DESTINATIONS_IN_WORDS,
} from './model.ts';

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

export const PayoutRef = builder.objectRef<Payout>('Payout');

addEntity(PayoutRef);
builder.node(PayoutRef, {
  id: {
    resolve: payoutIdOf,
    description: 'The same from the request on, also of a payout that the service names later.',
  },
  loadOne: (withdrawalId, context) => {
    assertMay(callerOf(context), 'payouts.read');
    return context.loaders.payout.load(withdrawalId);
  },
  isTypeOf: (value) =>
    typeof value === 'object' && value !== null && 'withdrawalId' in value && 'requestedAt' in value,
  description: 'A payout of the main account, which the document calls a withdrawal.',
  fields: (t) => ({
    withdrawalId: t.exposeString('withdrawalId', {
      nullable: true,
      description: '24 hex digits. Null while inDoubt, and of a request that the service never did.',
    }),
    code: t.exposeString('code', {
      nullable: true,
      description:
        'SAQ-… ; what support asks for. Null where the service behind the facade has not named it.',
    }),
    method: t.field({ type: PayoutMethodEnum, resolve: ({ method }) => method }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'What it takes from the merchant, the fee included; of an LTC payout, its value.',
    }),
    feeCents: t.expose('feeCents', {
      type: 'Cents',
      nullable: true,
      description:
        'Of the amount, what the service keeps; the destination receives the rest. Null where the service behind the facade does not name it.',
    }),
    amountLtc: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'What it takes from the LTC balance, the fee included, as quoted at the request. Null where reais are debited, and where the service behind the facade does not name it.',
      resolve: ({ litoshi }) => (litoshi === null ? null : ltcText(litoshi)),
    }),
    destination: t.string({
      description: `${SHOWN_DESTINATIONS_IN_WORDS}.`,
      resolve: (payout) => maskDestination(payout, { masksPublic: false }),
    }),
    status: t.field({ type: PayoutStatusEnum, resolve: ({ status }) => status }),
    inDoubt: t.boolean({
      description:
        'The service behind the facade has not said whether it has made this payout: the money may have left. Wait; do not request it again under another key. unresolvedRequests lists all such requests.',
      resolve: ({ inDoubt }) => inDoubt === true,
    }),
    final: t.boolean({
      description:
        'COMPLETED or DENIED, and no later status can come. False while only a webhook says so, which the service behind the facade has not confirmed.',
      resolve: isSettled,
    }),
    version: t.exposeInt('version', {
      description: 'Grows with each change of this payout: of two answers the larger is the newer.',
    }),
    requestedAt: t.expose('requestedAt', { type: 'DateTime', nullable: true }),
    processedAt: t.expose('processedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was completed or denied.',
    }),
    deniedReason: t.exposeString('deniedReason', {
      nullable: true,
      description: 'The reason of a denial, in the bank’s words; null unless DENIED.',
    }),
    endToEndId: t.exposeString('endToEndId', {
      nullable: true,
      description:
        'The bank’s identifier of the PIX, by which the receiver finds the credit. Null until it has arrived, of crypto, and where the service behind the facade does not name it.',
    }),
    externalId: t.exposeString('externalId', {
      nullable: true,
      description: 'Your own number for it; null where none was given.',
    }),
  }),
});

const PayoutConnection = builder.connectionObject(
  {
    type: PayoutRef,
    name: 'PayoutConnection',
    fields: (t) => ({
      totalCount: t.int({ resolve: totalOf }),
    }),
  },
  { name: 'PayoutEdge' },
);

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: Payout['status'] | null;
  payout: Payout;
}

const PayoutUpdate = builder.objectRef<Update>('PayoutUpdate').implement({
  interfaces: [AccountUpdate],
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'The `after` that continues behind this update.' }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: PayoutStatusEnum,
      nullable: true,
      resolve: (update) => update.previousStatus,
    }),
    payout: t.field({ type: PayoutRef, resolve: (update) => update.payout }),
  }),
});

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

const PayoutFilterInput = builder.inputType('PayoutFilter', {
  fields: (t) => ({
    status: t.field({ type: [PayoutStatusEnum] }),
    method: t.field({ type: [PayoutMethodEnum] }),
    requestedAfter: t.field({ type: 'DateTime', description: 'Requested then or later.' }),
    requestedBefore: t.field({ type: 'DateTime', description: 'Requested before then.' }),
    processedAfter: t.field({ type: 'DateTime', description: 'Completed or denied then or later.' }),
    processedBefore: t.field({ type: 'DateTime', description: 'Completed or denied before then.' }),
    externalId: t.string({ description: 'With this number of yours.' }),
    reference: t.string({ description: 'With this withdrawalId, code or endToEndId.' }),
    amountCents: t.field({ type: 'Cents', description: 'Of exactly this amount.' }),
  }),
});

builder.queryFields((t) => ({
  payout: t.field({
    type: PayoutRef,
    nullable: true,
    description:
      'By exactly one of the three. By the idempotencyKey of its request, after a timeout: null where none was made with it, so far.',
    args: {
      withdrawalId: t.arg.string({ description: '24 hex digits.' }),
      code: t.arg.string({ description: 'SAQ-…' }),
      idempotencyKey: t.arg.string({ description: 'The key with which it was requested.' }),
    },
    resolve: async (_, { withdrawalId, code, idempotencyKey }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payouts.read');
      if ([withdrawalId, code, idempotencyKey].filter((name) => name != null).length !== 1)
        throw new ValidationError([
          { path: 'withdrawalId', message: 'give exactly one of withdrawalId, code and idempotencyKey' },
        ]);
      if (idempotencyKey != null) {
        const { data, error } = idempotencyKeyText.safeParse(idempotencyKey);
        if (data === undefined)
          throw new ValidationError([{ path: 'idempotencyKey', message: error.issues[0]!.message }]);
        return context.services.payouts.findByKey(caller.tenant, data);
      }
      context.services.payouts.assertNames({ withdrawalId, code });
      const payout = await context.loaders.payout.load((withdrawalId ?? code)!);
      // The loader accepts either kind of reference.
      return payout && (payout.withdrawalId === withdrawalId || payout.code === code) ? payout : null;
    },
  }),
  payouts: t.field({
    type: PayoutConnection,
    description: `Newest first; those that are inDoubt come before the rest. ${BOTH_WAYS}`,
    args: {
      ...connectionArguments(t.arg),
      filter: t.arg({ type: PayoutFilterInput }),
    },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payouts.read');
      const filter = filterOf(args.filter ?? {});
      const cursors = context.listCursors('payouts');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.payouts.list(caller.tenant, { ...filter, ...range });
      const nodes = items.map(({ place, payout }) => ({ place, node: payout }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.payouts.count(caller.tenant, filter),
      });
    },
  }),
}));

function filterOf(given: typeof PayoutFilterInput.$inferInput): PayoutFilter {
  const { status, method, requestedAfter, requestedBefore, processedAfter, processedBefore } = given;
  return {
    ...detailsOf(given),
    status: status?.map((each) => knownValue<PayoutStatus>(each, 'filter.status')),
    method: method?.map((each) => knownValue<PayoutMethod>(each, 'filter.method')),
    requestedAfter: requestedAfter ?? undefined,
    requestedBefore: requestedBefore ?? undefined,
    processedAfter: processedAfter ?? undefined,
    processedBefore: processedBefore ?? undefined,
  };
}

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const RequestPayoutInputRef = builder.inputType('RequestPayoutInput', {
  fields: (t) => ({
    method: t.field({ type: PayoutMethodEnum, required: true }),
    amountCents: t.field({
      type: 'Cents',
      required: true,
      description: 'More than the method’s fee, and at most what the wallet shows as withdrawableCents.',
    }),
    destination: t.string({
      required: true,
      description: `${DESTINATIONS_IN_WORDS}, by method; checked for what it is.`,
    }),
    externalId: t.string({
      description: `Your own number for it: ${EXTERNAL_ID_FORM}. Several payouts may have one number.`,
    }),
    idempotencyKey: t.string({
      description: '1 to 128 of A-Z a-z 0-9 _ - . : ; the same key and input give the same payout.',
    }),
  }),
});

const PayoutSuccess = replayableSuccessType<{ payout: Payout }>('PayoutSuccess', (t) => ({
  payout: t.expose('payout', { type: PayoutRef }),
}));

builder.mutationFields((t) => ({
  requestPayout: t.field({
    type: PayoutSuccess,
    description:
      'Debits the amount and sends it on its way. At most 10 an hour, 5 of them turbo. After a timeout, repeat it with the same idempotencyKey. Where the service behind the facade does not say whether it has done it, the payout is inDoubt: follow it with payoutUpdates(id:).',
    args: {
      input: t.arg({
        type: RequestPayoutInputRef,
        required: true,
        validate: { schema: requestPayoutInput as never },
      }),
    },
    errors: {
      types: [
        ValidationError,
        RateLimitError,
        InsufficientFundsError,
        UnavailableError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      // The validation above has brought it into this shape.
      services.payouts.request(tenant, input as RequestPayoutInput),
    ),
  }),
}));

// ── Subscriptions ───────────────────────────────────────────────────────────────────────────────

addAccountUpdates('PAYOUT', {
  ...{ typename: 'PayoutUpdate', resource: 'payout' },
  follow(context) {
    assertMay(callerOf(context), 'payouts.read');
    return { matches: isUnderFirstId, toItem: eventUpdate };
  },
});

builder.subscriptionFields((t) => ({
  payoutUpdates: t.field({
    type: PayoutUpdate,
    description: 'By exactly one of the two. Completes once the payout is final.',
    args: {
      id: t.arg.id({ description: 'Payout.id, which a payout has from its request on.' }),
      withdrawalId: t.arg.string(),
      after: t.arg.string(),
    },
    subscribe: (_, { id, withdrawalId, after }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payouts.read');
      if ((id == null) === (withdrawalId == null))
        throw new ValidationError([
          { path: 'withdrawalId', message: 'give exactly one of id and withdrawalId' },
        ]);
      context.services.payouts.assertNames({ withdrawalId });
      const resourceId = id == null ? withdrawalId! : payoutIdIn(id);
      const begin = async () => {
        const found = await context.services.payouts.findWithVersion(caller.tenant, resourceId);
        if (!found) throw new NotFoundError('Payout not found');
        const { version, payout } = found;
        const now = context.clock.now();
        return {
          version,
          first: (cursor: string) => stateUpdate(payout, cursor, now),
          isOver: isSettled(payout),
        };
      };
      return context.subscribe({
        topic: { resource: 'payout', resourceId },
        after,
        begin,
        toItem: eventUpdate,
        isLast: (event) => event.resource === 'payout' && isSettled(event.snapshot),
      });
    },
    resolve: (update) => update,
  }),
  allPayoutUpdates: t.field({
    type: PayoutUpdate,
    description: 'Every payout of the account; no first state, only changes.',
    args: { after: t.arg.string(), filter: t.arg({ type: PayoutFilterInput }) },
    subscribe: (_, { after, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payouts.read');
      const filter = filterOf(args.filter ?? {});
      return context.subscribe({
        topic: { resource: 'payout' },
        matches: (event) =>
          event.resource === 'payout' && isUnderFirstId(event) && matchesFilter(event.snapshot, filter),
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
}));

/** The present state as an update. Without an instant from the service, it is dated by the reading. */
function stateUpdate(payout: Payout, cursor: string, readAt: Date): Update {
  const occurredAt = payout.processedAt ?? payout.requestedAt ?? readAt;
  return { cursor, occurredAt, previousStatus: null, payout };
}

/** The id of a payout in a global id. @throws ValidationError where that is of another type */
function payoutIdIn(globalId: string): string {
  const { typename, id } = decodeGlobalID(globalId);
  if (typename !== 'Payout')
    throw new ValidationError([{ path: 'id', message: 'is not the id of a payout' }]);
  return id;
}

/** Whether an event is under its payout's first id: a payout that was in doubt has an event under each of its two ids. */
function isUnderFirstId(event: StoredEvent): boolean {
  if (event.resource !== 'payout') return false;
  const { withdrawalId, requestId } = event.snapshot;
  return event.resourceId === (withdrawalId ?? requestId);
}

/** An event as an update, with the state after that change, not today's. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'payout') throw new TypeError(`${event.kind} is not a payout's event`);
  const { occurredAt, previousStatus, snapshot } = event;
  return { cursor, occurredAt, previousStatus, payout: snapshot };
}
