import { builder } from '../../../api/graphql/builder.ts';
import type { Context } from '../../../api/graphql/context.ts';
import { defineUpdates } from '../../../api/graphql/updates.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { NotFoundError } from '../../../kernel/errors.ts';
import { SubaccountPayoutStatusEnum } from '../enums-schema.ts';
import { payoutFilterArguments, payoutFilterOf } from '../filter-schema.ts';
import { isSettled, matchesPayoutFilter } from '../model.ts';
import { anyPayoutReference, anySubaccountId } from '../names.ts';
import { REFERENCE_FORMS, SubaccountPayoutRef } from '../schema.ts';

const updates = defineUpdates({
  type: 'SubaccountPayoutUpdate',
  kind: 'SUBACCOUNT_PAYOUT',
  covers: 'Payouts of subaccounts',
  resource: 'subaccount_payout',
  title: 'Payout',
  status: SubaccountPayoutStatusEnum,
  fields: (t) => ({
    subaccountPayout: t.field({ type: SubaccountPayoutRef, resolve: ({ item }) => item }),
  }),
  authorize: (context) => assertMay(callerOf(context), 'subaccount_payouts.read'),
  // A payout has another id before its request is known: an event under that one is not visible.
  isVisible:
    () =>
    ({ resourceId, snapshot }) =>
      resourceId === snapshot.id,
  isOver: isSettled,
});

builder.subscriptionFields((t) => ({
  subaccountPayoutUpdates: t.field({
    type: updates.type,
    description: `The payout with a reference: ${REFERENCE_FORMS}; then each of its changes. The stream completes at COMPLETED, or at FAILED once it is reversed.`,
    args: {
      subaccountId: t.arg.string({ required: true, validate: { schema: anySubaccountId } }),
      reference: t.arg.string({ required: true, validate: { schema: anyPayoutReference } }),
      after: t.arg.string(),
    },
    subscribe: async (_, { subaccountId, reference, after }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccount_payouts.read');
      const { subaccounts } = context.services;
      subaccounts.assertNames({ subaccountId, reference });
      const found = await subaccounts.findPayoutWithVersion(caller.tenant, subaccountId, reference);
      if (!found) throw new NotFoundError('Payout not found');
      const { version, id, payout } = found;
      const since = payout.reversedAt ?? payout.completedAt ?? payout.createdAt;
      return updates.follow(context, id, after, async () => ({ version, item: payout, since }));
    },
    resolve: withClearedLoaders,
  }),
  allSubaccountPayoutUpdates: t.field({
    type: updates.type,
    description: 'Every payout of one subaccount, or of all; no first state, only changes.',
    args: {
      subaccountId: t.arg.string({ validate: { schema: anySubaccountId } }),
      after: t.arg.string(),
      ...payoutFilterArguments(t.arg),
    },
    subscribe: async (_, { subaccountId, after, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccount_payouts.read');
      const filter = payoutFilterOf(args);
      const { subaccounts } = context.services;
      subaccounts.assertNames({ subaccountId });
      if (subaccountId != null && !(await subaccounts.find(caller.tenant, subaccountId)))
        throw new NotFoundError('Subaccount not found');
      return updates.followAll(
        context,
        after,
        () =>
          ({ snapshot }) =>
            (subaccountId == null || snapshot.subaccountId === subaccountId) &&
            matchesPayoutFilter(snapshot, filter),
      );
    },
    resolve: withClearedLoaders,
  }),
}));

/**
 * Drops the subaccounts that an earlier update has loaded: a subscription has one context for all its
 * updates.
 */
function withClearedLoaders<Update>(update: Update, _: unknown, { loaders }: Context): Update {
  loaders.subaccount.clearAll();
  return update;
}
