import { beforeWork, ReadOnlyDatabase, type Sql } from '../db/database.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { release, reserve } from './store.ts';

/** How a window stands: as far as this instance knows, for what others have taken since is seen at the next look. */
export interface WindowState {
  limit: number;
  remaining: number;
  resetAt: Date;
}

/** Windows of one limit, one for each key, that hold over all instances of one database. */
export interface Windows {
  /**
   * Takes one, and says whether it was there. At once where this instance has some in hand; else the database is asked.
   * Rejects where that does not answer: nothing was let through, nothing was refused.
   */
  take(key: string): boolean | Promise<boolean>;
  /** One that was taken and not used. */
  putBack(key: string): void;
  peek(key: string): WindowState;
  /** What this instance has in hand, to the others and to those after it: when nobody takes any more. */
  release(): Promise<void>;
}

const MINUTE_MS = 60_000;
/** Of which this instance has something at once: anybody may come from as many networks. */
const MAX_SHARES = 50_000;

/** This instance's part in a window. */
interface Share {
  endsAt: number;
  /** What all have taken, this instance's reserve included, when the database was last asked. */
  used: number;
  /** Reserved and not taken yet. */
  reserved: number;
}

/**
 * A minute for each key, from its first use on whichever instance. An instance reserves `chunk` at a time with one
 * statement and counts it down in memory: so what all of them admit never exceeds the limit, and a chunk of 1 is exact
 * to the last. A larger one may leave a little unused in other instances' hands.
 */
export function createWindows({
  sql,
  clock,
  name,
  limit,
  chunk,
}: {
  sql: Sql;
  clock: Clock;
  /** Tells these windows from others' in the database. */
  name: string;
  /** A minute. */
  limit: number;
  chunk: number;
}): Windows {
  /** In the order in which they were begun. */
  const shares = new Map<string, Share>();
  /** Who waits for a reservation of a key; there is one under way at a time. */
  const waiting = new Map<string, Waiter[]>();

  function currentShare(key: string): Share | null {
    const now = clock.ms();
    for (const [oldest, { endsAt }] of shares) {
      if (endsAt > now) break;
      shares.delete(oldest);
    }
    const share = shares.get(key);
    // As `reserve` has it, for a clock that was set back.
    return share && share.endsAt > now && share.endsAt <= now + 2 * MINUTE_MS ? share : null;
  }

  /** A database that takes no writes still answers queries, and each instance then counts for itself. */
  function countLocally(key: string, want: number, now: Date): { endsAt: Date; used: number } {
    const share = currentShare(key);
    return {
      endsAt: share ? new Date(share.endsAt) : plusMs(now, MINUTE_MS),
      used: (share?.used ?? 0) + want,
    };
  }

  async function refill(key: string, waiters: Waiter[]): Promise<void> {
    while (waiters.length > 0) {
      const want = Math.max(chunk, waiters.length);
      try {
        const now = clock.now();
        const { endsAt, used } = await reserve(sql, {
          key: `${name} ${key}`,
          want,
          lengthMs: MINUTE_MS,
          now,
        }).catch((error: unknown) => {
          if (error instanceof ReadOnlyDatabase) return countLocally(key, want, now);
          throw error;
        });
        const granted = Math.min(want, Math.max(0, limit - (used - want)));
        const share = { endsAt: endsAt.getTime(), used: Math.min(used, limit), reserved: granted };
        shares.delete(key);
        shares.set(key, share);
        // The one that ends first. What it has in hand stays unused.
        if (shares.size > MAX_SHARES) shares.delete(shares.keys().next().value!);
        for (; share.reserved > 0 && waiters.length > 0; share.reserved -= 1) waiters.shift()!.resolve(true);
        if (share.used >= limit) for (const waiter of waiters.splice(0)) waiter.resolve(false);
      } catch (error) {
        for (const waiter of waiters.splice(0)) waiter.reject(beforeWork(error));
      }
    }
    waiting.delete(key);
  }

  return {
    take(key) {
      const share = currentShare(key);
      const queue = waiting.get(key);
      if (share && !queue) {
        if (share.reserved > 0) {
          share.reserved -= 1;
          return true;
        }
        if (share.used >= limit) return false;
      }
      return new Promise((resolve, reject) => {
        if (queue) return queue.push({ resolve, reject });
        const waiters = [{ resolve, reject }];
        waiting.set(key, waiters);
        void refill(key, waiters);
      });
    },
    putBack(key) {
      const share = currentShare(key);
      if (share) share.reserved += 1;
    },
    peek(key) {
      const share = currentShare(key);
      return {
        limit,
        remaining: share ? limit - share.used + share.reserved : limit,
        resetAt: share ? new Date(share.endsAt) : plusMs(clock.now(), MINUTE_MS),
      };
    },
    async release() {
      const now = clock.ms();
      const reserved = [...shares].flatMap(([key, { endsAt, reserved: inHand }]) =>
        inHand > 0 && endsAt > now
          ? [{ key: `${name} ${key}`, endsAt: new Date(endsAt), unused: inHand }]
          : [],
      );
      shares.clear();
      if (reserved.length > 0) await release(sql, reserved);
    },
  };
}

interface Waiter {
  resolve: (admitted: boolean) => void;
  reject: (error: unknown) => void;
}
