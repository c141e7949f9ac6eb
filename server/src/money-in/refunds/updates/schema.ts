import { AccountUpdate, addAccountUpdates } from '../../../api/graphql/account-updates.ts';
import { builder } from '../../../api/graphql/builder.ts';
import type { StoredEvent } from '../../../state/events/event.ts';
import { filterOf, RefundFilterInput } from '../filter-schema.ts';
import { matchesFilter, type Refund, type RefundStatus } from '../model.ts';
import { assertReader, RefundRef, RefundStatusEnum } from '../schema.ts';

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: RefundStatus | null;
  refund: Refund;
}

const RefundUpdate = builder.objectRef<Update>('RefundUpdate').implement({
  interfaces: [AccountUpdate],
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: RefundStatusEnum,
      nullable: true,
      resolve: (update) => update.previousStatus,
    }),
    refund: t.field({ type: RefundRef, resolve: (update) => update.refund }),
  }),
});

addAccountUpdates('REFUND', {
  typename: 'RefundUpdate',
  resource: 'refund',
  follow(context) {
    const { types } = assertReader(context);
    return {
      matches: (event) => event.resource === 'refund' && matchesFilter(event.snapshot, { types }),
      toItem: eventUpdate,
    };
  },
  assertOffered: ({ services }) => services.refunds.assertAnnounced(),
});

builder.subscriptionField('allRefundUpdates', (t) =>
  t.field({
    type: RefundUpdate,
    description: 'Every refund of the account; no first state, only changes.',
    args: {
      after: t.arg.string(),
      status: t.arg({ type: [RefundStatusEnum] }),
      filter: t.arg({ type: RefundFilterInput }),
    },
    subscribe: (_, { after, ...args }, context) => {
      const { types } = assertReader(context);
      const filter = { ...filterOf(args), types };
      context.services.refunds.assertAnnounced();
      return context.subscribe({
        topic: { resource: 'refund' },
        matches: (event) => event.resource === 'refund' && matchesFilter(event.snapshot, filter),
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
