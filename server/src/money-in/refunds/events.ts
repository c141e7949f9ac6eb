import { type RefundSnapshot, type RefundStatus, refundFromJson } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    refund: {
      kind: `refund.${RefundStatus}`;
      previousStatus: RefundStatus | null;
      snapshot: RefundSnapshot;
    };
  }
}

export const refundSnapshots = { refund: refundFromJson };
