import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../server/src/state/db/database.ts';
import { scale } from '../support/scale.ts';
import { seedsFrom, textOfFailure } from './failure.ts';
import { foreignRows } from './foreign-rows.ts';
import type { History } from './history.ts';
import { STEPS } from './history.ts';
import { AFTER_THE_TOUR, OF_MANY_SEEDS, TOUR } from './outcomes.ts';
import { openPrepared } from './prepared.ts';
import { playSeeds } from './seeds.ts';

const SEEDS = scale('SEEDS');

let database: Database;
beforeAll(async () => {
  database = await openPrepared('PostgreSQL');
  return () => database.close();
});

const missing = (counts: ReadonlyMap<string, number>, outcomes: readonly string[]) =>
  outcomes.filter((each) => !counts.has(each));

test.concurrent(`${SEEDS} seeds of ${STEPS} steps break no law`, {
  timeout: 600_000 + SEEDS * 10_000,
}, async () => {
  const { counts, failures } = await playSeeds({ database, seeds: seedsFrom(1, SEEDS) });
  expect(failures.map(textOfFailure)).toEqual([]);
  // The outcomes of a few seeds are luck, and every new step changes them.
  if (SEEDS >= 100) expect(missing(counts, OF_MANY_SEEDS)).toEqual([]);
});

// A server that refused everything would break no law either.
test.concurrent('where nothing fails each family does what it is for, and breaks no law', async () => {
  let loaded: History['loaded'] = new Map();
  const { counts, failures } = await playSeeds({
    ...{ database, seeds: seedsFrom(1, 1), tour: TOUR },
    onPlayed: (history) => {
      loaded = history.loaded;
    },
  });
  expect(failures.map(textOfFailure)).toEqual([]);
  expect(missing(counts, [...TOUR.map(({ until }) => until), ...AFTER_THE_TOUR])).toEqual([]);

  // Decisions of many tenants share each load: a join without the tenant would show the rows of one to another.
  expect(loaded.size).toBeGreaterThan(30);
  const foreign = [...loaded].map(([collection, keys]) => foreignRows(database, collection, keys));
  expect((await Promise.all(foreign)).flat()).toEqual([]);
});
