import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { type Database, ReadOnlyDatabase } from '../../../server/src/state/db/database.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { createPostgresDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { startPostgres, type TestServer } from '../../support/postgres.ts';
import { administrate, silent } from '../../support/templates.ts';

// A primary and a standby, under one address; then the two change places.

let primary: TestServer & { port: string };
/** The standby with the same database. */
let standby: { url: string; port: string };
let name: string;
let database: Database;

beforeAll(async () => {
  const shared = inject('templates').postgresUrl;
  const url = await createPostgresDatabase('template1');
  name = new URL(url).pathname.slice(1);
  standby = { url, port: new URL(url).port };
  const server = await startPostgres({ durable: false });
  primary = { ...server, port: new URL(server.url).port };
  await administrate(primary.url, `create database ${name}`);
  await administrate(shared, `alter database ${name} set default_transaction_read_only = on`);
});
afterAll(async () => {
  await database?.close();
  await primary.stop();
});

const open = (parameters: string) =>
  openPostgres({
    databaseUrl: `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/${name}${parameters}`,
    clock: createSystemClock(),
    log: silent,
  });

async function portOf({ sql: statements }: Database): Promise<string> {
  const { rows } = await sql<{ port: string }>`select current_setting('port') as port`.execute(statements);
  return rows[0]!.port;
}

/** The advisory locks that instances hold at a server. */
async function locksAt(url: string): Promise<number> {
  const address = new URL(url);
  address.pathname = `/${name}`;
  const at = await openPostgres({ databaseUrl: address.href, clock: createSystemClock(), log: silent });
  const { rows } = await sql<{ locks: number }>`
    select count(*)::int as locks from pg_locks join pg_database on pg_database.oid = pg_locks.database
    where locktype = 'advisory' and datname = current_database()`.execute(at.sql);
  await at.close();
  return rows[0]!.locks;
}

test('Without a required kind of session the first server that answers is taken', async () => {
  const any = await open('?target_session_attrs=any');
  expect(await portOf(any)).toBe(standby.port);
  expect(await any.takesWrites()).toBe(false);
  await any.close();
});

test('A failover takes each connection along: after one refused write the new primary has the next, the listener and its locks', async () => {
  database = await open('');
  expect(await portOf(database)).toBe(primary.port);
  expect(await database.takesWrites()).toBe(true);
  const again = deferred();
  const news = deferred();
  await database.listen('events', (payload) => (payload === '' ? again : news).resolve());
  expect(await locksAt(primary.url)).toBe(2);

  await administrate(primary.url, 'alter system set default_transaction_read_only = on');
  await administrate(primary.url, 'select pg_reload_conf()');
  const { postgresUrl } = inject('templates');
  await administrate(postgresUrl, `alter database ${name} set default_transaction_read_only = off`);

  const write = () => sql`create table if not exists note (text text)`.execute(database.sql);
  await expect(write()).rejects.toBeInstanceOf(ReadOnlyDatabase);
  await write();
  expect(await portOf(database)).toBe(standby.port);
  expect(await database.takesWrites()).toBe(true);
  await again.promise;
  expect(await locksAt(primary.url)).toBe(0);
  expect(await locksAt(standby.url)).toBe(2);
  await sql`select pg_notify('events', 'from the new primary')`.execute(database.sql);
  await news.promise;
});

test('A server that is away is passed over, and the error names each server where none is left', async () => {
  const away = `127.0.0.1:1,127.0.0.1:${standby.port}`;
  const clock = createSystemClock();
  const opened = await openPostgres({
    databaseUrl: `postgres://postgres@${away}/${name}`,
    clock,
    log: silent,
  });
  expect(await portOf(opened)).toBe(standby.port);
  await opened.close();
  const none = `postgres://postgres@127.0.0.1:1,127.0.0.1:${primary.port}/${name}`;
  await expect(openPostgres({ databaseUrl: none, clock, log: silent })).rejects.toThrow(
    `127.0.0.1:1: ECONNREFUSED; 127.0.0.1:${primary.port}: it takes no writes`,
  );
});
