import type { Database } from '../../server/src/state/db/database.ts';
import type { Failure } from './failure.ts';
import { type History, playHistory, STEPS, type Tour } from './history.ts';
import { auditBooks } from './laws.ts';
import type { Violation } from './violation.ts';
import type { Tamper } from './world.ts';

export interface Played {
  readonly counts: Map<string, number>;
  readonly failures: Failure[];
  readonly digests: Map<number, string>;
}

/** The number of histories that are played at once in one database: while one waits for it, another computes. */
const AT_ONCE = 8;

/** Plays seeds in one database that was prepared for the audit, each with its own account, and audits all of them. */
export async function playSeeds({
  database,
  seeds,
  steps = STEPS,
  tamper,
  tour,
  onPlayed,
}: {
  database: Database;
  seeds: readonly number[];
  steps?: number;
  tamper?: Tamper;
  /** Steps in place of those that the seeds draw. */
  tour?: Tour | undefined;
  onPlayed?: (history: History) => void;
}): Promise<Played> {
  const counts = new Map<string, number>();
  const failures: Failure[] = [];
  const digests = new Map<number, string>();
  const seedOf = new Map<string, number>();
  const left = [...seeds].reverse();

  async function play(): Promise<void> {
    for (let seed = left.pop(); seed !== undefined; seed = left.pop()) {
      const history = await playHistory({ database, seed, steps, tamper, tour });
      for (const [what, n] of history.counts) counts.set(what, (counts.get(what) ?? 0) + n);
      digests.set(seed, history.digest);
      if (history.broken.length > 0) failures.push({ seed, ...history.broken[0]! });
      else seedOf.set(history.accountId, seed);
      onPlayed?.(history);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, play));

  const accountIds = [...seedOf.keys()];
  if ((await auditBooks(database, accountIds, { atTheEnd: true })).length > 0)
    for (const accountId of accountIds)
      for (const violation of await auditBooks(database, [accountId], { atTheEnd: true }))
        failures.push({ seed: seedOf.get(accountId)!, step: null, ...violation });
  return { counts, failures, digests };
}

/** Plays one seed again, with an audit after each pause. Returns the step that broke a law first. */
export async function replaySeed({
  database,
  seed,
  steps = STEPS,
  tamper,
}: {
  database: Database;
  seed: number;
  steps?: number;
  tamper?: Tamper;
}): Promise<{ history: History; failures: Failure[] }> {
  const history = await playHistory({
    database,
    seed,
    steps,
    tamper,
    audit: ({ live }) => auditBooks(database, [live.accountId], { atTheEnd: false }),
  });
  const found: (Violation & { step: number | null })[] = [...history.broken];
  if (found.length === 0)
    for (const violation of await auditBooks(database, [history.accountId], { atTheEnd: true }))
      found.push({ step: null, ...violation });
  return { history, failures: found.map((violation) => ({ seed, ...violation })) };
}
