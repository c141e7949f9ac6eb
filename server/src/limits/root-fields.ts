import type { Caller } from '../access/model.ts';
import type { Sql } from '../db/database.ts';
import { type Clock, secondsUntil } from '../kernel/clock.ts';
import { RateLimitError } from '../kernel/errors.ts';
import { networkOf } from '../kernel/network.ts';
import { tenantKey } from '../kernel/tenant.ts';
import { createWindows, type WindowState, type Windows } from './windows.ts';

/** Root fields a minute for one visitor's address on one browser token: a widget that polls needs 30. */
const VISITOR_LIMIT = 120;
/**
 * And for that address over all browser tokens of the tenant. A reusable token starts payments that each come with a
 * token of their own: without this, one address could have 120 windows more in each minute. Twenty payers who poll
 * behind one address stay below it.
 */
const ADDRESS_LIMIT = 600;

/** Limits on `/graphql`, counted by root field and over all instances. */
export interface RootFieldLimits {
  /**
   * At once where nothing has to be asked of the database; rejects where that does not answer.
   * @throws RateLimitError
   */
  take(caller: Caller, address: string): void | Promise<void>;
  /** The narrowest of the limits that bind the caller. */
  peek(caller: Caller, address: string): WindowState;
  /** What was reserved and not taken: a server that is started again and again would use a minute up without a caller. */
  release(): Promise<void>;
}

/** An API key has a limit of its own; each visitor of a browser token has two. */
export function createRootFieldLimits({
  perKey,
  sql,
  clock,
}: {
  perKey: number;
  sql: Sql;
  clock: Clock;
}): RootFieldLimits {
  // A twentieth at a time: a busy key asks the database 20 times a minute, and two idle instances keep a tenth at most.
  const windows = (name: string, limit: number) =>
    createWindows({ sql, clock, name, limit, chunk: Math.max(1, Math.floor(limit / 20)) });
  const keys = windows('key', perKey);
  const visitors = windows('visitor', VISITOR_LIMIT);
  const addresses = windows('address', ADDRESS_LIMIT);

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

  function refusal({ windows: { peek: look }, key }: BoundWindow): RateLimitError {
    const { limit, resetAt } = look(key);
    return new RateLimitError(`${limit} root fields a minute`, secondsUntil(resetAt, clock));
  }

  return {
    take: (caller, address) => takeAll(windowsOf(caller, address)),
    peek: (caller, address) =>
      windowsOf(caller, address)
        .map(({ windows: { peek: look }, key }) => look(key))
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
