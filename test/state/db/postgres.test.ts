import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { type Clock, createSystemClock } from '../../../server/src/kernel/clock.ts';
import { openConnections } from '../../../server/src/state/db/connections.ts';
import { CommitOutcomeUnknown, type Database } from '../../../server/src/state/db/database.ts';
import type { Log } from '../../../server/src/state/db/log.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { PoolerError } from '../../../server/src/state/db/sessions.ts';
import { createPostgresDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { type FaultyNetwork, startFaultyNetwork } from '../../support/faulty-network.ts';
import { startTransactionPooler } from '../../support/pooler.ts';
import { administrate, silent } from '../../support/templates.ts';

let url: string;
let network: FaultyNetwork;
const opened: Database[] = [];

beforeEach(async () => {
  url = await createPostgresDatabase('template1');
  network = await startFaultyNetwork(url);
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()));
  await network.close();
});

async function open({ clock = createSystemClock(), log = silent }: { clock?: Clock; log?: Log } = {}) {
  const database = await openPostgres({ databaseUrl: network.url, clock, log });
  opened.push(database);
  return database;
}

test('A transaction that is refused at its beginning sends no further statement', async () => {
  const asked: string[] = [];
  class Refused extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: it has many forms
    override query(...given: any[]): any {
      const text: string = given[0].text ?? given[0];
      asked.push(text);
      if (text.startsWith('start')) return super.query('select 1 / 0');
      return super.query(...(given as Parameters<pg.Client['query']>));
    }
  }
  const clock = createSystemClock();
  const { transaction, close } = openConnections(
    { connectionString: url, Client: Refused },
    { clock, log: silent },
  );
  const refused = transaction(async (tx) => {
    await sql`select 1`.execute(tx);
    await sql`create table never (id int)`.execute(tx);
  });
  await expect(refused).rejects.toMatchObject({ code: '22012' });
  await close();
  expect(asked.filter((text) => text.includes('never'))).toEqual([]);
});

async function createNotes(database: Database): Promise<void> {
  await sql`create table note (text text)`.execute(database.sql);
}

async function notes(): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select text from note');
  await client.end();
  return rows.map((row) => row.text);
}

const isCommit = (chunk: Buffer) => chunk.includes('commit\0');

test('The outcome is unknown when COMMIT was made and its answer was lost', async () => {
  const database = await open();
  await createNotes(database);
  network.onRequest = (chunk) => (isCommit(chunk) ? 'cut-after' : 'pass');
  const work = database.transaction((tx) => sql`insert into note values ('made')`.execute(tx));
  await expect(work).rejects.toBeInstanceOf(CommitOutcomeUnknown);
  expect(await notes()).toEqual(['made']);
});

test('The outcome is unknown when COMMIT itself was lost', async () => {
  const database = await open();
  await createNotes(database);
  network.onRequest = (chunk) => (isCommit(chunk) ? 'cut-before' : 'pass');
  const work = database.transaction((tx) => sql`insert into note values ('not made')`.execute(tx));
  await expect(work).rejects.toBeInstanceOf(CommitOutcomeUnknown);
  expect(await notes()).toEqual([]);
});

test('A transaction whose connection is lost before COMMIT is known to have failed, and the next one succeeds', async () => {
  const database = await open();
  await createNotes(database);
  const work = database.transaction(async (tx) => {
    await sql`insert into note values ('not made')`.execute(tx);
    network.cut();
    await sql`select 1`.execute(tx).catch(() => 'ignored');
  });
  await expect(work).rejects.toThrow(/Connection terminated unexpectedly|read ECONNRESET/);
  await expect(work).rejects.not.toBeInstanceOf(CommitOutcomeUnknown);
  expect(await notes()).toEqual([]);
  await database.transaction((tx) => sql`insert into note values ('made')`.execute(tx));
  expect(await notes()).toEqual(['made']);
});

test('A failed transaction throws its own error, and not that of the rollback', async () => {
  const database = await open();
  network.onRequest = (chunk) => (chunk.includes('select 42') ? 'cut-before' : 'pass');
  const failure = new Error('refused');
  const work = database.transaction(async (tx) => {
    await sql`select 42`.execute(tx).catch(() => 'ignored');
    throw failure;
  });
  await expect(work).rejects.toBe(failure);
});

