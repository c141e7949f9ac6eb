import { type CardPayment, cardPaymentFromJson } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    card_payment: {
      kind: `card_payment.${CardPayment['status']}`;
      previousStatus: CardPayment['status'] | null;
      snapshot: CardPayment;
    };
  }
}

export const cardPaymentSnapshots = { card_payment: cardPaymentFromJson };
