import { REQUESTS_A_MINUTE } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Sql } from '../../state/db/database.ts';
import { createWindows, type WindowState } from './windows.ts';

/** Counts one request of an account. Rejects if the database does not respond; the request then fails too. */
export type TakeRequest = (accountId: string) => Promise<{ admitted: boolean } & WindowState>;

/** Counts exactly over all instances: one statement a request, until the minute is used up. */
export function createRequestLimit({
  sql,
  clock,
  limit = REQUESTS_A_MINUTE,
  count = () => undefined,
}: {
  sql: Sql;
  clock: Clock;
  /** Requests a minute. Tests and benchmarks replace the document's. */
  limit?: number | undefined;
  /** Is called for each request of an account, also for one that is refused. */
  count?: (accountId: string) => void;
}): TakeRequest {
  const windows = createWindows({ sql, clock, name: 'v1', limit, chunk: 1 });
  return async (accountId) => {
    count(accountId);
    return { admitted: await windows.take(accountId), ...windows.peek(accountId) };
  };
}
