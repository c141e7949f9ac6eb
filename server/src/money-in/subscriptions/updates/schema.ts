import { builder } from '../../../api/graphql/builder.ts';
import { defineUpdates, type EventOf } from '../../../api/graphql/updates.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { SubscriptionStatusEnum } from '../enums-schema.ts';
import { filterArguments, filterOf } from '../filter-schema.ts';
import { isFinal, matchesFilter, type Subscription, type SubscriptionCycle } from '../model.ts';
import { CycleRef, SubscriptionRef } from '../schema.ts';

interface Change {
  subscription: Subscription;
  /** The cycle that has changed; null if the subscription itself has. */
  cycle: SubscriptionCycle | null;
}

const updates = defineUpdates<'subscription', Change>({
  type: 'PixSubscriptionUpdate',
  description: 'A change of a subscription, or of one of its cycles.',
  kind: 'SUBSCRIPTION',
  covers: 'Recurring PIX and its cycles',
  resource: 'subscription',
  title: 'Subscription',
  status: SubscriptionStatusEnum,
  keepsStatus: true,
  fields: (t) => ({
    cycle: t.field({
      type: CycleRef,
      nullable: true,
      description: 'The cycle that changed; null if the subscription itself changed.',
      resolve: ({ item }) => item.cycle,
    }),
    subscription: t.field({ type: SubscriptionRef, resolve: ({ item }) => item.subscription }),
  }),
  authorize: (context) => assertMay(callerOf(context), 'subscriptions.read'),
  itemOf: ({ snapshot }) => ({ subscription: snapshot, cycle: snapshot.changedCycle }),
  isOver: ({ subscription }) => isFinal(subscription.status),
  isLast,
});

builder.subscriptionFields((t) => ({
  subscriptionUpdates: t.field({
    type: updates.type,
    description:
      'The subscription, then every change of it and of its cycles. The stream completes at CANCELED, COMPLETED or EXPIRED.',
    args: { subscriptionId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { subscriptionId, after }, context) => {
      const caller = callerOf(context);
      return updates.follow(context, subscriptionId, after, async () => {
        assertMay(caller, 'subscriptions.read');
        const { subscriptions } = context.services;
        subscriptions.assertId(subscriptionId);
        const found = await subscriptions.findWithVersion(caller.tenant, subscriptionId);
        if (!found) return null;
        const { version, resource: subscription } = found;
        const since = subscription.canceledAt ?? subscription.createdAt;
        return { version, item: { subscription, cycle: null }, since };
      });
    },
    resolve: (update) => update,
  }),
  allSubscriptionUpdates: t.field({
    type: updates.type,
    description: 'Every subscription of the account; no first state, only changes.',
    args: { after: t.arg.string(), ...filterArguments(t.arg) },
    subscribe: (_, { after, ...args }, context) =>
      updates.followAll(context, after, () => {
        const filter = filterOf(args);
        return ({ snapshot }) => matchesFilter(snapshot, filter);
      }),
    resolve: (update) => update,
  }),
}));

/**
 * Whether an event is the last in its subscription's stream. If a step has several events, each has the final
 * status, and the one that is named by the status comes last.
 */
function isLast({ kind, snapshot }: EventOf<'subscription'>): boolean {
  return isFinal(snapshot.status) && kind === `subscription.${snapshot.status}`;
}
