import type { StoredCardPayment } from '../model.ts';

/** The states of the payer's page. */
export type PageState = 'form' | 'processing' | 'paid' | 'failed' | 'expired' | 'refunded' | 'returned';

/**
 * Derives the state of the page. A charge that the acquirer has not decided comes first, even after the expiry: it
 * may still be approved, and nobody must pay again in the meantime. A payment is shown as expired before the task
 * that records it has run.
 */
export function pageState(payment: StoredCardPayment, now: Date): PageState {
  const undecided = payment.status === 'pending' || payment.status === 'expired';
  if (undecided && payment.openChargeId !== null) return 'processing';
  if (payment.returned) return 'returned';
  if (payment.status !== 'pending') return payment.status;
  return payment.expiresAt > now ? 'form' : 'expired';
}
