import {
  type Subscription,
  type SubscriptionNews,
  type SubscriptionSnapshot,
  subscriptionFromJson,
} from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    /** A change of a subscription or of a cycle; `changed` is one that no webhook announces. */
    subscription: {
      kind: `subscription.${SubscriptionNews | 'changed'}`;
      previousStatus: Subscription['status'] | null;
      snapshot: SubscriptionSnapshot;
    };
  }
}

export const subscriptionSnapshots = { subscription: subscriptionFromJson };
