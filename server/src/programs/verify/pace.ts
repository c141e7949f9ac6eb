import { sql as raw } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { OutageError } from '../../kernel/errors.ts';
import type { Sql } from '../../state/db/database.ts';
import type { Slice } from './laws/law.ts';

/** Decides how much one statement sees, and how much of the time is left to others. */
export interface Pace {
  /** The number of rows, resources or days of the next statement of a slice. */
  rowsOf(slice: Slice): number;
  /** Learns from a statement that has seen so many rows. */
  learn(slice: Slice, rows: number, ms: number): void;
  /** Counts a transaction of the run itself. */
  count(): void;
  /** Waits until the next statement may begin. */
  rest(): Promise<void>;
  /** The most statements at once. */
  lanes(): number;
}

/** The duration that a statement should have, the share of the time without one, and the most of them at once. */
interface Manner {
  readonly ms: number;
  readonly rest: number;
  readonly lanes: number;
}

/** Beside writers, and on PGlite, which serves nobody else meanwhile. */
const GENTLE: Manner = { ms: 50, rest: 0.25, lanes: 1 };
/** On PostgreSQL while nobody writes. */
const FAST: Manner = { ms: 250, rest: 0, lanes: 2 };

/** The transactions a second of others from which on they are writers. */
const BUSY = 20;
const SAMPLE_MS = 1_000;

/** Below `few` rows the duration of a statement no longer depends on them. */
const SIZES = { first: 500, few: 250, most: 20_000 };
const DAYS = { first: 1, few: 1, most: 32 };

export function createPace({
  countTransactions,
  clock,
  pause,
}: {
  /** Counts the transactions of all; null if nobody else can be a writer. */
  countTransactions: (() => Promise<number>) | null;
  clock: Clock;
  pause: (ms: number) => Promise<void>;
}): Pace {
  const sizes = new Map<Slice, number>();
  const limits = (slice: Slice) => (slice === 'hours' ? DAYS : SIZES);
  let manner = GENTLE;
  let restMs = 0;
  let own = 0;
  let sampledAt = Number.NEGATIVE_INFINITY;
  /** The transactions of others at that time; null if they could not be counted. */
  let others: number | null = null;

  /** Looks how many transactions others have had since the last sample. */
  async function observe(): Promise<void> {
    const now = clock.ms();
    const ms = now - sampledAt;
    if (!countTransactions || ms < SAMPLE_MS) return;
    sampledAt = now;
    const before = others;
    own += 1;
    const mine = own;
    const all = await countTransactions().catch(nullOfOutage);
    others = all === null ? null : all - mine;
    if (before !== null && others !== null) manner = others - before < (BUSY * ms) / 1_000 ? FAST : GENTLE;
  }

  return {
    rowsOf: (slice) => sizes.get(slice) ?? limits(slice).first,
    learn(slice, rows, ms) {
      const { few, most } = limits(slice);
      const fitting = rows * Math.min(2, Math.max(0.5, manner.ms / Math.max(1, ms)));
      const size = sizes.get(slice) ?? limits(slice).first;
      // A statement with fewer rows than it could have had does not show that it could have more.
      if (fitting < size || rows >= size)
        sizes.set(slice, Math.round(Math.min(most, Math.max(Math.min(few, size), fitting))));
      restMs = (ms * manner.rest) / (1 - manner.rest);
    },
    count() {
      own += 1;
    },
    async rest() {
      await observe();
      if (restMs > 0) await pause(restMs);
    },
    lanes: () => manner.lanes,
  };
}

function nullOfOutage(error: unknown): null {
  if (error instanceof OutageError) return null;
  throw error;
}

/** Counts the transactions that the database has had. */
export async function countTransactions(sql: Sql): Promise<number> {
  const { rows } = await raw<{ transactions: number }>`
    select xact_commit + xact_rollback as transactions from pg_stat_database where datname = current_database()`.execute(
    sql,
  );
  return rows[0]?.transactions ?? 0;
}
