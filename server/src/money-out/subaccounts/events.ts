import {
  type StoredStatementEntry,
  type StoredSubaccount,
  type SubaccountPayout,
  type SubaccountSnapshot,
  subaccountFromJson,
  subaccountPayoutFromJson,
} from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    /** A subaccount was opened, or its balance has moved: one event for each entry of its statement. */
    subaccount: {
      kind: 'subaccount.opened' | 'subaccount.moved';
      previousStatus: null;
      snapshot: SubaccountSnapshot;
    };
    subaccount_payout: {
      kind: `subaccount_payout.${SubaccountPayout['status'] | 'reversed'}`;
      previousStatus: SubaccountPayout['status'] | null;
      snapshot: SubaccountPayout;
    };
  }
}

export const subaccountSnapshots = {
  subaccount: subaccountFromJson,
  subaccount_payout: subaccountPayoutFromJson,
};

/** The event of a subaccount that was opened, or whose balance an entry has moved. */
export function subaccountEvent(subaccount: StoredSubaccount, entry: StoredStatementEntry | null) {
  return {
    kind: entry ? ('subaccount.moved' as const) : ('subaccount.opened' as const),
    resource: 'subaccount' as const,
    resourceId: subaccount.id,
    previousStatus: null,
    snapshot: { subaccount, entry },
  };
}
