import { type DeliverySnapshot, deliveryFromJson } from './model.ts';

declare module '../../state/events/event.ts' {
  interface EventTypes {
    /** Content that a payment was given, or waits for. */
    delivery: {
      kind: 'delivery.delivered' | 'delivery.out_of_stock';
      previousStatus: null;
      snapshot: DeliverySnapshot;
    };
  }
}

export const deliverySnapshots = { delivery: deliveryFromJson };
