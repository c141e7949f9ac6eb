import { builder, decodeGlobalID } from '../../../api/graphql/builder.ts';
import { defineUpdates, type EventOf } from '../../../api/graphql/updates.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { ValidationError } from '../../../kernel/errors.ts';
import { PayoutStatusEnum } from '../enums-schema.ts';
import { isSettled, matchesFilter } from '../model.ts';
import { filterOf, PayoutFilterInput, PayoutRef } from '../schema.ts';

const updates = defineUpdates({
  type: 'PayoutUpdate',
  kind: 'PAYOUT',
  covers: 'Payouts of the main account',
  resource: 'payout',
  title: 'Payout',
  status: PayoutStatusEnum,
  fields: (t) => ({ payout: t.field({ type: PayoutRef, resolve: ({ item }) => item }) }),
  authorize: (context) => assertMay(callerOf(context), 'payouts.read'),
  isVisible: () => isUnderFirstId,
  isOver: isSettled,
});

builder.subscriptionFields((t) => ({
  payoutUpdates: t.field({
    type: updates.type,
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
      const { payouts } = context.services;
      payouts.assertNames({ withdrawalId });
      const resourceId = id == null ? withdrawalId! : payoutIdIn(id);
      return updates.follow(context, resourceId, after, async () => {
        const found = await payouts.findWithVersion(caller.tenant, resourceId);
        if (!found) return null;
        const { version, payout } = found;
        const since = payout.returnedAt ?? payout.processedAt ?? payout.requestedAt;
        return { version, item: payout, since };
      });
    },
    resolve: (update) => update,
  }),
  allPayoutUpdates: t.field({
    type: updates.type,
    description: 'Every payout of the account; no first state, only changes.',
    args: { after: t.arg.string(), filter: t.arg({ type: PayoutFilterInput }) },
    subscribe: (_, { after, ...args }, context) =>
      updates.followAll(context, after, () => {
        const filter = filterOf(args.filter ?? {});
        return ({ snapshot }) => matchesFilter(snapshot, filter);
      }),
    resolve: (update) => update,
  }),
}));

/** The id of a payout in a global id. @throws ValidationError if that is of another type */
function payoutIdIn(globalId: string): string {
  const { typename, id } = decodeGlobalID(globalId);
  if (typename !== 'Payout')
    throw new ValidationError([{ path: 'id', message: 'is not the id of a payout' }]);
  return id;
}

/**
 * Whether an event has its payout's first id: a payout that was in doubt has an event for each of its two
 * ids.
 */
function isUnderFirstId({ resourceId, snapshot: { withdrawalId, requestId } }: EventOf<'payout'>): boolean {
  return resourceId === (withdrawalId ?? requestId);
}
