import { createBatches } from '../../kernel/batches.ts';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import { beforeWork, ReadOnlyDatabase, type Sql } from '../../state/db/database.ts';
import { type ReservedWindow, release, reserve, type Wanted } from './store.ts';

/** The state of a window as this instance knows it: reservations of other instances show after its next reservation. */
export interface WindowState {
  limit: number;
  remaining: number;
  resetAt: Date;
}

/** The windows of one limit, one for each key, over all instances of one database. */
export interface Windows {
  /**
   * Takes an admission, and returns whether one was left. If this instance has none reserved, it queries the database and
   * returns a promise. The promise rejects if the database does not respond: then nothing was admitted or refused.
   */
  take(key: string): boolean | Promise<boolean>;
  /** Returns an admission that was taken and not used. */
  putBack(key: string): void;
  peek(key: string): WindowState;
  /** Returns this instance's reservations to the database, when it stops. */
  release(): Promise<void>;
}

const MINUTE_MS = 60_000;
/** The most shares of one limit in memory: requests may come from any number of networks. */
const MAX_SHARES = 50_000;
/** The most keys of one reservation. */
const MAX_KEYS = 200;

/** The part of a window that this instance has reserved. */
interface Share {
  endsAt: number;
  /** The reservations of all instances when the database was last queried. */
  used: number;
  /** The rest of this instance's reservation. */
  reserved: number;
}

/**
 * Creates windows of a minute, each from the first use of its key on any instance. An instance reserves `chunk` admissions at
 * a time, with one statement for all keys that wait, and counts them down in memory. So all instances together never exceed
 * the limit. A chunk of 1 is exact; with a larger one a few admissions that other instances have reserved may stay unused.
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
  /** Separates these windows from those of other limits in the database. */
  name: string;
  /** The admissions of a window. */
  limit: number;
  chunk: number;
}): Windows {
  /** The shares by key, in the order in which they began. */
  const shares = new Map<string, Share>();
  /** The callers that wait for a reservation, by key. */
  const waiting = new Map<string, Waiter[]>();
  /** The keys of the reservations that are under way. */
  const underWay = new Set<string>();

  function currentShare(key: string): Share | null {
    const now = clock.ms();
    for (const [oldest, { endsAt }] of shares) {
      if (endsAt > now) break;
      shares.delete(oldest);
    }
    const share = shares.get(key);
    // The second condition, as in `reserve`, ignores an end from before the clock was set back.
    return share && share.endsAt > now && share.endsAt <= now + 2 * MINUTE_MS ? share : null;
  }

  /** Counts for this instance alone: a read-only database still serves queries. */
  function countLocally({ key, want }: Wanted, now: Date): ReservedWindow {
    const share = currentShare(key);
    return {
      endsAt: share ? new Date(share.endsAt) : plusMs(now, MINUTE_MS),
      used: (share?.used ?? 0) + want,
    };
  }

  /** Reserves for all keys that wait, with one statement after the other: the callers of many keys share the next one. */
  const reservations = createBatches({
    clock,
    take() {
      const all = [...waiting].filter(([key]) => !underWay.has(key)).slice(0, MAX_KEYS);
      for (const [key] of all) underWay.add(key);
      return all;
    },
    async run(all) {
      const wanted = all.map(([key, waiters]) => ({ key, want: Math.max(chunk, waiters.length) }));
      try {
        const windows = await reserveEach(wanted);
        for (const [nth, each] of wanted.entries()) admit(all[nth]![1], each, windows[nth]!);
      } catch (error) {
        for (const [, waiters] of all)
          for (const waiter of waiters.splice(0)) waiter.reject(beforeWork(error));
      }
      for (const [key, waiters] of all) {
        underWay.delete(key);
        if (waiters.length === 0) waiting.delete(key);
      }
    },
  });

  async function reserveEach(wanted: readonly Wanted[]): Promise<ReservedWindow[]> {
    const now = clock.now();
    const nameOf = (key: string) => `${name} ${key}`;
    try {
      const named = wanted.map(({ key, want }) => ({ key: nameOf(key), want }));
      const reserved = await reserve(sql, named, { lengthMs: MINUTE_MS, now });
      return wanted.map(({ key }) => reserved.get(nameOf(key))!);
    } catch (error) {
      if (error instanceof ReadOnlyDatabase) return wanted.map((each) => countLocally(each, now));
      throw error;
    }
  }

  /** Admits callers of a key by what was reserved for them. Those that came meanwhile may still wait after it. */
  function admit(waiters: Waiter[], { key, want }: Wanted, { endsAt, used }: ReservedWindow): void {
    const granted = Math.min(want, Math.max(0, limit - (used - want)));
    // Admissions of the same window that were put back meanwhile are still reserved.
    const before = currentShare(key);
    const kept = before?.endsAt === endsAt.getTime() ? before.reserved : 0;
    const share = { endsAt: endsAt.getTime(), used: Math.min(used, limit), reserved: granted + kept };
    shares.delete(key);
    shares.set(key, share);
    // The share that ends first is dropped, with its reservation.
    if (shares.size > MAX_SHARES) shares.delete(shares.keys().next().value!);
    for (; share.reserved > 0 && waiters.length > 0; share.reserved -= 1) waiters.shift()!.resolve(true);
    if (share.used >= limit) for (const waiter of waiters.splice(0)) waiter.resolve(false);
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
        if (queue) queue.push({ resolve, reject });
        else waiting.set(key, [{ resolve, reject }]);
        reservations.begin();
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
      const reserved = [...shares].flatMap(([key, { endsAt, reserved: unused }]) =>
        unused > 0 && endsAt > now ? [{ key: `${name} ${key}`, endsAt: new Date(endsAt), unused }] : [],
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
