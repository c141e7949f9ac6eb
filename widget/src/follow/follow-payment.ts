import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import type { CheckoutPayment } from '../operations.ts';
import {
  assertPayment,
  MALFORMED,
  OPERATIONS,
  type PaymentAnswer,
  type PaymentOptions,
  paymentIn,
  readPayment,
} from '../request.ts';
import { follow } from './follow.ts';
import type { Transport } from './transport.ts';

export interface FollowPaymentOptions extends PaymentOptions {
  signal: AbortSignal;
  transport: 'auto' | Transport;
  onUpdate: (payment: CheckoutPayment) => void;
  onConnection: (connection: CheckoutConnection, transport: Transport) => void;
}

/**
 * Follows a payment until `signal` is aborted. Returns early only with an error that a retry cannot resolve, such as an
 * update that is no payment.
 */
export async function followPayment(options: FollowPaymentOptions): Promise<CheckoutError | undefined> {
  const malformed = new AbortController();
  const { updates, id } = OPERATIONS[options.method];
  const error = await follow<PaymentAnswer>({
    ...options,
    query: updates,
    variables: { [id]: options.orderCode },
    signal: AbortSignal.any([options.signal, malformed.signal]),
    read: async () => {
      try {
        return { payment: await readPayment(options) };
      } catch (thrown) {
        if (thrown === MALFORMED) malformed.abort();
        throw thrown;
      }
    },
    onUpdate(update) {
      let payment: CheckoutPayment;
      try {
        payment = assertPayment(paymentIn(update) as CheckoutPayment);
      } catch {
        return malformed.abort();
      }
      options.onUpdate(payment);
    },
  });
  return malformed.signal.aborted ? MALFORMED : error;
}
