import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { CARD_PAYMENT_UPDATES, type CardPayment } from '../operations.ts';
import { assertPayment, MALFORMED, type RequestOptions, readPayment } from '../request.ts';
import { follow } from './follow.ts';
import type { Transport } from './transport.ts';

export interface FollowPaymentOptions extends RequestOptions {
  orderCode: string;
  transport: 'auto' | Transport;
  onUpdate: (update: { cardPayment: CardPayment }) => void;
  onConnection: (connection: CheckoutConnection, transport: Transport) => void;
}

/**
 * Follows a payment until `signal` is aborted. Returns early only with an error that a retry cannot resolve, such as an
 * update that is no payment.
 */
export async function followPayment(options: FollowPaymentOptions): Promise<CheckoutError | undefined> {
  const malformed = new AbortController();
  const error = await follow({
    ...options,
    query: CARD_PAYMENT_UPDATES,
    variables: { orderCode: options.orderCode },
    signal: AbortSignal.any([options.signal, malformed.signal]),
    read: () =>
      readPayment(options).catch((thrown) => {
        if (thrown === MALFORMED) malformed.abort();
        throw thrown;
      }),
    onUpdate(update: { cursor: string; cardPayment: CardPayment }) {
      try {
        assertPayment(update.cardPayment);
      } catch {
        return malformed.abort();
      }
      options.onUpdate(update);
    },
  });
  return malformed.signal.aborted ? MALFORMED : error;
}
