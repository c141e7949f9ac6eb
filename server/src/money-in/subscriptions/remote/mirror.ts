import { type Family, observationsOf } from '../../../upstream/family-mirror.ts';
import type { MirroredRow } from '../../../upstream/mirror-store.ts';
import { isFinal, type SubscriptionSnapshot, subscriptionFromJson } from '../model.ts';
import { mergeUpstreamSubscription, type UpstreamSubscription } from '../upstream-subscription.ts';

/** The one list of the mirror that subscriptions are in. */
export const PARENT = 'subscription';

export const subscriptionFamily: Family<SubscriptionSnapshot, UpstreamSubscription> = {
  resource: 'subscription',
  idOf: ({ subscriptionId }) => subscriptionId,
  merge: mergeUpstreamSubscription,
  isFinal,
  fromJson: subscriptionFromJson,
  listedBy: ({ createdAt }) => ({ parent: PARENT, createdAt }),
  eventOf: (subscription, from) => ({
    // A stream ends with the event that is named by the final status.
    kind: isEnding(subscription.status) ? `subscription.${subscription.status}` : 'subscription.changed',
    resource: 'subscription',
    resourceId: subscription.subscriptionId,
    previousStatus: from,
    snapshot: subscription,
  }),
};

function isEnding(status: SubscriptionSnapshot['status']): status is 'canceled' | 'completed' | 'expired' {
  return isFinal(status);
}

/** Turns a claim into an observation. `at` is the time of the claim; null: the time of its recording. */
export const { observationOf } = observationsOf(subscriptionFamily);

export function subscriptionOf({ snapshot }: MirroredRow): SubscriptionSnapshot {
  return subscriptionFromJson(snapshot);
}
