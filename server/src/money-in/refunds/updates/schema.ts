import { builder } from '../../../api/graphql/builder.ts';
import { defineUpdates } from '../../../api/graphql/updates.ts';
import { RefundStatusEnum } from '../enums-schema.ts';
import { filterArguments, filterOf } from '../filter-schema.ts';
import { matchesFilter } from '../model.ts';
import { assertReader, RefundRef } from '../schema.ts';

const updates = defineUpdates({
  type: 'RefundUpdate',
  kind: 'REFUND',
  covers: 'Refunds of what the credential may read',
  resource: 'refund',
  title: 'Refund',
  status: RefundStatusEnum,
  fields: (t) => ({ refund: t.field({ type: RefundRef, resolve: ({ item }) => item }) }),
  authorize: assertReader,
  isVisible(context) {
    const { types } = assertReader(context);
    return ({ snapshot }) => matchesFilter(snapshot, { types });
  },
  assertOffered: ({ services }) => services.refunds.assertAnnounced(),
});

builder.subscriptionField('allRefundUpdates', (t) =>
  t.field({
    type: updates.type,
    description: 'Every refund of the account; no first state, only changes.',
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
);
