import type { Clock } from '../../kernel/clock.ts';
import { OperatorNotice, OutageError } from '../../kernel/errors.ts';
import type { Log } from '../../state/db/log.ts';

/** The interval between two lines about an outage, in which thousands of requests may fail. */
const OUTAGE_LINE_MS = 10_000;

/**
 * Logs errors that are not refusals: each internal fault as an error, with the operation that it occurred in; an outage of
 * the database as a warning, at most once in OUTAGE_LINE_MS. A command that may have been committed has a line each time.
 * News for the operator is a warning with its own text.
 */
export function createFaultLog({
  log,
  clock,
  onOutage,
}: {
  log: Log;
  clock: Pick<Clock, 'ms'>;
  /** Called for each error that is an outage, logged or not. */
  onOutage: () => void;
}): (thrown: unknown, fields: object, message: string) => void {
  let nextLineAt = Number.NEGATIVE_INFINITY;
  return (thrown, fields, message) => {
    if (thrown instanceof OperatorNotice) return log.warn(fields, thrown.message);
    if (!(thrown instanceof OutageError)) return log.error({ err: thrown, ...fields }, message);
    onOutage();
    const now = clock.ms();
    if (now < nextLineAt && !thrown.mayBeDone) return;
    nextLineAt = now + OUTAGE_LINE_MS;
    log.warn({ err: thrown, ...fields }, 'the database is not available');
  };
}
