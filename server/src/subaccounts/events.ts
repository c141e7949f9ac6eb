import {
  type SubaccountPayout,
  type SubaccountSnapshot,
  subaccountFromJson,
  subaccountPayoutFromJson,
} from './model.ts';

declare module '../events/event.ts' {
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
