import { type Payment, paymentFromJson } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    /** A change of a payment, also inside a status: then `previousStatus` is the status itself. */
    payment: {
      kind: `payment.${Payment['status']}`;
      previousStatus: Payment['status'] | null;
      snapshot: Payment;
    };
  }
}

export const paymentSnapshots = { payment: paymentFromJson };
