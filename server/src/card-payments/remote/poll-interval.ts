import { plusMs } from '../../kernel/clock.ts';
import { type CardPayment, CHECKOUT_SESSION_MS } from '../model.ts';

const MINUTE_MS = 60_000;
/** So long after its expiry a payment may still be seen to be paid late; later than that, a webhook alone tells. */
const LATE_MS = 24 * 60 * MINUTE_MS;

/**
 * How often a payment that somebody follows is asked for, in milliseconds: a tenth of how long it has waited, so that a
 * fresh one is seen within seconds. Null where nothing that polling is for can come any more.
 */
export function pollInterval({ status, createdAt, expiresAt }: CardPayment, now: Date): number | null {
  if (status !== 'pending' && status !== 'expired' && status !== 'unknown') return null;
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
