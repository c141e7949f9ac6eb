import type { Shown } from '../../checkout-page/layout.ts';
import { returnUrl } from '../../checkout-page/return-url.ts';
import type { StoredPayment } from '../model.ts';

/** A PIX payment with what its page shows beside it. */
export interface Order extends Shown {
  payment: StoredPayment;
  paidElsewhere: boolean;
}

/** The shop's address for a payer who has paid. */
export function successUrlOf({ successUrl, paymentId }: StoredPayment): string | null {
  return returnUrl(successUrl, { psa_payment_id: paymentId });
}

/** The shop's address for a payer who has not paid. */
export function cancelUrlOf({ cancelUrl, paymentId }: StoredPayment): string | null {
  return returnUrl(cancelUrl, { psa_payment_id: paymentId });
}
