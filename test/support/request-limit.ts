import type { TakeRequest } from '../../server/src/api/http/rest-routes.ts';
import { type Clock, plusMs } from '../../server/src/kernel/clock.ts';

const MINUTE_MS = 60_000;

/** Limits each account's requests in windows of a minute that begin with a request. Only this instance counts them. */
export function createRequestLimit({ limit, clock }: { limit: number; clock: Clock }): TakeRequest {
  const windows = new Map<string, { resetAt: Date; used: number }>();
  return async (accountId) => {
    const now = clock.now();
    const last = windows.get(accountId);
    const window = last && last.resetAt > now ? last : { resetAt: plusMs(now, MINUTE_MS), used: 0 };
    const admitted = window.used < limit;
    if (admitted) window.used += 1;
    windows.set(accountId, window);
    return { admitted, limit, remaining: limit - window.used, resetAt: window.resetAt };
  };
}
