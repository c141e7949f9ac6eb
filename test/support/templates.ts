import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { sql } from 'kysely';
import pg from 'pg';
import { ensureParts } from '../../server/scripts/build.mjs';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import type { Sql } from '../../server/src/state/db/database.ts';
import type { Log } from '../../server/src/state/db/log.ts';
import { migrate } from '../../server/src/state/db/migrate.ts';
import { openPglite } from '../../server/src/state/db/pglite.ts';
import { openPostgres } from '../../server/src/state/db/postgres.ts';

export interface Templates {
  /** The address of the database `postgres`; the migrated `psa_template` is on the same server. */
  postgresUrl: string;
  /** A fingerprint of the template's tables. */
  postgresShape: string;
  /** A tarball of a migrated data folder of PGlite, and the built worker that opens it. */
  pglite: { seed?: string; worker?: string };
}

/** Migrates one database of each engine, for the tests to copy. */
export async function prepareTemplates(postgresUrl: string): Promise<Templates> {
  const [pglite, postgresShape] = await Promise.all([preparePglite(), preparePostgres(postgresUrl)]);
  return { postgresUrl, postgresShape, pglite };
}

/** Copies a database of the server at `postgresUrl`, and returns the address of the copy. */
export async function copyTemplate(postgresUrl: string, template: string): Promise<string> {
  const name = `psa_${process.pid}_${Math.random().toString(36).slice(2)}`;
  // With file_copy the pages bypass the log and the buffers, which takes a third of the CPU time.
  const statement = `create database ${name} template ${template} strategy file_copy`;
  const copier = await takeCopier(postgresUrl);
  try {
    await copier.query(statement);
  } catch (error) {
    await copier.end();
    throw error;
  }
  copier.unref();
  copiers.push(copier);
  return postgresUrl.replace(/\/\w+$/, `/${name}`);
}

/** Idle connections for copies: opening one takes PostgreSQL half the time of a copy. */
const copiers: Copier[] = [];
interface Copier extends pg.Client {
  readonly url: string;
  ref(): void;
  unref(): void;
}

async function takeCopier(url: string): Promise<Copier> {
  const at = copiers.findIndex((copier) => copier.url === url);
  const [idle] = at < 0 ? [] : copiers.splice(at, 1);
  idle?.ref();
  return idle ?? (await openCopier(url));
}

async function openCopier(url: string): Promise<Copier> {
  const copier = Object.assign(new pg.Client({ connectionString: url }), { url }) as unknown as Copier;
  // The connection is lost when its PostgreSQL stops.
  copier.on('error', () => {
    if (copiers.includes(copier)) copiers.splice(copiers.indexOf(copier), 1);
  });
  await copier.connect();
  return copier;
}

/** Runs a statement that needs a connection to the database `postgres`, such as to create another database. */
export async function administrate(postgresUrl: string, statement: string): Promise<void> {
  const admin = new pg.Client({ connectionString: postgresUrl });
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}

/** Migrates the database `psa_template`. Returns the fingerprint of its tables. */
export async function preparePostgres(postgresUrl: string): Promise<string> {
  await administrate(postgresUrl, 'create database psa_template');
  const databaseUrl = postgresUrl.replace(/\/\w+$/, '/psa_template');
  const database = await openPostgres({ databaseUrl, clock: createSystemClock(), log: silent });
  try {
    await migrate(database);
    return await readShape(database.sql);
  } finally {
    await database.close();
  }
}

/** Selects a fingerprint of a database: tables, indexes, triggers, functions, settings, and whether it has been analysed. */
export const SHAPE = `
  select md5(concat(
    (select string_agg(concat(relname, relkind, relnatts, relchecks, relhastriggers), ',' order by oid)
      from pg_class where relnamespace = 'public'::regnamespace),
    (select count(*) from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and reltuples >= 0),
    (select string_agg(concat(tgname, tgenabled), ',' order by oid) from pg_trigger where not tgisinternal),
    (select count(*) from pg_proc where pronamespace = 'public'::regnamespace),
    (select count(*) from pg_db_role_setting
      where setdatabase = (select oid from pg_database where datname = current_database()))
  )) as shape`;

