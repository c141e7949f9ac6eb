import { type CheckoutConnection, type CheckoutError, isFollowable } from './checkout-state.ts';
import type { PaymentChunk } from './chunks.ts';
import type { Transport } from './follow/transport.ts';
import type { CheckoutPayment } from './operations.ts';
import { methodOf, type PaymentAccess } from './storage.ts';

interface FollowingOptions {
  endpoint: string;
  transport: 'auto' | Transport;
  signal: AbortSignal;
  onConnection: (connection: CheckoutConnection, transport: Transport) => void;
}

/** Follows a payment until it can change no more, and returns undefined; or the error that a retry cannot resolve. */
export function followAccess(
  { followPayment }: PaymentChunk,
  { paymentKey, paymentToken: token }: PaymentAccess,
  options: FollowingOptions,
  onUpdate: (payment: CheckoutPayment) => void,
): Promise<CheckoutError | undefined> {
  return followPayment({
    ...options,
    token,
    method: methodOf(paymentKey),
    paymentKey,
    onUpdate(payment) {
      onUpdate(payment);
      return isFollowable(payment);
    },
  });
}
