import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { connectTo } from '../../support/database.ts';
import { keepConnections } from '../../support/kept-connections.ts';
import { emptyTables } from '../../support/templates.ts';
import type { Failure } from '../failure.ts';
import { startServiceHost } from './service.ts';
import { type FacadeTamper, playStory, type Story } from './story.ts';

/** Plays a number of stories at once, each in a database of its own: while one waits for it, another goes on. */
export const AT_ONCE = 3;

export interface PlayedStories {
  readonly counts: Map<string, number>;
  readonly failures: Failure[];
}

/** Plays a story for each seed, one after another in each of these databases. */
export async function playStories({
  databases,
  seeds,
  steps,
  tamper,
  onPlayed,
  untilBroken = false,
}: {
  /** Addresses of migrated databases that nobody else uses. */
  databases: readonly string[];
  seeds: readonly number[];
  steps?: number | undefined;
  tamper?: FacadeTamper | undefined;
  onPlayed?: (story: Story) => void;
  /** Ends with the first seed that breaks a law. */
  untilBroken?: boolean;
}): Promise<PlayedStories> {
  const counts = new Map<string, number>();
  const failures: Failure[] = [];
  const left = [...seeds].reverse();
  const host = await startServiceHost();

  async function play(databaseUrl: string): Promise<void> {
    keepConnections(databaseUrl);
    for (let seed = left.pop(); seed !== undefined; seed = left.pop()) {
      if (untilBroken && failures.length > 0) return;
      const database = await connectTo(databaseUrl, createSystemClock());
      await emptyTables(database.sql);
      await database.close();
      const story = await playStory({ seed, databaseUrl, host, tamper, steps });
      for (const [what, n] of story.counts) counts.set(what, (counts.get(what) ?? 0) + n);
      if (story.broken.length > 0) failures.push({ seed, ...story.broken[0]! });
      onPlayed?.(story);
    }
  }
  try {
    await Promise.all(databases.map(play));
  } finally {
    await host.close();
  }
  return { counts, failures };
}
