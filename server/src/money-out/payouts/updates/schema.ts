import { AccountUpdate, addAccountUpdates } from '../../../api/graphql/account-updates.ts';
import { builder, decodeGlobalID } from '../../../api/graphql/builder.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { NotFoundError, ValidationError } from '../../../kernel/errors.ts';
import type { StoredEvent } from '../../../state/events/event.ts';
import { PayoutStatusEnum } from '../enums-schema.ts';
import { isSettled, matchesFilter, type Payout } from '../model.ts';
import { filterOf, PayoutFilterInput, PayoutRef } from '../schema.ts';

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: Payout['status'] | null;
  payout: Payout;
}

const PayoutUpdate = builder.objectRef<Update>('PayoutUpdate').implement({
  interfaces: [AccountUpdate],
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: PayoutStatusEnum,
      nullable: true,
      resolve: (update) => update.previousStatus,
    }),
    payout: t.field({ type: PayoutRef, resolve: (update) => update.payout }),
  }),
});

addAccountUpdates('PAYOUT', {
  typename: 'PayoutUpdate',
  resource: 'payout',
  follow(context) {
    assertMay(callerOf(context), 'payouts.read');
    return { matches: isUnderFirstId, toItem: eventUpdate };
  },
});

builder.subscriptionFields((t) => ({
  payoutUpdates: t.field({
    type: PayoutUpdate,
    description:
      'The payout with this withdrawalId or `id`; give exactly one. Then each of its changes. The stream completes once the payout is final.',
    args: {
      id: t.arg.id({ description: 'The payout’s `id`, which a payout has from its request on.' }),
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
  const occurredAt = payout.returnedAt ?? payout.processedAt ?? payout.requestedAt ?? readAt;
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
