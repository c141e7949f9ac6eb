import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import { type Failure, seedsFrom, textOfFailure } from './failure.ts';
import { PLANTED } from './planted.ts';
import { openPrepared } from './prepared.ts';
import { playSeeds, replaySeed } from './seeds.ts';

test('the same seed gives the same history: alone or among others, on one engine or the other', async () => {
  const [postgres, pglite] = await Promise.all([openPrepared('PostgreSQL'), openPrepared('PGlite')]);
  onTestFinished(() => Promise.all([postgres.close(), pglite.close()]).then(() => undefined));
  const among = await playSeeds({ database: postgres, seeds: seedsFrom(41, 6) });
  const alone = await replaySeed({ database: pglite, seed: 43 });
  expect([...among.failures, ...alone.failures].map(textOfFailure)).toEqual([]);
  expect(alone.history.digest).toBe(among.digests.get(43));
  expect(new Set(among.digests.values()).size).toBe(6);
});

describe('the checker finds a planted fault within a few seeds', () => {
  const AT_ONCE = 3;
  const MOST = 24;
  let database: Database;
  beforeAll(async () => {
    database = await openPrepared('PostgreSQL');
    return () => database.close();
  });

  test.each(Object.entries(PLANTED))('The checker finds a planted fault: %s', async (_, tamper) => {
    const failures: Failure[] = [];
    for (let from = 1; from <= MOST && failures.length === 0; from += AT_ONCE)
      failures.push(...(await playSeeds({ database, seeds: seedsFrom(from, AT_ONCE), tamper })).failures);
    expect(failures).not.toEqual([]);
  });

  test('A seed that fails fails again at the same step', async () => {
    const tamper = PLANTED['a key is forgotten']!;
    const { failures } = await playSeeds({ database, seeds: seedsFrom(1, AT_ONCE), tamper });
    const [{ seed, step, law }] = failures as [Failure];
    const again = await replaySeed({ database, seed, tamper });
    expect(again.failures[0]).toMatchObject({ seed, step, law });
  });
});
