import type { Log } from '../db/log.ts';
import type { Clock } from '../kernel/clock.ts';
import { OutageError } from '../kernel/errors.ts';

/** Between two lines of an outage: thousands of requests may fail by it. */
const OUTAGE_LINE_MS = 10_000;

/**
 * Logs what was thrown and is no refusal: each fault of the code as an error, with what it came up in; an outage of the
 * database as a warning, once in a while. What may have been done in it has a line each time.
 */
export function createFaultLog({
  log,
  clock,
}: {
  log: Log;
  clock: Pick<Clock, 'ms'>;
}): (thrown: unknown, fields: object, message: string) => void {
  let nextAt = Number.NEGATIVE_INFINITY;
  return (thrown, fields, message) => {
    if (!(thrown instanceof OutageError)) return log.error({ err: thrown, ...fields }, message);
    const now = clock.ms();
    if (now < nextAt && !thrown.mayBeDone) return;
    nextAt = now + OUTAGE_LINE_MS;
    log.warn({ err: thrown, ...fields }, 'the database does not do its part');
  };
}
