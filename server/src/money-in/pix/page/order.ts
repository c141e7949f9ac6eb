import type { PagePayment } from '../../../api/checkout-page/layout.ts';
import { returnUrl } from '../../../api/checkout-page/return-url.ts';
import type { DeliveredContent } from '../../receiving/model.ts';
import type { HostedPix } from '../model.ts';

/** The resource that a PIX code pays, with what its page shows beside it. */
export interface Order extends PagePayment {
  accountId: string;
  payment: HostedPix;
  orderStatus: 'paid' | 'refunded' | null;
  delivered: readonly DeliveredContent[];
}

/** The shop's address for a payer who has paid. */
export function successUrlOf({ successUrl, id }: HostedPix): string | null {
  return returnUrl(successUrl, { psa_payment_id: id });
}

/** The shop's address for a payer who has not paid. */
export function cancelUrlOf({ cancelUrl, id }: HostedPix): string | null {
  return returnUrl(cancelUrl, { psa_payment_id: id });
}
