import { AccountUpdate, addAccountUpdates } from '../../../api/graphql/account-updates.ts';
import { builder } from '../../../api/graphql/builder.ts';
import { knownValue } from '../../../api/graphql/paging.ts';
import { assertMay, callerOf, mayReadCardPayment } from '../../../kernel/caller.ts';
import { NotFoundError, ValidationError } from '../../../kernel/errors.ts';
import type { StoredEvent } from '../../../state/events/event.ts';
import { matchesFilter } from '../filter.ts';
import { CardPaymentFilterInput, filterOf } from '../filter-schema.ts';
import { type CardPayment, type CardPaymentFilter, type CardPaymentStatus, statusSince } from '../model.ts';
import { CardPaymentRef, CardPaymentStatusEnum } from '../schema.ts';

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: CardPayment['status'] | null;
  payment: CardPayment;
}

const CardPaymentUpdate = builder.objectRef<Update>('CardPaymentUpdate').implement({
  interfaces: [AccountUpdate],
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: CardPaymentStatusEnum,
      nullable: true,
      resolve: (update) => update.previousStatus,
    }),
    cardPayment: t.field({ type: CardPaymentRef, resolve: (update) => update.payment }),
  }),
});

// ── Subscriptions ───────────────────────────────────────────────────────────────────────────────

/** Statuses that complete a card payment's stream; an expired payment's stays open, for it may be paid late. */
const COMPLETES: ReadonlySet<string> = new Set<CardPaymentStatus>(['paid', 'failed', 'refunded']);

addAccountUpdates('CARD_PAYMENT', {
  typename: 'CardPaymentUpdate',
  resource: 'card_payment',
  follow(context) {
    assertMay(callerOf(context), 'card_payments.read');
    return { toItem: eventUpdate };
  },
});

builder.subscriptionFields((t) => ({
  cardPaymentUpdates: t.field({
    type: CardPaymentUpdate,
    description:
      'The resource, then each of its changes. The stream completes at PAID, FAILED or REFUNDED, and stays open at EXPIRED: it may be paid late.',
    args: { orderCode: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: async (_, { orderCode, after }, context) => {
      const caller = callerOf(context);
      const begin = async () => {
        const found = mayReadCardPayment(caller, orderCode)
          ? await context.services.cardPayments.findWithVersion(caller.tenant, orderCode)
          : null;
        if (!found) throw new NotFoundError('Card payment not found');
        const { version, resource: payment } = found;
        return {
          version,
          first: (cursor: string) => stateUpdate(payment, cursor),
          isOver: COMPLETES.has(payment.status),
        };
      };
      return context.subscribe({
        topic: { resource: 'card_payment', resourceId: orderCode },
        after,
        begin,
        toItem: eventUpdate,
        isLast: (event) => event.resource === 'card_payment' && COMPLETES.has(event.snapshot.status),
      });
    },
    resolve: (update) => update,
  }),
  allCardPaymentUpdates: t.field({
    type: CardPaymentUpdate,
    description:
      'Every card payment of the account; no first state, only changes. A release is none, so releasedAfter and releasedBefore are refused.',
    args: {
      after: t.arg.string(),
      status: t.arg({ type: [CardPaymentStatusEnum] }),
      filter: t.arg({ type: CardPaymentFilterInput }),
    },
    subscribe: (_, { after, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'card_payments.read');
      const status = args.status?.map((each) => knownValue<CardPaymentStatus>(each, 'status'));
      const filter = { ...filterOf(args.filter), status };
      assertFollowable(filter);
      context.services.cardPayments.assertFilter(filter);
      return context.subscribe({
        topic: { resource: 'card_payment' },
        matches: (event) => event.resource === 'card_payment' && matchesFilter(event.snapshot, filter),
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
}));

/**
 * Refuses a filter by the release: it makes no event, so that no update would be sent at it.
 * @throws ValidationError
 */
function assertFollowable(filter: CardPaymentFilter): void {
  const given = (['releasedAfter', 'releasedBefore'] as const).filter((name) => filter[name] !== undefined);
  if (given.length === 0) return;
  throw new ValidationError(
    given.map((name) => ({
      path: `filter.${name}`,
      message: 'selects in the list cardPayments alone: a release is no update',
    })),
  );
}

function stateUpdate(payment: CardPayment, cursor: string): Update {
  return { cursor, occurredAt: statusSince(payment), previousStatus: null, payment };
}

/** An update with the state at the time of the change. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'card_payment') throw new TypeError(`${event.kind} is not a card payment's event`);
  const { occurredAt, previousStatus, snapshot } = event;
  return { cursor, occurredAt, previousStatus, payment: snapshot };
}
