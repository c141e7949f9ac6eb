import { afterAll, describe, inject } from 'vitest';
import type { Database, DatabaseMeter } from '../../server/src/db/database.ts';
import { openPglite } from '../../server/src/db/pglite.ts';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { type Clock, createSystemClock } from '../../server/src/kernel/clock.ts';
import { administrate, copyTemplate, onFatal, silent } from './templates.ts';

/** Opens a database that nobody else has, with all migrations applied. It is closed after the last test. */
export type OpenDatabase = (options?: { clock?: Clock }) => Promise<Database>;

const ENGINES = { PGlite: openFreshPglite, PostgreSQL: openFreshPostgres };

/**
 * Runs the same tests against PGlite in memory and against a PostgreSQL; with `PSA_MUTANTS_DATABASE` against the latter
 * alone, which is opened in milliseconds.
 */
export function describeOnBothEngines(name: string, tests: (open: OpenDatabase) => void): void {
  for (const [engine, open] of Object.entries(ENGINES)) {
    if (process.env.PSA_MUTANTS_DATABASE && engine === 'PGlite') continue;
    describe(`${name} (${engine})`, () => {
      const opened: Database[] = [];
      afterAll(async () => {
        await Promise.all(opened.map((database) => database.close()));
      });
      tests(async ({ clock = createSystemClock() } = {}) => {
        const database = await open(clock);
        opened.push(database);
        return database;
      });
    });
  }
}

export function openFreshPglite(
  clock: Clock = createSystemClock(),
  meter?: DatabaseMeter,
): Promise<Database> {
  const { pglite } = inject('templates');
  return openPglite({ ...pglite, dataDir: 'memory', clock, log: silent, onFatal, meter });
}

async function openFreshPostgres(clock: Clock = createSystemClock()): Promise<Database> {
  return openPostgres({ databaseUrl: await createPostgresDatabase(), clock, log: silent });
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
