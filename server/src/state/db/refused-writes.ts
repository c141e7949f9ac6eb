import type pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import type { DatabaseMeter } from './database.ts';

/**
 * Codes with which a database refuses writes while it still answers reads: a full disk, a lack of memory, a
 * fault of its files.
 */
const REFUSES_WRITES = /^(?:53100|53200|53400|58\w{3})$/;

/**
 * The time after a refused write in which nothing is probed: a probe writes less, so it might succeed while real writes fail.
 */
const HELD_MS = 5_000;

/** The last write that the database refused for a reason of its own. All its connections share it. */
export interface RefusedWrites {
  /** Records the failure of a statement that writes, if the database is the cause. */
  onFailure(error: pg.DatabaseError): void;
  /** The last refusal, until a larger write has succeeded; null if there is none. */
  last(): pg.DatabaseError | null;
  /** Whether the last refusal is so recent that a probe proves nothing. */
  isRecent(): boolean;
  /** Forgets this refusal, unless there was another one since. */
  forget(refusal: pg.DatabaseError): void;
}

export function createRefusedWrites(clock: Clock, meter: DatabaseMeter | undefined): RefusedWrites {
  let last: { error: pg.DatabaseError; at: number } | null = null;
  return {
    onFailure(error) {
      if (!REFUSES_WRITES.test(error.code ?? '')) return;
      last = { error, at: clock.ms() };
      meter?.onRefusedWrite();
    },
    last: () => last?.error ?? null,
    isRecent() {
      const now = clock.ms();
      // After the clock was set back, an old refusal must not stay recent.
      return last !== null && last.at <= now && now < last.at + HELD_MS;
    },
    forget(refusal) {
      if (last?.error === refusal) last = null;
    },
  };
}
