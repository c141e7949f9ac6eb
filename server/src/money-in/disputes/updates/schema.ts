import { builder } from '../../../api/graphql/builder.ts';
import { defineUpdates } from '../../../api/graphql/updates.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { DisputeStatusEnum } from '../enums-schema.ts';
import { filterArguments, filterOf } from '../filter-schema.ts';
import { isFinal, matchesFilter } from '../model.ts';
import { DisputeRef } from '../schema.ts';

const updates = defineUpdates({
  type: 'DisputeUpdate',
  description: 'A change of a dispute: of its status, or of its evidence.',
  kind: 'DISPUTE',
  covers: 'Disputes',
  resource: 'dispute',
  title: 'Dispute',
  status: DisputeStatusEnum,
  keepsStatus: true,
  fields: (t) => ({ dispute: t.field({ type: DisputeRef, resolve: ({ item }) => item }) }),
  authorize: (context) => assertMay(callerOf(context), 'disputes.read'),
  isOver: ({ status }) => isFinal(status),
});

builder.subscriptionFields((t) => ({
  disputeUpdates: t.field({
    type: updates.type,
    description:
      'The dispute, then each of its changes. The stream completes at WON or FORGIVEN, and stays open at LOST: the amount may be forgiven.',
    args: { disputeId: t.arg.string({ required: true }), after: t.arg.string() },
    subscribe: (_, { disputeId, after }, context) => {
      const caller = callerOf(context);
      return updates.follow(context, disputeId, after, async () => {
        assertMay(caller, 'disputes.read');
        const { disputes } = context.services;
        disputes.assertId(disputeId);
        const found = await disputes.findWithVersion(caller.tenant, disputeId);
        if (!found) return null;
        const { version, resource: dispute } = found;
        // The decision, the last evidence, or the opening.
        const since = dispute.closedAt ?? dispute.evidence.at(-1)?.submittedAt ?? dispute.createdAt;
        return { version, item: dispute, since };
      });
    },
    resolve: (update) => update,
  }),
  allDisputeUpdates: t.field({
    type: updates.type,
    description: 'Every dispute of the account; no first state, only changes.',
    args: {
      after: t.arg.string(),
      ...filterArguments(t.arg),
    },
    subscribe: (_, { after, ...args }, context) =>
      updates.followAll(context, after, () => {
        const filter = filterOf(args);
        return ({ snapshot }) => matchesFilter(snapshot, filter);
      }),
    resolve: (update) => update,
  }),
}));
