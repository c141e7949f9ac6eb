import { CLOSED_ORDER } from '../../../api/checkout-page/closed-order.ts';
import type { HostedPix } from '../model.ts';

/** The states of the payer's page. */
export type PageState =
  | 'waiting'
  | 'pending'
  | 'expired'
  | 'paid_elsewhere'
  | 'order_refunded'
  | 'paid'
  | 'refunded'
  | 'failed';

/**
 * Derives the state of the page. A payment is shown as expired before the task that records it has run. If
 * another payment of the order was paid, the page must not lead anybody to pay this one too.
 */
export function pageState(
  {
    status,
    brCode,
    expiresAt,
    returned,
    canceledAt,
  }: Pick<HostedPix, 'status' | 'brCode' | 'expiresAt' | 'returned' | 'canceledAt'>,
  orderStatus: 'paid' | 'refunded' | null,
  now: Date,
): PageState {
  const undecided = status === 'pending' || status === 'expired';
  if (orderStatus && (undecided || returned)) return CLOSED_ORDER[orderStatus];
  // The page of a canceled payment says so, with the returned amount.
  if (returned) return canceledAt ? 'expired' : 'paid_elsewhere';
  if (!undecided) return status;
  if (status === 'expired' || expiresAt <= now) return 'expired';
  return brCode === null ? 'waiting' : 'pending';
}