export async function readShape(connection: Sql): Promise<string> {
  const { rows } = await sql.raw<{ shape: string }>(SHAPE).execute(connection);
  return rows[0]!.shape;
}

/** Empties all tables but the record of the migrations, and restarts the sequences, in a session that fires triggers. */
export async function emptyTables(connection: Sql): Promise<void> {
  await sql
    .raw(`do $$ begin set local session_replication_role = replica; ${EMPTY} end $$`)
    .execute(connection);
}

/**
 * Empties a database in a session whose `session_replication_role` is `replica`, so that no trigger fires and no
 * reference is checked. Large tables are truncated, because deleted rows stay in a table's files; the rows of the
 * others are deleted.
 */
export const EMPTY = `
  declare
    each record;
    has_rows boolean;
  begin
    for each in
      select oid::regclass as name, pg_relation_size(oid) as bytes from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely_migration%'
    loop
      if each.bytes > 131072 then
        execute format('truncate %s cascade', each.name);
      elsif each.bytes > 0 then
        execute format('select exists (select from %s)', each.name) into has_rows;
        if has_rows then execute format('delete from %s', each.name); end if;
      end if;
    end loop;
    for each in
      select format('%I', sequencename) as name from pg_sequences
      where schemaname = 'public' and last_value is not null
    loop
      -- alter sequence … restart writes a new file, setval does not.
      perform setval(each.name::regclass, 1, false);
    end loop;
  end;`;

async function preparePglite(): Promise<Templates['pglite']> {
  // The runner of mutants opens no PGlite, and its copy of the sources cannot be built.
  if (process.env.PSA_MUTANTS_DATABASE) return {};
  await ensureParts(['server'], { quiet: true });
  return { seed: await prepareSeed(), worker: WORKER };
}

/** Migrates a data folder of PGlite. It takes seconds to make the tarball, which is cached until a migration or the migrator changes. */
async function prepareSeed(): Promise<string> {
  const file = join(CACHE, `pglite-${fingerprint()}.tar`);
  if (existsSync(file)) return file;
  mkdirSync(CACHE, { recursive: true });
  for (const old of readdirSync(CACHE)) if (old.startsWith('pglite-')) rmSync(join(CACHE, old));

  const dataDir = mkdtempSync(join(tmpdir(), 'psa-template-'));
  try {
    const database = await openPglite({
      dataDir,
      worker: WORKER,
      clock: createSystemClock(),
      log: silent,
      onFatal,
    });
    await migrate(database);
    await database.close();
    const packer = await PGlite.create({ fs: new NodeFS(join(dataDir, 'pgdata')), noInitDb: true });
    const tarball = await packer.dumpDataDir('none');
    // The file is renamed into place, because another test run may be reading it.
    writeFileSync(`${file}.${process.pid}`, Buffer.from(await tarball.arrayBuffer()));
    renameSync(`${file}.${process.pid}`, file);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
  return file;
}

const WORKER = fileURLToPath(new URL('../../server/dist/pglite-worker.js', import.meta.url));

const CACHE = fileURLToPath(new URL('../node_modules/.cache/psa', import.meta.url));

function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(new URL('../package.json', import.meta.url)));
  const migrations = fileURLToPath(new URL('../../server/src/state/db/migrations', import.meta.url));
  for (const file of readdirSync(migrations).sort())
    hash.update(file).update(readFileSync(join(migrations, file)));
  // The migrator, which creates a table of its own, is a part of the fingerprint.
  hash.update(readFileSync(join(migrations, '../migrate.ts')));
  return hash.digest('hex').slice(0, 16);
}

export const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Fails the test run: no test should end a database. */
export function onFatal(error: Error): never {
  throw error;
}
