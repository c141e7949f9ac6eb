import { type Collection, put, type Writes } from '../../state/commit/commit.ts';
import { payments, pixPayments } from '../payments/collections.ts';
import type { PixFamily } from '../pix/collections.ts';
import { wasAnnounced } from '../pix/decisions.ts';
import type { HostedPix } from '../pix/model.ts';
import { codeDecisions } from './decisions.ts';
import {
  isLive,
  isSubscriptionId,
  type StoredCycle,
  type StoredSubscription,
  type SubscriptionSnapshot,
} from './model.ts';
import { type SubscriptionChange, subscriptionRules } from './steps.ts';
import { cycleTable, saveSubscriptions, selectBySubscriptionId, selectSubscriptions } from './store.ts';

/** Subscriptions with their newest cycle, as a decision reads and writes them. */
export const subscriptions: Collection<StoredSubscription> = {
  name: 'pix_subscription',
  loadEach: selectSubscriptions,
  keyOf: ({ subscriptionId }) => subscriptionId,
  saveEach: saveSubscriptions,
};

/** The cycles of subscriptions. */
export const cycles: Collection<StoredCycle> = cycleTable;

/** The rules of subscriptions for PIX codes. */
export const pixSubscriptions: PixFamily<StoredSubscription> = {
  ...subscriptionRules,
  decisions: codeDecisions,
  records: subscriptions,
  isId: isSubscriptionId,
  idsOfTxid: (txid) => [`psa_sub_${txid}`],
  selectHosted: selectBySubscriptionId,
  // A subscription has no order: each cycle is a sale of its own.
  orderOf: () => ({ checkoutAttempt: null, externalId: null, tokenId: null }),
  payerOf: ({ customer }) => customer,
  recurrenceOf: ({ interval, endsAfterCycles }) => ({ interval, endsAfterCycles }),
  hostedOf,
  returnDetailsOf: ({ subscriptionId: id, metadata }) => ({
    resource: { type: 'subscription', id },
    ...{ externalId: null, keptPayment: null, metadata, callbackUrl: null },
  }),
  moreWritesOf: (change) => subscriptionWrites(change as SubscriptionChange),
};

/** The subscription as the page of its payer shows it: to be authorized, or why it no longer can be. */
function hostedOf(subscription: StoredSubscription): HostedPix {
  const { subscriptionId, status, authorisedAt, interval, endsAfterCycles, nextDueAt } = subscription;
  return {
    id: subscriptionId,
    version: subscription.version,
    // The page has the words of a payment: an authorized subscription is paid, one that never can be has
    // failed.
    status: status === 'pending' || status === 'expired' ? status : authorisedAt ? 'paid' : 'failed',
    amountCents: subscription.amountCents,
    description: subscription.description,
    brCode: subscription.brCode,
    expiresAt: subscription.expiresAt,
    paidAt: authorisedAt,
    paidLate: false,
    canceledAt: null,
    refundedAt: null,
    refundedCents: 0,
    returnedCredits: subscription.returnedCredits,
    successUrl: subscription.successUrl,
    cancelUrl: subscription.cancelUrl,
    language: subscription.language,
    recurrence: { interval, endsAfterCycles, nextDueAt, isOver: authorisedAt !== null && !isLive(status) },
  };
}

/** Writes the cycles, events and tasks of a subscription, and the payment of a cycle. */
function subscriptionWrites(change: SubscriptionChange): Writes {
  const { subscriptionId } = change.resource;
  return {
    records: [
      ...change.cycles.map((cycle) => put(cycles, cycle)),
      ...(change.payment ? [put(payments, change.payment)] : []),
    ],
    events: [
      ...subscriptionEvents(change),
      // Readers of payments see the payment of a cycle as any other. No webhook announces it, because
      // receivers would release goods twice.
      ...(change.payment ? [pixPayments.eventOf!(change.payment, null)] : []),
    ],
    tasks: change.tasks.map(({ kind, key = subscriptionId, at }) => ({ kind, key, at })),
    done: change.doneTasks.map((kind) => ({ kind, key: subscriptionId })),
  };
}

/** The events of a step, each with a version of its own, all with the state after the step. */
function subscriptionEvents({ previous, resource, shown, news, announced }: SubscriptionChange) {
  if (!announced) return [];
  const { cycle: _, ...subscription } = resource;
  const kinds = news.length > 0 ? news : (['changed'] as const);
  return kinds.map((kind, nth) => {
    const snapshot: SubscriptionSnapshot = {
      ...subscription,
      version: resource.version - kinds.length + 1 + nth,
      changedCycle: shown,
    };
    // Each snapshot has the state after the whole step. Only the first event leads to the new status; the
    // others have it before and after.
    const before = nth > 0 ? resource.status : previous && wasAnnounced(previous) ? previous.status : null;
    return {
      kind: `subscription.${kind}` as const,
      resource: 'subscription' as const,
      resourceId: resource.subscriptionId,
      previousStatus: before,
      snapshot,
    };
  });
}
