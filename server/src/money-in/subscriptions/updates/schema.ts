import { AccountUpdate, addAccountUpdates } from '../../../api/graphql/account-updates.ts';
import { builder } from '../../../api/graphql/builder.ts';
import { knownValue } from '../../../api/graphql/paging.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { NotFoundError } from '../../../kernel/errors.ts';
import { isOneOf } from '../../../kernel/list-filter.ts';
import type { StoredEvent } from '../../../state/events/event.ts';
import { SubscriptionStatusEnum } from '../enums-schema.ts';
import { isFinal, type Subscription, type SubscriptionCycle, type SubscriptionStatus } from '../model.ts';
import { CycleRef, SubscriptionRef } from '../schema.ts';

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: Subscription['status'] | null;
  cycle: SubscriptionCycle | null;
  subscription: Subscription;
}

const SubscriptionUpdate = builder.objectRef<Update>('PixSubscriptionUpdate').implement({
  interfaces: [AccountUpdate],
  description: 'A change of a subscription, or of one of its cycles.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: SubscriptionStatusEnum,
      nullable: true,
      description:
        'The status before the change, or the current status if another member has changed; null in a first state.',
      resolve: (update) => update.previousStatus,
    }),
    cycle: t.field({
      type: CycleRef,
      nullable: true,
      description: 'The cycle that changed; null if the subscription itself changed.',
      resolve: (update) => update.cycle,
    }),
    subscription: t.field({ type: SubscriptionRef, resolve: (update) => update.subscription }),
  }),
});

addAccountUpdates('SUBSCRIPTION', {
  typename: 'PixSubscriptionUpdate',
  resource: 'subscription',
  follow(context) {
    assertMay(callerOf(context), 'subscriptions.read');
    return { toItem: eventUpdate };
  },
});

builder.subscriptionFields((t) => ({
  subscriptionUpdates: t.field({
    type: SubscriptionUpdate,
    description:
      'The subscription, then every change of it and of its cycles. The stream completes at CANCELED, COMPLETED or EXPIRED.',
    args: { subscriptionId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: async (_, { subscriptionId, after }, context) => {
      const caller = callerOf(context);
      const begin = async () => {
        assertMay(caller, 'subscriptions.read');
        const { subscriptions } = context.services;
        subscriptions.assertId(subscriptionId);
        const found = await subscriptions.findWithVersion(caller.tenant, subscriptionId);
        if (!found) throw new NotFoundError('Subscription not found');
        const { version, resource: subscription } = found;
        const occurredAt = subscription.canceledAt ?? subscription.createdAt ?? context.clock.now();
        return {
          version,
          first: (cursor: string) => ({
            cursor,
            occurredAt,
            previousStatus: null,
            cycle: null,
            subscription,
          }),
          isOver: isFinal(subscription.status),
        };
      };
      return context.subscribe({
        topic: { resource: 'subscription', resourceId: subscriptionId },
        after,
        begin,
        toItem: eventUpdate,
        isLast: (event) => event.resource === 'subscription' && isLast(event),
      });
    },
    resolve: (update) => update,
  }),
  allSubscriptionUpdates: t.field({
    type: SubscriptionUpdate,
    description: 'Every subscription of the account; no first state, only changes.',
    args: { after: t.arg.string(), status: t.arg({ type: [SubscriptionStatusEnum] }) },
    subscribe: (_, { after, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subscriptions.read');
      const status = args.status?.map((each) => knownValue<SubscriptionStatus>(each, 'status'));
      return context.subscribe({
        topic: { resource: 'subscription' },
        matches: (event) => event.resource === 'subscription' && isOneOf(event.snapshot.status, status),
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
}));

/**
 * Whether an event is the last of its subscription's stream. A step with several events has the final status in each of them: the
 * one that is named by the status comes last.
 */
function isLast({ kind, snapshot }: Extract<StoredEvent, { resource: 'subscription' }>): boolean {
  return isFinal(snapshot.status) && kind === `subscription.${snapshot.status}`;
}

/** An update with the state at the time of the change. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'subscription') throw new TypeError(`${event.kind} is not a subscription's event`);
  const { occurredAt, previousStatus, snapshot } = event;
  return { cursor, occurredAt, previousStatus, cycle: snapshot.changedCycle, subscription: snapshot };
}
