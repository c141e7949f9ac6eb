import { afterAll, describe, inject } from 'vitest';
import type { Database, DatabaseMeter } from '../../server/src/db/database.ts';
import { openPglite } from '../../server/src/db/pglite.ts';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { type Clock, createSystemClock } from '../../server/src/kernel/clock.ts';
import { takePglite } from './pglite-pool.ts';
import { takePostgres } from './postgres-pool.ts';
import { runsAll } from './scale.ts';
import { administrate, copyTemplate, onFatal, silent } from './templates.ts';

/** Opens a database that nobody else has, with all migrations applied. It is closed after the last test. */
export type OpenDatabase = (options?: { clock?: Clock }) => Promise<Database>;

const ENGINES = { PGlite: openFreshPglite, PostgreSQL: openFreshPostgres };
type Engine = keyof typeof ENGINES;

/**
 * Runs the same tests against PGlite in memory and against a PostgreSQL, in every run: for rooms in which the two can
 * differ. With `PSA_MUTANTS_DATABASE` against the latter alone, which is opened in milliseconds.
 */
export function describeOnBothEngines(name: string, tests: (open: OpenDatabase) => void): void {
  describeOn(process.env.PSA_MUTANTS_DATABASE ? ['PostgreSQL'] : ['PGlite', 'PostgreSQL'], name, tests);
}

/**
 * Runs tests that ask the same of either engine. `npm test` runs them against PostgreSQL, `npm run test:all` against
 * both.
 */
export function describeOnDatabase(name: string, tests: (open: OpenDatabase) => void): void {
  if (runsAll()) describeOnBothEngines(name, tests);
  else describeOn([DEFAULT_ENGINE], name, tests);
}

function describeOn(engines: readonly Engine[], name: string, tests: (open: OpenDatabase) => void): void {
  for (const engine of engines) {
    describe(`${name} (${engine})`, () => {
      const opened: Database[] = [];
      afterAll(async () => {
        await Promise.all(opened.map((database) => database.close()));
      });
      tests(async ({ clock = createSystemClock() } = {}) => {
        const database = await ENGINES[engine](clock);
        opened.push(database);
        return database;
      });
    });
  }
}

/**
 * The engine of tests that do not choose one: PostgreSQL, whose template is copied in a thirtieth of the CPU time that
 * PGlite takes to start. `npm run nightly -- pglite` runs the same tests on PGlite.
 */
const DEFAULT_ENGINE: Engine = process.env.PSA_TEST_ENGINE === 'pglite' ? 'PGlite' : 'PostgreSQL';

/** Selects by engine: PostgreSQL's in `npm test`, and all of them in `npm run test:all`. */
export function inThisRun<Of extends Record<Engine, unknown>>(ofEngines: Of): [Engine, Of[Engine]][] {
  const all = Object.entries(ofEngines) as [Engine, Of[Engine]][];
  return runsAll() ? all : all.filter(([engine]) => engine === DEFAULT_ENGINE);
}

/** A database of the default engine that nobody else has, with all migrations applied. */
export function openFreshDatabase(
  clock: Clock = createSystemClock(),
  meter?: DatabaseMeter,
): Promise<Database> {
  return ENGINES[DEFAULT_ENGINE](clock, meter);
}

export async function openFreshPglite(
  clock: Clock = createSystemClock(),
  meter?: DatabaseMeter,
): Promise<Database> {
  return openPglite({
    ...{ dataDir: 'memory', backend: await takePglite() },
    ...{ clock, log: silent, onFatal, meter },
  });
}

async function openFreshPostgres(
  clock: Clock = createSystemClock(),
  meter?: DatabaseMeter,
): Promise<Database> {
  const { url, release } = await takePostgres();
  const database = await openPostgres({ databaseUrl: url, clock, log: silent, meter });
  return {
    ...database,
    async close() {
      await database.close();
      release();
    },
  };
}

/** A copy of the migrated template, for tests that open it more than once. Returns its address. */
export function createPostgresDatabase(template = 'psa_template'): Promise<string> {
  return copyTemplate(inject('templates').postgresUrl, template);
}

/** Before the end of the run, where there would be very many. */
export function dropPostgresDatabase(url: string): Promise<void> {
  const { postgresUrl } = inject('templates');
  return administrate(postgresUrl, `drop database if exists ${/\w+$/.exec(url)![0]} with (force)`);
}
