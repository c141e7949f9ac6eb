import { sql } from 'kysely';
import pg from 'pg';
import { test as base, inject } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import {
  CommitOutcomeUnknown,
  type Database,
  NoConnection,
  ReadOnlyDatabase,
  StatementInterrupted,
} from '../../../server/src/state/db/database.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { createPostgresDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { type FaultyNetwork, startFaultyNetwork } from '../../support/faulty-network.ts';
import { administrate, silent } from '../../support/templates.ts';

// The tests wait for the server's own deadlines, which are long enough for a busy machine, so they wait at the same
// time.

interface Line {
  network: FaultyNetwork;
  /** The address of the database itself, past the faulty network. */
  url: string;
  /** Opens the database through the faulty network, with an empty table `note`. */
  open: () => Promise<Database>;
  /** The warnings of the databases. */
  warnings: unknown[];
  /** Reads the texts of the table `note`, past the faulty network. */
  notes: () => Promise<string[]>;
}

const test = base.extend<{ line: Line }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the fixtures that this one needs from the pattern
  line: async ({}, use) => {
    const url = await createPostgresDatabase('template1');
    const network = await startFaultyNetwork(url);
    const opened: Database[] = [];
    const warnings: unknown[] = [];
    const log = { ...silent, warn: (fields: unknown) => void warnings.push(fields) };
    await query(url, 'create table note (text text)');
    await use({
      network,
      url,
      warnings,
      async open() {
        const clock = createSystemClock();
        const database = await openPostgres({ databaseUrl: network.url, clock, log });
        opened.push(database);
        return database;
      },
      notes: async () => (await query(url, 'select text from note')).map((row) => row.text),
    });
    await Promise.all(opened.map((database) => database.close()));
    await network.close();
  },
});

async function query(url: string, text: string): Promise<{ text: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows;
}

const insert = (text: string) => sql`insert into note values (${text})`;
const isCommit = (chunk: Buffer) => chunk.includes('commit\0');

test.concurrent('A connection without an answer is closed with the idle ones, and the next statements use new ones', async ({
  expect,
  line: { network, open, notes },
}) => {
  const database = await open();
  // Two transactions at once leave two idle connections.
  await database.transaction(() => sql`select 1`.execute(database.sql));
  expect(database.connections()).toEqual({ inUse: 0, idle: 2, waiting: 0 });
  network.silence();
  const read = sql`select text from note`.execute(database.sql);
  await expect(read).rejects.toBeInstanceOf(StatementInterrupted);
  await database.transaction((tx) => insert('made').execute(tx));
  expect(await notes()).toEqual(['made']);
});

test.concurrent('A single statement that nobody answers has an unknown outcome', async ({
  expect,
  line: { network, open, notes },
}) => {
  const database = await open();
  network.onRequest = (chunk) => (chunk.includes('insert') ? 'silence-after' : 'pass');
  await expect(insert('made').execute(database.sql)).rejects.toBeInstanceOf(CommitOutcomeUnknown);
  expect(await notes()).toEqual(['made']);
});

test.concurrent.for([
  ['silence-before', []],
  ['silence-after', ['made']],
] as const)(
  'The outcome of a COMMIT without an answer is unknown: %s',
  async ([verdict, made], { expect, line: { network, open, notes } }) => {
    const database = await open();
    network.onRequest = (chunk) => (isCommit(chunk) ? verdict : 'pass');
    const work = database.transaction((tx) => insert('made').execute(tx));
    await expect(work).rejects.toBeInstanceOf(CommitOutcomeUnknown);
    expect(await notes()).toEqual(made);
  },
);

test.concurrent('PostgreSQL ends the session of a silent connection, which frees its locks', async ({
  expect,
  line: { network, open, notes },
}) => {
  const database = await open();
  await insert('locked').execute(database.sql);
  const work = database.transaction(async (tx) => {
    await sql`update note set text = 'lost'`.execute(tx);
    network.silence();
    await sql`select 1`.execute(tx);
  });
  await expect(work).rejects.toBeInstanceOf(StatementInterrupted);
  await sql`update note set text = 'free'`.execute(database.sql);
  expect(await notes()).toEqual(['free']);
});

