import type { Sql } from '../db/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { createWindows, type WindowState } from './windows.ts';

/** The document's section 8: over all `/v1` routes of an account together, in both environments. */
export const REQUESTS_A_MINUTE = 120;

/** Counts one request of an account. Rejects where the database does not answer: then the request fails likewise. */
export type TakeRequest = (accountId: string) => Promise<{ admitted: boolean } & WindowState>;

/** Exact over all instances: one statement a request, until the minute is used up. */
export function createRequestLimit({
  sql,
  clock,
  limit = REQUESTS_A_MINUTE,
}: {
  sql: Sql;
  clock: Clock;
  /** A minute. Another than the document's is for tests and benchmarks alone. */
  limit?: number | undefined;
}): TakeRequest {
  const windows = createWindows({ sql, clock, name: 'v1', limit, chunk: 1 });
  return async (accountId) => ({
    admitted: await windows.take(accountId),
    ...windows.peek(accountId),
  });
}
