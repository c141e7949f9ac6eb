import { builder } from '../../../api/graphql/builder.ts';
import { defineUpdates } from '../../../api/graphql/updates.ts';
import { assertMay, callerOf, mayReadCardPayment } from '../../../kernel/caller.ts';
import { ValidationError } from '../../../kernel/errors.ts';
import { PaymentStatusEnum } from '../../receiving/sale-schema.ts';
import { matchesFilter } from '../filter.ts';
import { filterArguments, filterOf } from '../filter-schema.ts';
import { type CardPaymentFilter, type CardPaymentStatus, statusSince } from '../model.ts';
import { CardPaymentRef } from '../schema.ts';

/** Statuses that complete a card payment's stream; an expired payment's stays open, for it may be paid late. */
const COMPLETES: ReadonlySet<string> = new Set<CardPaymentStatus>(['paid', 'failed', 'refunded']);

const updates = defineUpdates({
  type: 'CardPaymentUpdate',
  kind: 'CARD_PAYMENT',
  covers: 'Card payments',
  resource: 'card_payment',
  title: 'Card payment',
  status: PaymentStatusEnum,
  fields: (t) => ({ cardPayment: t.field({ type: CardPaymentRef, resolve: ({ item }) => item }) }),
  authorize: (context) => assertMay(callerOf(context), 'card_payments.read'),
  isOver: ({ status }) => COMPLETES.has(status),
});

builder.subscriptionFields((t) => ({
  cardPaymentUpdates: t.field({
    type: updates.type,
    description:
      'The resource, then each of its changes. The stream completes at PAID, FAILED or REFUNDED, and stays open at EXPIRED: it may be paid late.',
    args: { orderCode: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { orderCode, after }, context) => {
      const caller = callerOf(context);
      return updates.follow(context, orderCode, after, async () => {
        if (!mayReadCardPayment(caller, orderCode)) return null;
        const found = await context.services.cardPayments.findWithVersion(caller.tenant, orderCode);
        return found && { version: found.version, item: found.resource, since: statusSince(found.resource) };
      });
    },
    resolve: (update) => update,
  }),
  allCardPaymentUpdates: t.field({
    type: updates.type,
    description:
      'Every card payment of the account; no first state, only changes. A release is none, so releasedAfter and releasedBefore are refused.',
    args: {
      after: t.arg.string(),
      ...filterArguments(t.arg),
    },
    subscribe: (_, { after, ...args }, context) =>
      updates.followAll(context, after, () => {
        const filter = filterOf(args);
        assertFollowable(filter);
        context.services.cardPayments.assertFilter(filter);
        return ({ snapshot }) => matchesFilter(snapshot, filter);
      }),
    resolve: (update) => update,
  }),
}));

/**
 * Refuses a filter by the release: a release makes no event, so no update would be sent.
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
