import { type Clock, plusMs } from '../../kernel/clock.ts';
import { dayOf, instantOf, plusDays } from '../../kernel/sao-paulo.ts';
import type { Sql } from '../../state/db/database.ts';
import { reserve, selectCounts } from './store.ts';

/** The time for which an instance keeps its counts in memory. */
const KEPT_MS = 10_000;

/** Counts for each key what happens in a day of São Paulo, over all instances, to ten seconds. */
export interface DayCounts {
  count(key: string): void;
  /** The count of this day; the last ten seconds of other instances may be missing. */
  today(key: string): Promise<number>;
  /** Writes what was counted, when this instance stops. */
  release(): Promise<void>;
}

/**
 * Creates counts that are kept in memory and written together, into the table of the limits. A crash of PostgreSQL empties that
 * table: then the day is counted from there.
 */
export function createDayCounts({ sql, clock }: { sql: Sql; clock: Clock }): DayCounts {
  /** The counts that are not written yet, by the key. */
  const kept = new Map<string, number>();
  let cancel: (() => void) | null = null;
  let written: Promise<void> = Promise.resolve();

  const nameOf = (key: string) => `day ${key}`;
  const add = (key: string, count: number) => void kept.set(key, (kept.get(key) ?? 0) + count);
  const windowOf = (now: Date) => {
    const endsAt = instantOf(plusDays(dayOf(now), 1));
    return { now, lengthMs: endsAt.getTime() - now.getTime() };
  };

  function write(): Promise<void> {
    cancel?.();
    cancel = null;
    written = written.then(async () => {
      const counts = [...kept];
      kept.clear();
      const wanted = counts.map(([key, want]) => ({ key: nameOf(key), want }));
      try {
        if (wanted.length > 0) await reserve(sql, wanted, windowOf(clock.now()));
      } catch {
        // The database is away, or takes no changes: they are written with what is counted next.
        for (const [key, count] of counts) add(key, count);
      }
    });
    return written;
  }

  return {
    count(key) {
      add(key, 1);
      cancel ??= clock.schedule(plusMs(clock.now(), KEPT_MS), () => void write());
    },
    async today(key) {
      await write();
      const { now, lengthMs } = windowOf(clock.now());
      const counts = await selectCounts(sql, [nameOf(key)], { now, quietMs: lengthMs });
      return (counts.get(nameOf(key))?.used ?? 0) + (kept.get(key) ?? 0);
    },
    release: write,
  };
}
