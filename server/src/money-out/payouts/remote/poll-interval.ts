import { leavesUnconfirmed, type Payout } from '../model.ts';

/** The shortest interval, for payouts that are known to have changed. */
export const CHANGED_MS = 1_000;
/** The age up to which a payout is polled most often. */
const FRESH_MS = 10 * 60_000;
const UNCONFIRMED_MS = 2_000;
export const EACH_FRESH_MS = 5_000;
const LONGEST_MS = 60_000;
/** The interval of a payout of unknown age. */
const AGELESS_MS = 15_000;
/** The interval if all payouts are followed and none is open: a payout may be requested elsewhere. */
const IDLE_MS = 30_000;

/** The milliseconds until the next poll: the interval of the most urgent open payout. */
export function pollInterval(open: readonly Payout[], now: Date): number {
  return Math.min(...(open.length === 0 ? [IDLE_MS] : open.map((payout) => intervalOf(payout, now))));
}

/**
 * The interval of one payout. A service need not report by webhook that money left unconfirmed, so such a
 * payout is polled more often. The interval grows with age: in ten minutes to 10 s and in an hour to 60 s.
 */
function intervalOf({ method, requestedAt }: Payout, now: Date): number {
  if (!requestedAt) return AGELESS_MS;
  const ageMs = now.getTime() - requestedAt.getTime();
  if (ageMs < FRESH_MS) return leavesUnconfirmed(method) ? UNCONFIRMED_MS : EACH_FRESH_MS;
  return Math.min(LONGEST_MS, ageMs / 60);
}
