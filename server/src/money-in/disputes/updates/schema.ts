import { AccountUpdate, addAccountUpdates } from '../../../api/graphql/account-updates.ts';
import { builder } from '../../../api/graphql/builder.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { NotFoundError } from '../../../kernel/errors.ts';
import type { StoredEvent } from '../../../state/events/event.ts';
import { DisputeFilterInput, filterOf } from '../filter-schema.ts';
import { type Dispute, isFinal, matchesFilter } from '../model.ts';
import { DisputeRef, DisputeStatusEnum } from '../schema.ts';

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: Dispute['status'] | null;
  dispute: Dispute;
}

const DisputeUpdate = builder.objectRef<Update>('DisputeUpdate').implement({
  interfaces: [AccountUpdate],
  description: 'A change of a dispute: of its status, or of its evidence.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: DisputeStatusEnum,
      nullable: true,
      description:
        'The status before the change, or the current status if another member has changed; null in a first state.',
      resolve: (update) => update.previousStatus,
    }),
    dispute: t.field({ type: DisputeRef, resolve: (update) => update.dispute }),
  }),
});

addAccountUpdates('DISPUTE', {
  typename: 'DisputeUpdate',
  resource: 'dispute',
  follow(context) {
    assertMay(callerOf(context), 'disputes.read');
    return { toItem: eventUpdate };
  },
});

builder.subscriptionFields((t) => ({
  disputeUpdates: t.field({
    type: DisputeUpdate,
    description:
      'The dispute, then each of its changes. The stream completes at WON or FORGIVEN, and stays open at LOST: the amount may be forgiven.',
    args: { disputeId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { disputeId, after }, context) => {
      const caller = callerOf(context);
      const begin = async () => {
        assertMay(caller, 'disputes.read');
        const { disputes } = context.services;
        disputes.assertId(disputeId);
        const found = await disputes.findWithVersion(caller.tenant, disputeId);
        if (!found) throw new NotFoundError('Dispute not found');
        const { version, resource: dispute } = found;
        return {
          version,
          first: (cursor: string) => stateUpdate(dispute, cursor, context.clock.now()),
          isOver: isFinal(dispute.status),
        };
      };
      return context.subscribe({
        topic: { resource: 'dispute', resourceId: disputeId },
        after,
        begin,
        toItem: eventUpdate,
        isLast: (event) => event.resource === 'dispute' && isFinal(event.snapshot.status),
      });
    },
    resolve: (update) => update,
  }),
  allDisputeUpdates: t.field({
    type: DisputeUpdate,
    description: 'Every dispute of the account; no first state, only changes.',
    args: {
      after: t.arg.string(),
      status: t.arg({ type: [DisputeStatusEnum] }),
      filter: t.arg({ type: DisputeFilterInput }),
    },
    subscribe: (_, { after, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'disputes.read');
      const filter = filterOf(args);
      return context.subscribe({
        topic: { resource: 'dispute' },
        matches: (event) => event.resource === 'dispute' && matchesFilter(event.snapshot, filter),
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
}));

/** A first state: when it was decided, or opened, or, where the service reports neither, when it was read. */
function stateUpdate(dispute: Dispute, cursor: string, readAt: Date): Update {
  const occurredAt = dispute.closedAt ?? dispute.evidence.at(-1)?.submittedAt ?? dispute.createdAt ?? readAt;
  return { cursor, occurredAt, previousStatus: null, dispute };
}

/** An update with the state at the time of the change. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'dispute') throw new TypeError(`${event.kind} is not a dispute's event`);
  const { occurredAt, previousStatus, snapshot } = event;
  return { cursor, occurredAt, previousStatus, dispute: snapshot };
}
