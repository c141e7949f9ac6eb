import type { OrderStatus } from '../../kernel/orders.ts';
import type { Merged, UpstreamSource } from '../../kernel/upstream-source.ts';
import { mergeUpstreamLtc, type UpstreamLtcRequest } from '../ltc/upstream-request.ts';
import { mergeUpstreamPix, type UpstreamPixResource } from '../pix/upstream-resource.ts';
import type { PaymentMethod } from './methods.ts';
import type { Payment } from './model.ts';

/** A payment as the service shows it in a response or a webhook. Null: not shown. */
export interface UpstreamPayment extends UpstreamPixResource {
  paymentId: string;
  method?: PaymentMethod | 'unknown' | null;
  productId?: string | null;
  ltc?: UpstreamLtcRequest | null;
  subscriptionId?: string | null;
  orderStatus?: OrderStatus | null;
}

/** Merges the service's answer into the known payment, by `mergeUpstreamPix`. */
export function mergeUpstreamPayment(
  known: Payment | null,
  claim: UpstreamPayment,
  now: Date,
  source?: UpstreamSource,
): Merged<Payment> | null {
  return mergeUpstreamPix<Payment, 'orderStatus' | 'externalId'>(known, claim, now, {
    source,
    ownOf: ({ externalId }) => ({
      paymentId: claim.paymentId,
      externalId: externalId ?? null,
      // The method is PIX unless the service shows another: the document's event of a payment is about PIX.
      method: claim.method ?? known?.method ?? 'pix',
      productId: known?.productId ?? claim.productId ?? null,
      ltc: mergeUpstreamLtc(known?.ltc ?? null, claim.ltc ?? null),
      subscriptionId: known?.subscriptionId ?? claim.subscriptionId ?? null,
      ...orderOf(known, claim),
    }),
    announcedOf: ({ ltc, orderStatus = null }) => ({ ltc, orderStatus }),
  });
}

/**
 * The status of the order, which never goes back. Omitted if there is none, as in records of an earlier
 * version.
 */
function orderOf(known: Payment | null, claim: UpstreamPayment): Pick<Payment, 'orderStatus'> {
  const statuses = [known?.orderStatus, claim.orderStatus];
  const orderStatus =
    statuses.find((status) => status === 'refunded') ?? statuses.find((status) => status != null);
  return orderStatus ? { orderStatus } : {};
}
