import type { StoredCardPayment } from '../model.ts';

/** What the payer's page shows of a payment. */
export type PageState = 'form' | 'processing' | 'paid' | 'failed' | 'expired' | 'refunded';

/**
 * A charge that the acquirer has not decided comes first, also after the expiry: it may still be approved, and
 * nobody must pay again meanwhile. What has run out is expired here before the task that records it has run.
 */
export function pageState(payment: StoredCardPayment, now: Date): PageState {
  const undecided = payment.status === 'pending' || payment.status === 'expired';
  if (undecided && payment.openChargeId !== null) return 'processing';
  if (payment.status !== 'pending') return payment.status;
  return payment.expiresAt > now ? 'form' : 'expired';
}

export function secondsLeft(payment: StoredCardPayment, now: Date): number {
  return Math.max(0, Math.ceil((payment.expiresAt.getTime() - now.getTime()) / 1000));
}
