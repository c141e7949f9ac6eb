import type { Clock } from '../../kernel/clock.ts';
import { OutageError } from '../../kernel/errors.ts';
import type { Sql } from '../../state/db/database.ts';

/** The longest outage that is waited for, and the pause before each repetition. */
const OUTAGE_MS = 30_000;
export const PAUSE_MS = 1_000;
const MOST_REPETITIONS = OUTAGE_MS / PAUSE_MS;

/** Repeats work that changes nothing if it is done twice, for half a minute of an outage. Throws the last OutageError after that. */
export type Patiently = <T>(work: () => Promise<T>) => Promise<T>;

/** Reads the database patiently. */
export type Read = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

export function createPatience({
  clock,
  pause,
  isStopped,
}: {
  clock: Clock;
  pause: (ms: number) => Promise<void>;
  isStopped: () => boolean;
}): Patiently {
  /** Whether the last outage was longer: the next one is not waited for. */
  let isAway = false;

  return async (work) => {
    for (let since: number | null = null, failed = 1; ; failed += 1) {
      try {
        const result = await work();
        isAway = false;
        return result;
      } catch (error) {
        if (!(error instanceof OutageError) || isStopped()) throw error;
        since ??= clock.ms();
        isAway ||= failed > MOST_REPETITIONS || clock.ms() - since >= OUTAGE_MS;
        if (isAway) throw error;
      }
      await pause(PAUSE_MS);
    }
  };
}
