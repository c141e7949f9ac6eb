import { sql } from 'kysely';
import { afterAll, describe, inject, onTestFinished } from 'vitest';
import { type Clock, createSystemClock } from '../../server/src/kernel/clock.ts';
import type { Database, DatabaseMeter } from '../../server/src/state/db/database.ts';
import { openPglite } from '../../server/src/state/db/pglite.ts';
import { openPostgres } from '../../server/src/state/db/postgres.ts';
import { takePglite } from './pglite-pool.ts';
import { takePostgres } from './postgres-pool.ts';
import { runsAll } from './scale.ts';
import { administrate, copyTemplate, onFatal, silent } from './templates.ts';

/** Opens a database that no other test uses, with all migrations applied. It is closed after the last test. */
export type OpenDatabase = (options?: { clock?: Clock }) => Promise<Database>;

const ENGINES = { PGlite: openFreshPglite, PostgreSQL: openFreshPostgres };
type Engine = keyof typeof ENGINES;

/**
 * Runs the same tests against PGlite in memory and against a PostgreSQL, in every run: for code in which the two may
 * differ. With `PSA_MUTANTS_DATABASE` only against PostgreSQL, which is opened in milliseconds.
 */
export function describeOnBothEngines(name: string, tests: Tests): void {
  describeOn(process.env.PSA_MUTANTS_DATABASE ? ['PostgreSQL'] : ['PGlite', 'PostgreSQL'], name, tests);
}

/** Runs tests that do not depend on the engine: `npm test` against PostgreSQL, `npm run test:all` against both. */
export function describeOnDatabase(name: string, tests: Tests): void {
  if (runsAll()) describeOnBothEngines(name, tests);
  else describeOn([DEFAULT_ENGINE], name, tests);
}

type Tests = (open: OpenDatabase, engine: Engine) => void;

function describeOn(engines: readonly Engine[], name: string, tests: Tests): void {
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
      }, engine);
    });
  }
}

/**
 * The engine of tests that do not choose one: PostgreSQL, whose template is copied in a thirtieth of the CPU time that
 * PGlite takes to start. `npm run nightly -- pglite` runs the same tests on PGlite.
 */
const DEFAULT_ENGINE: Engine = process.env.PSA_TEST_ENGINE === 'pglite' ? 'PGlite' : 'PostgreSQL';

/** Selects the engines of this run: PostgreSQL in `npm test`, and both in `npm run test:all`. */
export function inThisRun<Of extends Record<Engine, unknown>>(byEngine: Of): [Engine, Of[Engine]][] {
  const all = Object.entries(byEngine) as [Engine, Of[Engine]][];
  return runsAll() ? all : all.filter(([engine]) => engine === DEFAULT_ENGINE);
}

/** The deadline of a statement in tests of other things: a busy machine exceeds a server's own. */
const PATIENT_MS = 60_000;

/** Opens a database of the default engine that no other test uses, with all migrations applied. */
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
  return openPglite({ dataDir: 'memory', backend: await takePglite(), clock, log: silent, onFatal, meter });
}

async function openFreshPostgres(
  clock: Clock = createSystemClock(),
  meter?: DatabaseMeter,
): Promise<Database> {
  const { url, release } = await takePostgres();
  const database = await connectTo(url, clock, meter);
  return {
    ...database,
    async close() {
      await database.close();
      release();
    },
  };
}

/** Connects to a PostgreSQL database as one more instance. */
export function connectTo(databaseUrl: string, clock: Clock, meter?: DatabaseMeter): Promise<Database> {
  return openPostgres({ databaseUrl, clock, log: silent, meter, waitMs: PATIENT_MS });
}

/**
 * Takes a migrated database for the running test, which opens it more than once. A later test reuses it. Returns its
 * address.
 */
export async function takePostgresDatabase(): Promise<string> {
  const { url, release } = await takePostgres();
  // What the test registers after this line, such as the end of its servers, runs before.
  onTestFinished(release);
  return url;
}

/** Copies the migrated template, for tests that change more than rows. Returns the address of the copy. */
export function createPostgresDatabase(template = 'psa_template'): Promise<string> {
  return copyTemplate(inject('templates').postgresUrl, template);
}

/** Drops a database before the end of the run, for tests that create very many. */
export function dropPostgresDatabase(url: string): Promise<void> {
  const { postgresUrl } = inject('templates');
  return administrate(postgresUrl, `drop database if exists ${/\w+$/.exec(url)![0]} with (force)`);
}

/** Whether a statement in the same database of PostgreSQL waits for a lock. */
export async function hasLockWaiter(database: Database): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    database.sql,
  );
  return rows.length > 0;
}
