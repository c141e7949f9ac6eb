import { plusMs } from './clock.ts';

/**
 * The age at which the outcome of an unanswered request to another service is known, or needs an operator.
 */
export const DOUBT_MS = 15 * 60_000;

/**
 * The instant by which a payout in doubt is known to have been made or not; null for a payout that is not in
 * doubt.
 */
export function knownBy({
  inDoubt,
  requestedAt,
}: {
  inDoubt?: boolean | undefined;
  requestedAt: Date | null;
}): Date | null {
  return inDoubt && requestedAt ? plusMs(requestedAt, DOUBT_MS) : null;
}
