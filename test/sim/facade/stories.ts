import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { createVerifier } from '../../../server/src/programs/verify/verifier.ts';
import { connectTo } from '../../support/database.ts';
import { emptyDatabase } from '../../support/emptier.ts';
import { keepConnections } from '../../support/kept-connections.ts';
import type { Failure } from '../failure.ts';
import type { Violation } from '../violation.ts';
import { playShop } from './shop-story.ts';
import { type FacadeTamper, playStory, type Story } from './story.ts';
import { startServiceHost } from './wire.ts';

/** The number of stories that are played at once, each in its own database: while one waits for it, another goes on. */
export const AT_ONCE = 3;

/** The parts of a story: the payouts of a merchant, and its shop. Each is played from the seed, in an empty database. */
const PARTS = { payouts: playStory, shop: playShop } as const;
export type Part = keyof typeof PARTS;

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
  parts = Object.keys(PARTS) as Part[],
  onPlayed,
  untilBroken = false,
}: {
  /** Addresses of migrated databases that no other story uses. */
  databases: readonly string[];
  seeds: readonly number[];
  steps?: number | undefined;
  tamper?: FacadeTamper | undefined;
  parts?: readonly Part[];
  /** Called with the lines of all parts of a seed. */
  onPlayed?: (lines: string[]) => void;
  /** Set if the first seed that breaks a law ends the run. */
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
      const played: Story[] = [];
      for (const part of parts) {
        await emptyDatabase(databaseUrl);
        const story = await PARTS[part]({ seed, databaseUrl, host, tamper, steps });
        for (const [what, n] of story.counts) counts.set(what, (counts.get(what) ?? 0) + n);
        if (story.broken.length > 0) failures.push({ seed, ...story.broken[0]! });
        failures.push(
          ...(await brokenLaws(databaseUrl)).map((violation) => ({ seed, step: null, ...violation })),
        );
        played.push(story);
      }
      onPlayed?.(played.flatMap(({ lines }) => lines));
    }
  }
  try {
    await Promise.all(databases.map(play));
  } finally {
    await host.close();
  }
  return { counts, failures };
}

/** Finds violations of the laws that a facade has: of its log, its mirror and its requests. */
async function brokenLaws(databaseUrl: string): Promise<Violation[]> {
  const clock = createSystemClock();
  const database = await connectTo(databaseUrl, clock);
  const verifier = createVerifier({ database, clock, isFacade: true, pause: async () => undefined });
  const { findings } = await verifier.verify({ sinceLast: false });
  await database.close();
  return findings.map(({ law, key, found }) => ({ law, what: `${key} ${JSON.stringify(found)}` }));
}
