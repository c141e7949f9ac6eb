import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import type { CheckoutPayment } from '../operations.ts';
import {
  assertPayment,
  MALFORMED,
  OPERATIONS,
  type PaymentAnswer,
  type PaymentOptions,
  readAnswer,
} from '../request.ts';
import { follow } from './follow.ts';
import type { Transport } from './transport.ts';

export interface FollowPaymentOptions extends PaymentOptions {
  signal: AbortSignal;
  transport: 'auto' | Transport;
  /** Called with each update; returns false if the payment can change no more. */
  onUpdate: (payment: CheckoutPayment) => unknown;
  onConnection: (connection: CheckoutConnection, transport: Transport) => void;
}

/**
 * Follows a payment until `signal` is aborted or the payment can change no more. Returns early only with an error that a
 * retry cannot resolve, such as an update that is no payment.
 */
export async function followPayment(options: FollowPaymentOptions): Promise<CheckoutError | undefined> {
  const over = new AbortController();
  const { updates, id } = OPERATIONS[options.method];
  const error = await follow<PaymentAnswer>({
    ...options,
    query: updates,
    variables: { [id]: options.paymentKey },
    signal: AbortSignal.any([options.signal, over.signal]),
    read: () => readAnswer(options),
    onUpdate(update) {
      let payment: CheckoutPayment;
      try {
        payment = assertPayment(update);
      } catch {
        return over.abort(MALFORMED);
      }
      if (options.onUpdate(payment) === false) over.abort();
    },
  });
  return over.signal.reason === MALFORMED ? MALFORMED : error;
}
