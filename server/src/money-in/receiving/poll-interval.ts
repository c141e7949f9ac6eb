import { plusMs } from '../../kernel/clock.ts';
import { CHECKOUT_SESSION_MS } from '../checkout/model.ts';
import type { PaymentDetails } from './upstream-payment.ts';

const MINUTE_MS = 60_000;
/** The time after the expiry during which polling still finds a late payment; later only a webhook reports one. */
const LATE_MS = 24 * 60 * MINUTE_MS;

/** The statuses in which polling may find a change. */
export const POLLED_STATUSES: readonly PaymentDetails['status'][] = ['pending', 'expired', 'unknown'];

/**
 * The time until the next poll of a followed payment, in milliseconds: a tenth of the time it has waited, so that a
 * new one is seen within seconds. Null if polling has nothing left to find.
 */
export function pollInterval(
  { status, createdAt, expiresAt }: Pick<PaymentDetails, 'status' | 'createdAt' | 'expiresAt'>,
  now: Date,
): number | null {
  if (!POLLED_STATUSES.includes(status)) return null;
  const overMs = now.getTime() - expiresAt.getTime();
  if (overMs >= LATE_MS) return null;
  if (status === 'pending' && overMs < 0) {
    const ageMs = now.getTime() - (createdAt ?? plusMs(expiresAt, -CHECKOUT_SESSION_MS)).getTime();
    return between(3_000, ageMs / 10, MINUTE_MS);
  }
  return between(MINUTE_MS, overMs / 10, 10 * MINUTE_MS);
}

function between(least: number, value: number, most: number): number {
  return Math.round(Math.min(most, Math.max(least, value)));
}
