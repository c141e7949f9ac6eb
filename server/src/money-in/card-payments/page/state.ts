import { CLOSED_ORDER } from '../../../api/checkout-page/closed-order.ts';
import type { StoredCardPayment } from '../model.ts';

/** The states of the payer's page. */
export type PageState =
  | 'form'
  | 'processing'
  | 'paid'
  | 'failed'
  | 'expired'
  | 'refunded'
  | 'paid_elsewhere'
  | 'order_refunded';

/**
 * Derives the state of the page. A charge that the acquirer has not decided comes first, even after the
 * expiry: it may still be approved, and nobody must pay twice in the meantime. A payment is shown as expired
 * before the task that records it has run. No card is taken for an order that another payment has paid, and
 * one that was charged for it is returned.
 */
export function pageState(
  payment: StoredCardPayment,
  orderStatus: 'paid' | 'refunded' | null,
  now: Date,
): PageState {
  const undecided = payment.status === 'pending' || payment.status === 'expired';
  if (undecided && payment.openChargeId !== null) return 'processing';
  if (orderStatus && (undecided || payment.returned)) return CLOSED_ORDER[orderStatus];
  // The page of a canceled payment says so, with the returned amount.
  if (payment.returned) return payment.canceledAt ? 'expired' : 'paid_elsewhere';
  if (payment.status !== 'pending') return payment.status;
  return payment.expiresAt > now ? 'form' : 'expired';
}
