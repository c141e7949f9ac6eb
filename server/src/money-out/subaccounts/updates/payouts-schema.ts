import { AccountUpdate, addAccountUpdates } from '../../../api/graphql/account-updates.ts';
import { builder } from '../../../api/graphql/builder.ts';
import type { Context } from '../../../api/graphql/context.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { NotFoundError } from '../../../kernel/errors.ts';
import type { StoredEvent } from '../../../state/events/event.ts';
import { isSettled, matchesPayoutFilter, type SubaccountPayout } from '../model.ts';
import { anyPayoutReference, anySubaccountId } from '../names.ts';
import {
  payoutFilterOf,
  REFERENCE_FORMS,
  SubaccountPayoutFilterInput,
  SubaccountPayoutRef,
  SubaccountPayoutStatusEnum,
} from '../schema.ts';

interface Update {
  cursor: string;
  occurredAt: Date;
  previousStatus: SubaccountPayout['status'] | null;
  payout: SubaccountPayout;
}

const SubaccountPayoutUpdate = builder.objectRef<Update>('SubaccountPayoutUpdate').implement({
  interfaces: [AccountUpdate],
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime' }),
    previousStatus: t.field({
      type: SubaccountPayoutStatusEnum,
      nullable: true,
      resolve: (update) => update.previousStatus,
    }),
    subaccountPayout: t.field({ type: SubaccountPayoutRef, resolve: (update) => update.payout }),
  }),
});

addAccountUpdates('SUBACCOUNT_PAYOUT', {
  ...{ typename: 'SubaccountPayoutUpdate', resource: 'subaccount_payout' },
  follow(context) {
    assertMay(callerOf(context), 'subaccount_payouts.read');
    return { matches: isUnderItsId, toItem: eventUpdate };
  },
});

builder.subscriptionFields((t) => ({
  subaccountPayoutUpdates: t.field({
    type: SubaccountPayoutUpdate,
    description: `The payout with a reference: ${REFERENCE_FORMS}; then each of its changes. The stream completes at COMPLETED, or at FAILED once it is reversed.`,
    args: {
      subaccountId: t.arg.string({ required: true, validate: { schema: anySubaccountId } }),
      reference: t.arg.string({ required: true, validate: { schema: anyPayoutReference } }),
      after: t.arg.string(),
    },
    subscribe: async (_, { subaccountId, reference, after }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccount_payouts.read');
      context.services.subaccounts.assertNames({ subaccountId, reference });
      const found = await context.services.subaccounts.findPayoutWithVersion(
        caller.tenant,
        subaccountId,
        reference,
      );
      if (!found) throw new NotFoundError('Payout not found');
      const { version, id, payout } = found;
      return context.subscribe({
        topic: { resource: 'subaccount_payout', resourceId: id },
        after,
        begin: async () => ({
          version,
          first: (cursor: string) => stateUpdate(payout, cursor),
          isOver: isSettled(payout),
        }),
        toItem: eventUpdate,
        isLast: (event) => event.resource === 'subaccount_payout' && isSettled(event.snapshot),
      });
    },
    resolve: withClearedLoaders,
  }),
  allSubaccountPayoutUpdates: t.field({
    type: SubaccountPayoutUpdate,
    description: 'Every payout of one subaccount, or of all; no first state, only changes.',
    args: {
      subaccountId: t.arg.string({ validate: { schema: anySubaccountId } }),
      after: t.arg.string(),
      status: t.arg({ type: [SubaccountPayoutStatusEnum] }),
      filter: t.arg({ type: SubaccountPayoutFilterInput }),
    },
    subscribe: async (_, { subaccountId, after, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccount_payouts.read');
      const filter = payoutFilterOf(args);
      context.services.subaccounts.assertNames({ subaccountId });
      if (subaccountId != null && !(await context.services.subaccounts.find(caller.tenant, subaccountId)))
        throw new NotFoundError('Subaccount not found');
      return context.subscribe({
        topic: { resource: 'subaccount_payout' },
        matches: (event) =>
          event.resource === 'subaccount_payout' &&
          isUnderItsId(event) &&
          (subaccountId == null || event.snapshot.subaccountId === subaccountId) &&
          matchesPayoutFilter(event.snapshot, filter),
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: withClearedLoaders,
  }),
}));

/** Whether an event is under its payout's id, and not under the one that it had before its request was known. */
function isUnderItsId(event: StoredEvent): boolean {
  return event.resource === 'subaccount_payout' && event.resourceId === event.snapshot.id;
}

/** Clears the subaccounts that an earlier update has loaded: a subscription has one context for all its updates. */
function withClearedLoaders(update: Update, _: unknown, { loaders }: Context): Update {
  loaders.subaccount.clearAll();
  return update;
}

function stateUpdate(payout: SubaccountPayout, cursor: string): Update {
  const occurredAt = payout.reversedAt ?? payout.completedAt ?? payout.createdAt;
  return { cursor, occurredAt, previousStatus: null, payout };
}

/** An event as an update, with the state after that change, not today's. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'subaccount_payout')
    throw new TypeError(`${event.kind} is not a subaccount payout's event`);
  const { occurredAt, previousStatus, snapshot } = event;
  return { cursor, occurredAt, previousStatus, payout: snapshot };
}
