import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Migration, Migrator, sql } from 'kysely';
import type { Database } from './database.ts';

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * Brings the tables up to date with the `0001_name.sql` files of `folder`, in order, all in one
 * transaction: after a failure nothing has changed. Instances that start at once wait for each other.
 * Returns the names of what was applied now. Throws `MigrationError`, which names the file.
 */
export async function migrate(database: Database, folder: string = MIGRATIONS): Promise<string[]> {
  const migrator = new Migrator({
    db: database.sql,
    provider: { getMigrations: () => readMigrations(folder) },
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error) {
    const failed = results.find((result) => result.status === 'Error');
    const what = failed ? `Migration ${failed.migrationName}` : 'The migrations';
    throw new MigrationError(`${what} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  return results.map((result) => result.migrationName);
}

/** Beside this file, in the source and in what is built from it. */
const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));

async function readMigrations(folder: string): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {};
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.sql')) continue;
    if (!/^\d{4}_\w+\.sql$/.test(file))
      throw new MigrationError(`${file} should be named like 0001_tables.sql`);
    const text = await readFile(`${folder}/${file}`, 'utf8');
    migrations[file.slice(0, -'.sql'.length)] = { up: async (db) => void (await sql.raw(text).execute(db)) };
  }
  // A build that forgot to copy them must not pass for a database that needs none.
  if (Object.keys(migrations).length === 0) throw new MigrationError(`There are no migrations in ${folder}`);
  return migrations;
}
