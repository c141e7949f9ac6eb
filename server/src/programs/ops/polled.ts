import { type Clock, plusMs } from '../../kernel/clock.ts';

/** The interval at which the database counts: a scrape never waits for it. */
const INTERVAL_MS = 5_000;
/** The age from which the last count is no longer reported. */
const MAX_AGE_MS = 15_000;

/** Counts in the database at an interval. `read` returns the last count, and nothing while the database does not answer. */
export function createPolled<Row>(
  clock: Clock,
  count: () => Promise<readonly Row[]>,
): { read(): readonly Row[]; stop(): Promise<void> } {
  let known: { at: number; rows: readonly Row[] } | null = null;
  let query: Promise<void> | null = null;
  let cancel: () => void;
  function refresh(): void {
    cancel = clock.schedule(plusMs(clock.now(), INTERVAL_MS), refresh);
    const at = clock.ms();
    // A slow database gets no second query.
    query ??= count()
      .then(
        (rows) => {
          known = { at, rows };
        },
        () => undefined,
      )
      .finally(() => {
        query = null;
      });
  }
  refresh();
  return {
    read() {
      if (!known) return [];
      const ageMs = clock.ms() - known.at;
      // The age is unknown after the clock was set back.
      return ageMs >= 0 && ageMs < MAX_AGE_MS ? known.rows : [];
    },
    async stop() {
      cancel();
      await query;
    },
  };
}
