import { sql } from 'kysely';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import type { Sql } from './database.ts';
import type { Log } from './log.ts';

export interface HousekeepingOptions {
  sql: Sql;
  /** The number of flushes to the disk; while it stays the same, there is nothing to tidy. */
  flushes: () => number;
  clock: Clock;
  log: Log;
}

/**
 * Does the work of PostgreSQL's background processes, which PGlite lacks: without checkpoints the WAL grows without end
 * (88 MB were seen), and without vacuum the tables do. Returns the function that stops it.
 */
export function startHousekeeping({ sql: db, flushes, clock, log }: HousekeepingOptions): () => void {
  let tidiedFlushes = flushes();
  let stopped = false;
  let cancel = schedule();

  function schedule(): () => void {
    return clock.schedule(plusMs(clock.now(), INTERVAL_MS), () => {
      tidy()
        .catch((error) => {
          if (!stopped) log.warn({ err: error }, 'Could not tidy the database');
        })
        .finally(() => {
          if (!stopped) cancel = schedule();
        });
    });
  }

  async function tidy(): Promise<void> {
    if (flushes() === tidiedFlushes) return;
    // The statistics of the last second are not visible to the query below until they are flushed.
    await sql`select pg_stat_force_next_flush()`.execute(db);
    for (const { name } of (await CHANGED_TABLES.execute(db)).rows) {
      // One statement for each table: a caller that waits for the one connection waits for one table at most.
      await sql`vacuum (analyze) ${sql.raw(name)}`.execute(db);
    }
    await sql`checkpoint`.execute(db);
    tidiedFlushes = flushes();
  }

  return () => {
    stopped = true;
    cancel();
  };
}

const INTERVAL_MS = 60_000;

/**
 * Selects tables by autovacuum's rule: more than a fifth of the rows, plus a constant, have changed.
 * `regclass` quotes the name as SQL needs it.
 */
const CHANGED_TABLES = sql<{ name: string }>`
  select stat.relid::regclass::text as name
  from pg_stat_user_tables stat join pg_class class on class.oid = stat.relid
  where greatest(stat.n_dead_tup, stat.n_mod_since_analyze) > 50 + 0.2 * greatest(class.reltuples, 0)`;
