import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { createPostgresDatabase, openFreshPglite } from '../support/database.ts';
import { dose } from '../support/doses.ts';
import { silent } from '../support/templates.ts';
import { STEPS } from './history.ts';
import { prepareForAudit } from './laws.ts';
import { PLANTED } from './planted.ts';
import { type Failure, playSeeds, replaySeed, textOfFailure } from './seeds.ts';

const SEEDS = dose('SEEDS');
const seeds = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

async function openPrepared(engine: 'PGlite' | 'PostgreSQL'): Promise<Database> {
  const database =
    engine === 'PGlite'
      ? await openFreshPglite()
      : await openPostgres({
          databaseUrl: await createPostgresDatabase(),
          clock: createSystemClock(),
          log: silent,
        });
  await prepareForAudit(database);
  return database;
}

test(`${SEEDS} seeds of ${STEPS} steps break no law`, { timeout: 60_000 + SEEDS * 3_000 }, async () => {
  const database = await openPrepared('PostgreSQL');
  onTestFinished(() => database.close());
  const { counts, failures } = await playSeeds({ database, seeds: seeds(1, SEEDS) });
  expect(failures.map(textOfFailure)).toEqual([]);
  // Whoever refuses everything breaks no law either.
  for (const each of [
    ...['createCardPayment: done', 'pay: paid', 'requestPayout: done', 'requestSubaccountPayout: done'],
    ...['transferToSubaccount: done', 'createTestPayment (sandbox): done', 'task: card_payment.refund'],
    ...['task: card_payment.expire', 'task: webhook.deliver', 'requestPayout: told again'],
    ...['requestPayout: refused: INSUFFICIENT_FUNDS', 'requestPayout: refused: IDEMPOTENCY_CONFLICT'],
    ...['fault: transaction: lost at COMMIT, done', 'fault: transaction: lost at COMMIT, not done'],
  ])
    expect([each, (counts.get(each) ?? 0) > 0]).toEqual([each, true]);
});

test('the same seed gives the same history: alone or among others, on one engine or the other', {
  timeout: 120_000,
}, async () => {
  const [postgres, pglite] = await Promise.all([openPrepared('PostgreSQL'), openPrepared('PGlite')]);
  onTestFinished(() => Promise.all([postgres.close(), pglite.close()]).then(() => undefined));
  const among = await playSeeds({ database: postgres, seeds: seeds(41, 6) });
  const alone = await replaySeed({ database: pglite, seed: 43 });
  expect([...among.failures, ...alone.failures].map(textOfFailure)).toEqual([]);
  expect(alone.history.digest).toBe(among.digests.get(43));
  expect(new Set(among.digests.values()).size).toBe(6);
});

describe('the checker finds a planted fault within a few seeds', () => {
  const AT_ONCE = 3;
  const MOST = 12;
  let database: Database;
  beforeAll(async () => {
    database = await openPrepared('PostgreSQL');
    return () => database.close();
  });

  test.each(Object.entries(PLANTED))('%s', { timeout: 120_000 }, async (_, tamper) => {
    const failures: Failure[] = [];
    for (let from = 1; from <= MOST && failures.length === 0; from += AT_ONCE)
      failures.push(...(await playSeeds({ database, seeds: seeds(from, AT_ONCE), tamper })).failures);
    expect(failures).not.toEqual([]);
  });

  test('and a seed that fails fails again, at the same step', { timeout: 120_000 }, async () => {
    const tamper = PLANTED['a key is forgotten']!;
    const { failures } = await playSeeds({ database, seeds: seeds(1, AT_ONCE), tamper });
    const [{ seed, step, law }] = failures as [Failure];
    const again = await replaySeed({ database, seed, tamper });
    expect(again.failures[0]).toMatchObject({ seed, step, law });
  });
});
