import { type Clock, secondsUntil } from '../../kernel/clock.ts';
import { RateLimitError } from '../../kernel/errors.ts';
import { networkOf } from '../../kernel/network.ts';
import type { Sql } from '../../state/db/database.ts';
import { createWindows, type Windows } from './windows.ts';

/** Requests a minute of one network without a known credential. */
const STRANGER_REQUESTS_A_MINUTE = 300;
/** Card forms a minute of one network: a carrier has thousands of payers behind one address. */
const FORMS_A_MINUTE = 120;

/**
 * Limits on requests without a known credential, by network and over all instances. A request with a known one is not
 * counted: otherwise a neighbor behind a carrier's address could lock out a merchant's server.
 */
export interface StrangerLimits {
  /** Counts one request. Returns a promise only if the database is queried. @throws RateLimitError, at once or later */
  take(address: string): void | Promise<void>;
  /** Takes back the count of a request whose credential turned out to be known. */
  putBack(address: string): void;
  /** Counts one card form. @throws RateLimitError, at once or later */
  takeForm(address: string): void | Promise<void>;
  /** Returns reserved requests and forms, when this instance stops. */
  release(): Promise<void>;
}

export function createStrangerLimits({
  sql,
  clock,
  perMinute,
}: {
  sql: Sql;
  clock: Clock;
  /** Replaces both limits in tests and benchmarks, whose requests all come from one network. */
  perMinute?: number | undefined;
}): StrangerLimits {
  const windowsOf = (name: string, limit: number) =>
    createWindows({ sql, clock, name, limit, chunk: Math.max(1, Math.floor(limit / 20)) });
  const requests = windowsOf('stranger', perMinute ?? STRANGER_REQUESTS_A_MINUTE);
  const forms = windowsOf('form', perMinute ?? FORMS_A_MINUTE);

  function take(windows: Windows, address: string, unit: string): void | Promise<void> {
    const network = networkOf(address);
    const refuse = () => {
      const { limit, resetAt } = windows.peek(network);
      throw new RateLimitError(`${limit} ${unit} a minute`, secondsUntil(resetAt, clock));
    };
    const admitted = windows.take(network);
    if (admitted === false) refuse();
    if (typeof admitted !== 'boolean')
      return admitted.then((later) => {
        if (!later) refuse();
      });
  }

  return {
    take: (address) => take(requests, address, 'requests without a known credential'),
    putBack: (address) => requests.putBack(networkOf(address)),
    takeForm: (address) => take(forms, address, 'forms'),
    async release() {
      await Promise.all([requests, forms].map((windows) => windows.release()));
    },
  };
}
