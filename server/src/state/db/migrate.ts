import { readdirSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { assetPath } from '../../kernel/assets.ts';
import { type Database, MIGRATION_LOCK, SERVING_LOCK, type Sql } from './database.ts';
import { MigrationError } from './migration-error.ts';

// A database is migrated while servers of the previous version work on it: a migration expands what they use, and only one
// of a later version removes what no server uses any more. The name of a migration says what it is:
//
//   0016_note.sql              expands: servers that know 0015 keep working. It runs in one transaction. `-- next` divides it
//                              into parts with a transaction each, so that no lock on one table is held while another is
//                              awaited; each part can then be run twice.
//   0017_note_online.sql       the same, outside a transaction, statement by statement (divided by `-- next`): for
//                              indexes made concurrently and backfills in batches. It may be interrupted anywhere and run
//                              again, so each statement can be run twice.
//   0018_no_memo_needs_0016.sql  contracts: only servers that know 0016 can keep working.

/** The line that divides a migration into parts. */
const PARTS = /^-- next$/m;

interface Migration {
  readonly name: string;
  readonly number: number;
  readonly isOnline: boolean;
  /** The oldest migration that a server must know to work after this one; null means any server. */
  readonly needs: number | null;
}

/**
 * Applies the missing migrations among the `0001_name.sql` files of `folder`, in order, one at a time: after
 * a failure the earlier ones stay. Instances that start at once wait for each other. Stops after `upTo`, if
 * given. Returns the names of the applied migrations.
 * @throws MigrationError, which names the file; if a newer version has left tables that this one cannot
 * work on; if this one would remove what a running server of an older version works on
 */
export async function migrate(
  database: Database,
  folder: string = MIGRATIONS,
  upTo?: string,
): Promise<string[]> {
  const known = readMigrations(folder);
  const targets =
    upTo === undefined ? known : known.slice(0, known.findIndex(({ name }) => name === upTo) + 1);
  // Most starts have nothing to apply: they take no lock and wait for no other instance.
  if (pendingOf(targets, await appliedMigrations(database.sql)).length === 0) return [];
  return database.maintenance(({ sql: pool }) =>
    pool.connection().execute(async (db) => {
      await takeLock(db);
      try {
        await sql`create table if not exists kysely_migration (
        name varchar(255) primary key, timestamp varchar(255) not null
      )`.execute(db);
        const pending = pendingOf(targets, await appliedMigrations(db));
        for (const migration of pending) await apply(db, migration, folder);
        return pending.map(({ name }) => name);
      } finally {
        // If the connection was lost, that has released the lock.
        await sql`select pg_advisory_unlock(${MIGRATION_LOCK})`.execute(db).catch(() => undefined);
      }
    }),
  );
}

/** The number of the newest migration that this version knows. */
export function newestMigration(folder: string = MIGRATIONS): number {
  return readMigrations(folder).at(-1)!.number;
}

/** The names of all migrations that this version knows, in order. */
export function knownMigrations(folder: string = MIGRATIONS): string[] {
  return readMigrations(folder).map(({ name }) => name);
}

/** The first part of a migration, for a restore that needs its table before the migration is applied. */
export function firstPartOf(name: string): string {
  return readFileSync(`${MIGRATIONS}/${name}.sql`, 'utf8').split(PARTS, 1)[0]!;
}

/** The names of the migrations that were applied to a database, in order. */
export async function appliedMigrations(db: Sql): Promise<string[]> {
  const { rows: found } = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(db);
  if (!found[0]?.there) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Lists the migrations still to be applied. @throws MigrationError if this version cannot work on the database */
function pendingOf(known: readonly Migration[], applied: readonly string[]): readonly Migration[] {
  const newer = applied.slice(known.length);
  const other = known.find(({ name }, index) => index < applied.length && applied[index] !== name);
  if (other)
    throw new MigrationError(
      `The database was brought forward by ${applied[known.indexOf(other)]}, which this version does not know in the place of ${other.name}`,
    );
  const newest = known.at(-1)?.number ?? 0;
  for (const name of newer) {
    const { needs } = parseName(name);
    if (needs !== null && needs > newest)
      throw new MigrationError(
        `The database was brought forward by a newer version (${name}), and this one cannot work on it: start the newer one`,
      );
  }
  return known.slice(applied.length);
}

async function apply(db: Sql, migration: Migration, folder: string): Promise<void> {
  const { name, isOnline } = migration;
  const text = readFileSync(`${folder}/${name}.sql`, 'utf8');
  try {
    await assertNoOlderServer(db, migration);
    const parts = text.split(PARTS);
    if (!isOnline) {
      const last = parts.pop()!;
      for (const part of parts) await applyInTransaction(db, part, null);
      await applyInTransaction(db, last, name);
      return;
    }
    for (const statement of parts) await sql.raw(statement).execute(db);
    await recordMigration(db, name);
  } catch (error) {
    if (error instanceof MigrationError) throw error;
    throw new MigrationError(`Migration ${name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

/**
 * Applies a part of a migration in one transaction, which records the migration `recordAs`; null for all parts but
 * the last. While it waits for a table's lock, every later query of that table waits, too. So it gives up before a
 * client would notice, releases all its locks, and retries.
 */
async function applyInTransaction(db: Sql, text: string, recordAs: string | null): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await db.transaction().execute(async (tx) => {
        await sql`set local lock_timeout = ${sql.raw(`'${LOCK_TIMEOUT_MS}ms'`)}`.execute(tx);
        await sql.raw(text).execute(tx);
        if (recordAs !== null) await recordMigration(tx, recordAs);
      });
      return;
    } catch (error) {
      if (!RETRYABLE_CODES.has((error as { code?: string }).code ?? '') || attempt === MAX_ATTEMPTS)
        throw error;
      await pause(db);
    }
  }
}

const LOCK_TIMEOUT_MS = 300;
const MAX_ATTEMPTS = 600;
/** The codes of lock_not_available and deadlock_detected. */
const RETRYABLE_CODES = new Set(['55P03', '40P01']);

/**
 * Throws if a running server needs what the migration removes: such a server holds SERVING_LOCK with the
 * newest migration that it knows.
 */
async function assertNoOlderServer(db: Sql, { name, needs }: Migration): Promise<void> {
  if (needs === null) return;
  const { rows } = await sql<{ knows: number }>`
    select objid::bigint as knows from pg_locks
    where locktype = 'advisory' and classid = ${SERVING_LOCK} and objid::bigint < ${needs}
      and database = (select oid from pg_database where datname = current_database())
    limit 1`.execute(db);
  if (rows[0])
    throw new MigrationError(
      `Migration ${name} takes away what a running server of an older version works on: stop that one first`,
    );
}

async function recordMigration(db: Sql, name: string): Promise<void> {
  await sql`insert into kysely_migration (name, timestamp) values (${name}, clock_timestamp()::text)`.execute(
    db,
  );
}

/**
 * Polls for the lock instead of waiting for it: a statement that waits is a transaction, and another instance
 * that creates an index concurrently would wait for that transaction.
 */
async function takeLock(db: Sql): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ held: boolean }>`
      select pg_try_advisory_lock(${MIGRATION_LOCK}) as held`.execute(db);
    if (rows[0]?.held) return;
    await pause(db);
  }
}

/** Waits by the database's own time, because a test's clock may stand still. */
async function pause(db: Sql): Promise<void> {
  await sql`select pg_sleep(0.1)`.execute(db);
}

const MIGRATIONS = assetPath('state/db/migrations');

function readMigrations(folder: string): Migration[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  const misnamed = files.find((file) => !/^\d{4}_\w+\.sql$/.test(file));
  if (misnamed) throw new MigrationError(`${misnamed} should be named like 0001_tables.sql`);
  // A build that lacks its migrations must not seem to need none.
  if (files.length === 0) throw new MigrationError(`There are no migrations in ${folder}`);
  return files.sort().map((file) => parseName(file.slice(0, -'.sql'.length)));
}

function parseName(name: string): Migration {
  const needs = /_needs_(\d{4})$/.exec(name)?.[1];
  return {
    name,
    number: Number(name.slice(0, 4)),
    isOnline: /_online(_needs_\d{4})?$/.test(name),
    needs: needs === undefined ? null : Number(needs),
  };
}
