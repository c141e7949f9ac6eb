import { plusMs } from './clock.ts';

/** The age at which the outcome of a request that another service did not answer is known, or needs an operator. */
export const DOUBT_MS = 15 * 60_000;

/** The instant by which it is known whether a payout in doubt was made; null for one that is not in doubt. */
export function knownBy({
  inDoubt,
  requestedAt,
}: {
  inDoubt?: boolean | undefined;
  requestedAt: Date | null;
}): Date | null {
  return inDoubt && requestedAt ? plusMs(requestedAt, DOUBT_MS) : null;
}
