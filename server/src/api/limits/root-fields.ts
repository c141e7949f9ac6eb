import type { Caller } from '../../kernel/caller.ts';
import { type Clock, secondsUntil } from '../../kernel/clock.ts';
import { RateLimitError } from '../../kernel/errors.ts';
import { networkOf } from '../../kernel/network.ts';
import { tenantKey } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { createWindows, type WindowState, type Windows } from './windows.ts';

/** Root fields a minute for one visitor's address with one browser token: a widget that polls needs 30. */
const VISITOR_LIMIT = 120;
/**
 * Root fields a minute for one visitor's address with all browser tokens of the tenant. A reusable token starts payments
 * that each have a token of their own: without this limit one address could open 120 more windows each minute. Twenty
 * payers who poll behind one address stay below it.
 */
const ADDRESS_LIMIT = 600;

/** Limits on `/graphql`, counted by root field and over all instances. */
export interface RootFieldLimits {
  /**
   * Counts one root field. Returns a promise only if the database is queried; it rejects if the database does not
   * respond. @throws RateLimitError
   */
  take(caller: Caller, address: string): void | Promise<void>;
  /** The window with the fewest remaining root fields, of those that limit the caller. */
  peek(caller: Caller, address: string): WindowState;
  /** Returns reserved root fields: a server that restarts often would otherwise use a minute up without a caller. */
  release(): Promise<void>;
}

/** Creates the limits: one for an API key, two for each visitor of a browser token. */
export function createRootFieldLimits({
  perKey,
  sql,
  clock,
}: {
  perKey: number;
  sql: Sql;
  clock: Clock;
}): RootFieldLimits {
  // An instance reserves a twentieth of a limit at a time: a busy key queries the database 20 times a minute, and two idle instances reserve a tenth at most.
  const windowsNamed = (name: string, limit: number) =>
    createWindows({ sql, clock, name, limit, chunk: Math.max(1, Math.floor(limit / 20)) });
  const keys = windowsNamed('key', perKey);
  const visitors = windowsNamed('visitor', VISITOR_LIMIT);
  const addresses = windowsNamed('address', ADDRESS_LIMIT);

  function windowsOf({ tenant, credential }: Caller, address: string): BoundWindow[] {
    if (credential.kind === 'api_key') return [{ windows: keys, key: credential.id }];
    const network = networkOf(address);
    return [
      { windows: visitors, key: `${credential.id} ${network}` },
      { windows: addresses, key: `${tenantKey(tenant)} ${network}` },
    ];
  }

  function takeAll(all: readonly BoundWindow[], from = 0): void | Promise<void> {
    for (let index = from; index < all.length; index += 1) {
      const bound = all[index]!;
      const admitted = bound.windows.take(bound.key);
      if (admitted === false) throw refusal(bound);
      if (admitted !== true)
        return admitted.then((later) => {
          if (!later) throw refusal(bound);
          return takeAll(all, index + 1);
        });
    }
  }

  function refusal({ windows, key }: BoundWindow): RateLimitError {
    const { limit, resetAt } = windows.peek(key);
    return new RateLimitError(`${limit} root fields a minute`, secondsUntil(resetAt, clock));
  }

  return {
    take: (caller, address) => takeAll(windowsOf(caller, address)),
    peek: (caller, address) =>
      windowsOf(caller, address)
        .map(({ windows, key }) => windows.peek(key))
        .reduce((left, right) => (right.remaining < left.remaining ? right : left)),
    async release() {
      await Promise.all([keys, visitors, addresses].map((each) => each.release()));
    },
  };
}

interface BoundWindow {
  windows: Windows;
  key: string;
}
