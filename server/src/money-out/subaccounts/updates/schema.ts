import { AccountUpdate, addAccountUpdates } from '../../../api/graphql/account-updates.ts';
import { builder } from '../../../api/graphql/builder.ts';
import { OTHER_CHANGES } from '../../../api/graphql/common-descriptions.ts';
import { assertMay, callerOf } from '../../../kernel/caller.ts';
import { NotFoundError } from '../../../kernel/errors.ts';
import type { StoredEvent } from '../../../state/events/event.ts';
import { matchesFilter, type StatementEntry, type StatementFilter, type Subaccount } from '../model.ts';
import { anySubaccountId } from '../names.ts';
import {
  StatementEntryRef,
  StatementFilterInput,
  SubaccountRef,
  statementFilterOf,
} from '../subaccount-schema.ts';
import './payouts-schema.ts';

interface Update {
  cursor: string;
  occurredAt: Date;
  subaccount: Subaccount;
  entry: StatementEntry | null;
}

const SubaccountUpdate = builder.objectRef<Update>('SubaccountUpdate').implement({
  interfaces: [AccountUpdate],
  description: 'A subaccount was opened, or one entry of its statement has moved its balance.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', {
      type: 'DateTime',
      description: 'The time of the change; in the first state, the time at which it was read.',
    }),
    subaccount: t.field({
      type: SubaccountRef,
      description: 'The subaccount with its balance right after this change.',
      resolve: (update) => update.subaccount,
    }),
    entry: t.field({
      type: StatementEntryRef,
      nullable: true,
      description:
        'The new entry of the statement: each comes in one update, in the order of the statement. Null in a first state, and in the update that reports the opening.',
      resolve: (update) => update.entry,
    }),
  }),
});

addAccountUpdates('SUBACCOUNT', {
  typename: 'SubaccountUpdate',
  resource: 'subaccount',
  follow(context) {
    assertMay(callerOf(context), 'subaccounts.read');
    return { toItem: eventUpdate };
  },
  assertOffered: ({ services }) => services.subaccounts.assertAnnounced(),
});

const IN_FRONT = 'In remote mode: NOT_OFFERED.';

builder.subscriptionFields((t) => ({
  subaccountUpdates: t.field({
    type: SubaccountUpdate,
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
      return context.subscribe<Update>({
        topic: { resource: 'subaccount', resourceId: subaccountId },
        after,
        async begin() {
          const found = await subaccounts.findWithVersion(caller.tenant, subaccountId);
          if (!found) throw new NotFoundError('Subaccount not found');
          const { version, subaccount } = found;
          const occurredAt = context.clock.now();
          return {
            version,
            first: (cursor) => ({ cursor, occurredAt, subaccount, entry: null }),
            isOver: false,
          };
        },
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
  allSubaccountUpdates: t.field({
    type: SubaccountUpdate,
    description: `Every subaccount of the account, as it is opened and as its balance changes; no first state, only changes. ${IN_FRONT}`,
    args: {
      after: t.arg.string(),
      filter: t.arg({
        type: StatementFilterInput,
        description: `Selects changes by an entry that fulfils the conditions. If omitted or empty, every change is sent, openings too. ${OTHER_CHANGES}`,
      }),
    },
    subscribe: (_, { after, ...args }, context) => {
      assertMay(callerOf(context), 'subaccounts.read');
      const filter = statementFilterOf(args.filter);
      context.services.subaccounts.assertAnnounced();
      return context.subscribe({
        topic: { resource: 'subaccount' },
        matches: (event) => isSelected(event, filter),
        after,
        toItem: eventUpdate,
        isLast: () => false,
      });
    },
    resolve: (update) => update,
  }),
}));

function isSelected(event: StoredEvent, filter: StatementFilter | undefined): boolean {
  if (event.resource !== 'subaccount') return false;
  const { entry } = event.snapshot;
  return filter === undefined || (entry !== null && matchesFilter(entry, filter));
}

/** An update with the state at the time of the change. */
function eventUpdate(event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'subaccount') throw new TypeError(`${event.kind} is not a subaccount's event`);
  return { cursor, occurredAt: event.occurredAt, ...event.snapshot };
}
