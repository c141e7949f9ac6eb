import { type Payout, payoutFromJson } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    payout: {
      kind: `payout.${Payout['status']}`;
      previousStatus: Payout['status'] | null;
      snapshot: Payout;
    };
  }
}

export const payoutSnapshots = { payout: payoutFromJson };
