import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { CARD_PAYMENT_UPDATES, type CardPayment } from '../operations.ts';
import { type RequestOptions, readPayment } from '../request.ts';
import { follow } from './follow.ts';
import type { Transport } from './transport.ts';

export interface FollowPaymentOptions extends RequestOptions {
  orderCode: string;
  transport: 'auto' | Transport;
  onUpdate: (update: { cardPayment: CardPayment }) => void;
  onConnection: (connection: CheckoutConnection, transport: Transport) => void;
}

/** Follows a payment until `signal` is aborted. Returns early only with an error that no other try can mend. */
export function followPayment(options: FollowPaymentOptions): Promise<CheckoutError | undefined> {
  return follow({
    ...options,
    query: CARD_PAYMENT_UPDATES,
    variables: { orderCode: options.orderCode },
    read: () => readPayment(options),
  });
}
