import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, inject, onTestFinished, test } from 'vitest';
import { bootstrapRemote } from '../../server/src/access/administration.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import { pathsIn } from '../../server/src/state/db/data-folder.ts';
import { lockDataDir } from '../../server/src/state/db/lock.ts';
import { openPostgres } from '../../server/src/state/db/postgres.ts';
import { createPostgresDatabase } from '../support/database.ts';
import { startTransactionPooler } from '../support/pooler.ts';
import { silent } from '../support/templates.ts';
import { runInTest, temporaryFolder } from '../support/test-program.ts';

test('A server stops at a wrong variable, in one line that names it', async () => {
  expect(await failure({ PORT: 'x', DATABASE_URL: 'mysql://u:hidden@db/psa' })).toBe(
    'PORT must be a whole number; DATABASE_URL must begin with postgres:// or postgresql://, or be pairs such as host=db dbname=psa\n',
  );
});

test('A server stops at a misspelt variable, which would leave it open', async () => {
  expect(await failure({ PSA_TRUSTED_DOCUMENT_ONLY: 'all' })).toBe(
    'PSA_TRUSTED_DOCUMENT_ONLY is not known: did you mean PSA_TRUSTED_DOCUMENTS_ONLY?\n',
  );
});

test('A server in front of a service names the key that is missing', async () => {
  expect(await failure({ PSA_UPSTREAM_URL: 'https://api.example' })).toMatch(
    /^PSA_UPSTREAM_LIVE_KEY must be set[^\n]*PSA_UPSTREAM_TEST_KEY[^\n]*\n$/,
  );
});

test('A server stops at a database of the other mode, in one line', async () => {
  const DATABASE_URL = await createPostgresDatabase();
  const clock = createSystemClock();
  const database = await openPostgres({ databaseUrl: DATABASE_URL, clock, log: silent });
  const committer = createCommitter({ database, clock, onCommit: () => undefined });
  const upstream = { url: 'https://api.example', keys: { live: 'ps_live_0123456789hidden' } };
  await bootstrapRemote({ database, committer, clock, upstream });
  await database.close();
  expect(await failure({ DATABASE_URL })).toMatch(
    /^The database is of a server in front of https:\/\/api\.example: [^\n]*DATABASE_URL\n$/,
  );
});

test('A server stops at a port in use', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const folder = temporaryFolder();
  expect(await failure({ PORT: String(port), PSA_DATA_DIR: folder })).toBe(
    `Port ${port} is already in use: stop what uses it, or set PORT to another one\n`,
  );
  server.close();
  // A first start would have created keys that nobody would ever see.
  expect(readdirSync(folder)).toEqual([]);
});

test('A server that cannot run ends the PGlite that it has started, and its data is there for the next', async () => {
  const PSA_DATA_DIR = temporaryFolder();
  const first = runInTest({ PSA_DATA_DIR });
  await first.started;
  first.child.kill('SIGINT');
  expect(await first.exited).toBe(0);

  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const refused = runInTest({ PORT: String(port), PSA_DATA_DIR });
  expect(await refused.exited).toBe(1);
  expect(refused.output.stderr).toBe(
    `Port ${port} is already in use: stop what uses it, or set PORT to another one\n`,
  );
  server.close();

  const next = runInTest({ PSA_DATA_DIR });
  await next.started;
  expect(next.output.stdout).not.toContain('ps_live_');
  next.child.kill('SIGINT');
  expect(await next.exited).toBe(0);
});

test('A server stops at a data folder that another process has', async () => {
  const folder = temporaryFolder();
  // If there are data, PGlite starts first, and its lock is refused before the rest of the server is loaded.
  const { pgdata } = pathsIn(folder);
  mkdirSync(pgdata);
  writeFileSync(join(pgdata, 'PG_VERSION'), '');
  const unlock = await lockDataDir(folder);
  expect(await failure({ PSA_DATA_DIR: folder })).toMatch(
    /is in use by another process[^\n]*PSA_DATA_DIR[^\n]*\n$/,
  );
  await unlock();
});

test('A server stops at a data folder that is a file, in one line', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(await failure({ PSA_DATA_DIR: file })).toBe(`PSA_DATA_DIR: ${file} cannot be created (EEXIST)\n`);
});

test('A server stops at a data folder whose database is something else, in one line', async () => {
  const folder = temporaryFolder();
  mkdirSync(pathsIn(folder).pgdata);
  expect(await failure({ PSA_DATA_DIR: folder })).toBe(
    `PSA_DATA_DIR: ${pathsIn(folder).pgdata} is not a database. Move it away, or choose another folder\n`,
  );
});

test('A server stops at a database of a newer version that it cannot work on, in one line', async () => {
  const DATABASE_URL = await createPostgresDatabase();
  const database = await openPostgres({ databaseUrl: DATABASE_URL, clock: createSystemClock(), log: silent });
  await sql`insert into kysely_migration values ('9999_gone_needs_9998', '')`.execute(database.sql);
  await database.close();
  expect(await failure({ DATABASE_URL })).toMatch(
    /^The database was brought forward by a newer version[^\n]*\n$/,
  );
});

test('A server stops at a database in which its user has no rights, in one line', async () => {
  const DATABASE_URL = await createPostgresDatabase();
  const database = await openPostgres({ databaseUrl: DATABASE_URL, clock: createSystemClock(), log: silent });
  const user = `psa_weak_${process.pid}`;
  await sql`create role ${sql.id(user)} login`.execute(database.sql);
  onTestFinished(async () => {
    await sql`drop role ${sql.id(user)}`.execute(database.sql);
    await database.close();
  });
  const url = new URL(DATABASE_URL);
  url.username = user;
  const said = await failure({ DATABASE_URL: url.href });
  expect(said).toMatch(/^DATABASE_URL: the user has to own the database[^\n]*\n$/);
});

const elsewhere: [string, Record<string, string>, string][] = [
  ['an address of another machine', { HOST: '192.0.2.1' }, 'HOST 192.0.2.1'],
  ['a host that has no address', { HOST: 'nothing.invalid' }, 'HOST nothing.invalid'],
  ['a database that is not there', { DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/psa' }, 'DATABASE_URL'],
  [
    'a database host that has no address',
    { DATABASE_URL: 'postgres://u:hidden@nothing.invalid/psa' },
    'DATABASE_URL',
  ],
];
test.each(elsewhere)('A server stops at %s, in one line', async (_, environment, says) => {
  const said = await failure({ PSA_DATA_DIR: 'memory', ...environment });
  expect(said).toContain(says);
  expect(said).not.toContain('hidden');
  expect(said.trimEnd()).not.toContain('\n');
});

test('A server stops at a database that does not exist', async () => {
  const said = await failure({
    DATABASE_URL: inject('templates').postgresUrl.replace(/\/\w+$/, '/psa_nothing'),
  });
  expect(said).toMatch(/^DATABASE_URL[^\n]*\n$/);
});

test('A server stops at a pooler in transaction mode, in one line that names the mode it needs', async () => {
  const pooler = await startTransactionPooler(await createPostgresDatabase());
  onTestFinished(() => pooler.close());
  expect(await failure({ DATABASE_URL: pooler.url })).toMatch(
    /^DATABASE_URL: a pooler in transaction [^\n]*session mode[^\n]*\n$/,
  );
});

/** The text on stderr of a program that exits with 1. */
async function failure(environment: Record<string, string>): Promise<string> {
  const { output, exited } = runInTest(environment);
  expect(await exited).toBe(1);
  expect(output.stdout).toBe('');
  return output.stderr;
}
