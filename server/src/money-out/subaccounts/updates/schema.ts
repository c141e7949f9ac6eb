import { builder } from '../../../api/graphql/builder.ts';
import { OTHER_CHANGES } from '../../../api/graphql/common-descriptions.ts';
import { defineUpdates } from '../../../api/graphql/updates.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { StatementFilterInput, statementFilterOf } from '../filter-schema.ts';
import { matchesFilter } from '../model.ts';
import { anySubaccountId } from '../names.ts';
import { StatementEntryRef, SubaccountRef } from '../subaccount-schema.ts';
import './payouts-schema.ts';

const updates = defineUpdates({
  type: 'SubaccountUpdate',
  description: 'A subaccount was opened, or one entry of its statement has moved its balance.',
  kind: 'SUBACCOUNT',
  covers: 'Subaccounts: their balances, and each entry of their statements',
  resource: 'subaccount',
  title: 'Subaccount',
  isDatedByReading: true,
  fields: (t) => ({
    subaccount: t.field({
      type: SubaccountRef,
      description: 'The subaccount with its balance right after this change.',
      resolve: ({ item }) => item.subaccount,
    }),
    entry: t.field({
      type: StatementEntryRef,
      nullable: true,
      description:
        'The new entry of the statement: each comes in one update, in the order of the statement. Null in a first state, and in the update that reports the opening.',
      resolve: ({ item }) => item.entry,
    }),
  }),
  authorize: (context) => assertMay(callerOf(context), 'subaccounts.read'),
  assertOffered: ({ services }) => services.subaccounts.assertAnnounced(),
});

const IN_FRONT = 'In remote mode: NOT_OFFERED.';

builder.subscriptionFields((t) => ({
  subaccountUpdates: t.field({
    type: updates.type,
    description: `The subaccount, then each change of its balance with the entry of its statement. Every entry comes once: none is omitted for a slow client. ${IN_FRONT}`,
    args: {
      subaccountId: t.arg.string({ required: true, validate: { schema: anySubaccountId } }),
      after: t.arg.string(),
    },
    subscribe: (_, { subaccountId, after }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subaccounts.read');
      const { subaccounts } = context.services;
      subaccounts.assertAnnounced();
      subaccounts.assertNames({ subaccountId });
      return updates.follow(context, subaccountId, after, async () => {
        const found = await subaccounts.findWithVersion(caller.tenant, subaccountId);
        if (!found) return null;
        const { version, resource: subaccount } = found;
        return { version, item: { subaccount, entry: null }, since: null };
      });
    },
    resolve: (update) => update,
  }),
  allSubaccountUpdates: t.field({
    type: updates.type,
    description: `Every subaccount of the account, as it is opened and as its balance changes; no first state, only changes. ${IN_FRONT}`,
    args: {
      after: t.arg.string(),
      filter: t.arg({
        type: StatementFilterInput,
        description: `Selects changes by an entry that fulfils the conditions. If omitted or empty, every change is sent, openings too. ${OTHER_CHANGES}`,
      }),
    },
    subscribe: (_, { after, ...args }, context) =>
      updates.followAll(context, after, () => {
        const filter = statementFilterOf(args.filter);
        return ({ snapshot: { entry } }) =>
          filter === undefined || (entry !== null && matchesFilter(entry, filter));
      }),
    resolve: (update) => update,
  }),
}));
