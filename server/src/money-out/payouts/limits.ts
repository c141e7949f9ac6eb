import { isAhead, plusMs } from '../../kernel/clock.ts';
import { RateLimitError } from '../../kernel/errors.ts';
import { methodOf, PAYOUT_METHODS, type PayoutMethod } from '../../kernel/payout-methods/registry.ts';
import type { OwnPayout } from './model.ts';

// The hourly limits of the document's section 8: one that all payouts share, and those of single methods.

const HOUR_MS = 3_600_000;
export const PAYOUTS_AN_HOUR = 10;

/** The methods that have a limit of their own, which counts beside the shared one. */
export const LIMITED_METHODS = PAYOUT_METHODS.flatMap((method) => {
  const { hourly } = methodOf(method);
  return hourly ? [{ method, ...hourly }] : [];
});

/** The instants at which the newest payouts were requested, newest first, as many as the limits count. */
export interface RecentPayouts {
  all: readonly Date[];
  /** The instants of each method with a limit of its own. */
  byMethod: Readonly<Partial<Record<PayoutMethod, readonly Date[]>>>;
}

/** The recent payouts after one more. */
export function withOneMore(
  { all, byMethod }: RecentPayouts,
  { method, requestedAt }: Pick<OwnPayout, 'method' | 'requestedAt'>,
): RecentPayouts {
  const { hourly } = methodOf(method);
  return {
    all: [requestedAt, ...all].slice(0, PAYOUTS_AN_HOUR),
    byMethod: hourly
      ? { ...byMethod, [method]: [requestedAt, ...(byMethod[method] ?? [])].slice(0, hourly.most) }
      : byMethod,
  };
}

/**
 * Finds the hourly limit that a payout would exceed now; of several the one with the longest wait; undefined for none. A clock that
 * was set back leaves instants in the future: an instant more than a minute ahead does not count, because the wait would be
 * longer than an hour.
 */
function findReached(
  method: PayoutMethod,
  { all, byMethod }: RecentPayouts,
  now: Date,
): { name: string; waitMs: number } | undefined {
  const { hourly } = methodOf(method);
  const waitMsAfter = (oldest: Date | undefined) =>
    oldest && !isAhead(oldest, now) ? oldest.getTime() + HOUR_MS - now.getTime() : 0;
  const limits = [
    { name: `${PAYOUTS_AN_HOUR} withdrawals an hour`, oldest: all[PAYOUTS_AN_HOUR - 1] },
    ...(hourly
      ? [{ name: `${hourly.most} ${hourly.inWords} an hour`, oldest: byMethod[method]?.[hourly.most - 1] }]
      : []),
  ];
  return limits
    .map(({ name, oldest }) => ({ name, waitMs: waitMsAfter(oldest) }))
    .filter(({ waitMs }) => waitMs > 0)
    .sort((left, right) => right.waitMs - left.waitMs)[0];
}

/**
 * Asserts the hourly limits.
 * @throws RateLimitError with the seconds until the next payout is possible
 */
export function assertWithinHourlyLimits(method: PayoutMethod, recent: RecentPayouts, now: Date): void {
  const reached = findReached(method, recent, now);
  if (reached) throw new RateLimitError(reached.name, Math.ceil(reached.waitMs / 1_000));
}

/** The number of payouts that can be requested now, before the limit that all share. */
export function leftNow({ all }: RecentPayouts, now: Date): number {
  const isCounted = (at: Date) => !isAhead(at, now) && at.getTime() > now.getTime() - HOUR_MS;
  return PAYOUTS_AN_HOUR - 1 - all.findLastIndex(isCounted);
}

/** The instant at which the last of several payouts can be requested, if each is requested as soon as it can be, and no other. */
export function lastRequestAt(methods: readonly PayoutMethod[], recent: RecentPayouts, now: Date): Date {
  let [at, known] = [now, recent];
  for (const method of methods) {
    at = plusMs(at, findReached(method, known, at)?.waitMs ?? 0);
    known = withOneMore(known, { method, requestedAt: at });
  }
  return at;
}
