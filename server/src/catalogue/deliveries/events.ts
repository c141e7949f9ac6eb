import { type DeliverySnapshot, deliveryFromJson } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    /** Content that was delivered to a payment, or for which it waits. */
    delivery: {
      kind: 'delivery.delivered' | 'delivery.out_of_stock';
      previousStatus: null;
      snapshot: DeliverySnapshot;
    };
  }
}

export const deliverySnapshots = { delivery: deliveryFromJson };
