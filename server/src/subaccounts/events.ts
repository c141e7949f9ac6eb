import { type SubaccountPayout, subaccountPayoutFromJson } from './model.ts';

declare module '../events/event.ts' {
  interface EventTypes {
    subaccount_payout: {
      kind: `subaccount_payout.${SubaccountPayout['status'] | 'reversed'}`;
      previousStatus: SubaccountPayout['status'] | null;
      snapshot: SubaccountPayout;
    };
  }
}

export const subaccountSnapshots = { subaccount_payout: subaccountPayoutFromJson };