test.concurrent('A statement that PostgreSQL cancels counts as interrupted, and keeps its connection', async ({
  expect,
  line: { open },
}) => {
  const database = await open();
  const process = sql<{ pid: number }>`select pg_backend_pid() as pid`;
  const before = await process.execute(database.sql);
  const late = sql`select pg_sleep(60)`.execute(database.sql);
  await expect(late).rejects.toThrow('canceling statement due to statement timeout');
  await expect(late).rejects.toBeInstanceOf(StatementInterrupted);
  expect((await process.execute(database.sql)).rows).toEqual(before.rows);
});

test.concurrent('Maintenance has no deadline for its statements', async ({ expect, line: { open } }) => {
  const database = await open();
  const { rows } = await database.maintenance(({ sql: connection }) =>
    sql`show statement_timeout`.execute(connection),
  );
  expect(rows).toEqual([{ statement_timeout: '0' }]);
});

test.concurrent('The database waits for a new connection no longer than for an answer', async ({
  expect,
  line: { network, open },
}) => {
  const database = await open();
  network.swallows = true;
  network.cut();
  await expect.poll(() => database.connections().idle).toBe(0);
  await expect(sql`select 1`.execute(database.sql)).rejects.toBeInstanceOf(NoConnection);
  network.swallows = false;
  const answers = () =>
    sql`select 1`.execute(database.sql).then(
      () => true,
      () => false,
    );
  await expect.poll(answers).toBe(true);
});

test.concurrent('A silent listening connection is replaced, and every listener is notified to look again', async ({
  expect,
  line: { network, open },
}) => {
  const database = await open();
  const again = deferred();
  const news = deferred<string>();
  await database.listen('events', (payload) => (payload === '' ? again.resolve() : news.resolve(payload)));
  network.silence();
  await again.promise;
  await database.notify('events', 'stream 7');
  expect(await news.promise).toBe('stream 7');
});

test.concurrent('A notification uses another connection when the listening one is late', async ({
  expect,
  line: { network, open, warnings },
}) => {
  const [here, there] = await Promise.all([open(), open()]);
  const heard = deferred<string>();
  await here.listen('events', heard.resolve);
  await there.listen('others', () => undefined);
  network.onRequest = (chunk) =>
    chunk.includes('pg_notify') && chunk.includes('Pnotify') ? 'silence-before' : 'pass';
  await there.notify('events', 'hello');
  expect(await heard.promise).toBe('hello');
  // The listening connection is not given up yet.
  expect(warnings).toEqual([]);
});

test.concurrent('The database closes although the server does not answer', async ({
  expect,
  line: { network, open },
}) => {
  const database = await open();
  await database.listen('events', () => undefined);
  network.swallows = true;
  network.silence();
  const read = sql`select 1`.execute(database.sql);
  const closed = database.close();
  await expect(read).rejects.toBeInstanceOf(StatementInterrupted);
  await closed;
});

test.concurrent('The database reports whether it takes writes, and serves reads while it takes none', async ({
  expect,
  line: { network, open, url },
}) => {
  const database = await open();
  expect(await database.takesWrites()).toBe(true);
  network.silence();
  await expect(database.takesWrites()).rejects.toThrow();
  await expect.poll(() => database.takesWrites().catch(() => null)).toBe(true);

  const name = new URL(url).pathname.slice(1);
  await administrate(
    inject('templates').postgresUrl,
    `alter database ${name} set default_transaction_read_only = on`,
  );
  network.cut();
  await expect.poll(() => database.takesWrites().catch(() => null)).toBe(false);
  await expect(insert('never').execute(database.sql)).rejects.toBeInstanceOf(ReadOnlyDatabase);
  expect((await sql`select text from note`.execute(database.sql)).rows).toEqual([]);
});