test('The database survives the loss of idle connections', async () => {
  const noticed = deferred();
  let left = 2;
  const warn = () => {
    left -= 1;
    if (left === 0) noticed.resolve();
  };
  const database = await open({ log: { ...silent, warn } });
  expect(database.connections()).toMatchObject({ idle: left });
  network.cut();
  await noticed.promise;
  const { rows } = await sql`select 1 as one`.execute(database.sql);
  expect(rows).toEqual([{ one: 1 }]);
});

test('A lost listening connection is replaced, and every listener is notified to look again', async () => {
  const database = await open();
  const heard: string[] = [];
  const again = deferred();
  const news = deferred();
  await database.listen('events', (payload) => {
    heard.push(payload);
    (payload === '' ? again : news).resolve();
  });
  network.cut();
  await again.promise;
  await database.notify('events', 'stream 7');
  await news.promise;
  expect(heard).toEqual(['', 'stream 7']);
});

test('A listening connection is tried again by the clock while the server is away', async () => {
  const scheduled = deferred<{ ms: number; run: () => void }>();
  const now = new Date('2026-01-01T00:00:00Z');
  const clock: Clock = {
    now: () => now,
    ms: () => now.getTime(),
    schedule(at, run) {
      scheduled.resolve({ ms: at.getTime() - now.getTime(), run });
      return () => undefined;
    },
  };
  const database = await open({ clock });
  const again = deferred<string>();
  await database.listen('events', again.resolve);
  network.refuses = true;
  network.cut();
  const { ms, run } = await scheduled.promise;
  expect(ms).toBe(100);
  network.refuses = false;
  run();
  expect(await again.promise).toBe('');
});

test('The database closes while the server is away', async () => {
  const waiting = deferred();
  const clock: Clock = {
    now: () => new Date(0),
    ms: () => 0,
    schedule() {
      waiting.resolve();
      return () => undefined;
    },
  };
  const database = await open({ clock });
  await database.listen('events', () => undefined);
  network.refuses = true;
  network.cut();
  await waiting.promise;
  await database.close();
});

test('A listener receives the notifications of another process', async () => {
  const [here, there] = await Promise.all([open(), open()]);
  const heard = deferred<string>();
  await here.listen('events', heard.resolve);
  await there.notify('events', 'hello');
  expect(await heard.promise).toBe('hello');
});

test('A database that does not exist is not opened', async () => {
  const { postgresUrl } = inject('templates');
  await expect(
    openPostgres({ databaseUrl: `${postgresUrl}_missing`, clock: createSystemClock(), log: silent }),
  ).rejects.toThrow('"postgres_missing" does not exist');
});

test('PostgreSQL has the deadlines too, so that no transaction of a lost machine holds a tenant', async () => {
  const database = await open();
  const { rows } = await sql<{ given: string }>`
    select concat_ws(' ', current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
      current_setting('tcp_user_timeout'), current_setting('TimeZone'), current_setting('jit')) as given
  `.execute(database.sql);
  expect(rows).toEqual([{ given: '4s 5s 5000 UTC off' }]);
});

test('The trial write works as a user without any special right', async () => {
  const role = `plain_${Math.random().toString(36).slice(2)}`;
  await administrate(url, `create role ${role} login`);
  const address = new URL(network.url);
  address.username = role;
  const clock = createSystemClock();
  const database = await openPostgres({ databaseUrl: address.href, clock, log: silent });
  opened.push(database);
  expect(await database.takesWrites()).toBe(true);
});

test('A pooler that lends a session for one transaction alone is refused, and keeps no lock', async () => {
  const pooler = await startTransactionPooler(url);
  const clock = createSystemClock();
  const opening = openPostgres({ databaseUrl: pooler.url, clock, log: silent });
  await expect(opening).rejects.toBeInstanceOf(PoolerError);
  const database = await open();
  const { rows } = await sql`
    select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database
      where datname = current_database())`.execute(database.sql);
  expect(rows).toEqual([]);
  await pooler.close();
});
