import type { Shown } from '../../checkout-page/layout.ts';
import { returnUrl } from '../../checkout-page/return-url.ts';
import type { DeliveredContent, HostedPix } from '../model.ts';

/** The resource that a PIX code pays, with what its page shows beside it. */
export interface Order extends Shown {
  accountId: string;
  payment: HostedPix;
  paidElsewhere: boolean;
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
