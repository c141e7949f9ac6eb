import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { migrate } from '../../../server/src/state/db/migrate.ts';
import { MigrationError } from '../../../server/src/state/db/migration-error.ts';
import { openPglite } from '../../../server/src/state/db/pglite.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { createPostgresDatabase } from '../../support/database.ts';
import { onFatal, silent } from '../../support/templates.ts';

const clock = createSystemClock();
let folder: string;
const opened: Database[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'psa migrations-'));
  await writeFile(
    join(folder, '0001_tables.sql'),
    `create table shelf (id bigint primary key, books int not null default 0);
     create table book (id bigint primary key, shelf_id bigint not null references shelf);
     create function count_book() returns trigger language plpgsql as $$
     begin
       update shelf set books = books + 1 where id = new.shelf_id; -- ';' and 'quotes'
       return new;
     end;
     $$;
     create trigger counted after insert on book for each row execute function count_book();`,
  );
  await writeFile(
    join(folder, '0002_rows.sql'),
    'insert into shelf (id) values (1); insert into book values (1, 1);',
  );
  await writeFile(join(folder, 'README.md'), 'not a migration');
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()));
  await rm(folder, { recursive: true });
});

/** One PGlite for all tests, emptied for each: its start takes longer than all of them. */
let pglite: Promise<Database> | undefined;
afterAll(async () => {
  await (await pglite)?.close();
});

const engines = {
  async PGlite() {
    const { worker } = inject('templates').pglite;
    pglite ??= openPglite({ dataDir: 'memory', ...(worker && { worker }), clock, log: silent, onFatal });
    const database = await pglite;
    await sql`drop schema public cascade`.execute(database.sql);
    await sql`create schema public`.execute(database.sql);
    return { ...database, close: async () => undefined };
  },
  PostgreSQL: async () =>
    openPostgres({ databaseUrl: await createPostgresDatabase('template1'), clock, log: silent }),
};

describe.each(Object.entries(engines))('migrations (%s)', (_name, openEngine) => {
  async function open() {
    const database = await openEngine();
    opened.push(database);
    return database;
  }

  test('Migrations are applied in order and once, whatever their files contain', async () => {
    const database = await open();
    expect(await migrate(database, folder)).toEqual(['0001_tables', '0002_rows']);
    expect(await migrate(database, folder)).toEqual([]);
    expect(await shelves(database)).toEqual([{ id: 1, books: 1 }]);
    await writeFile(join(folder, '0003_more.sql'), 'insert into book values (2, 1)');
    expect(await migrate(database, folder)).toEqual(['0003_more']);
    expect(await shelves(database)).toEqual([{ id: 1, books: 2 }]);
  });

  test('A migration that fails leaves nothing, and the error names it', async () => {
    const database = await open();
    await migrate(database, folder);
    await writeFile(join(folder, '0003_good.sql'), 'insert into book values (3, 1)');
    await writeFile(
      join(folder, '0004_bad.sql'),
      'insert into book values (4, 1); insert into book values (5, 99)',
    );
    const failed = migrate(database, folder);
    await expect(failed).rejects.toBeInstanceOf(MigrationError);
    await expect(failed).rejects.toThrow(/^Migration 0004_bad failed: .*foreign key/);
    expect(await shelves(database)).toEqual([{ id: 1, books: 2 }]);
    await writeFile(join(folder, '0004_bad.sql'), 'insert into book values (4, 1)');
    expect(await migrate(database, folder)).toEqual(['0004_bad']);
    expect(await shelves(database)).toEqual([{ id: 1, books: 3 }]);
  });

  test('An _online migration runs outside a transaction, and continues after an interruption', async () => {
    const database = await open();
    await writeFile(
      join(folder, '0003_page_online.sql'),
      `alter table book add column if not exists pages int;
-- next
drop index if exists book_pages;
-- next
create index concurrently book_pages on book (pages);
-- next
do $$ begin
  for number in 1 .. 3 loop
    update book set pages = number where pages is null;
    commit;
  end loop;
end $$;
-- next
select 1 / (select count(*) from shelf where books = 2);`,
    );
    await expect(migrate(database, folder)).rejects.toThrow(
      /^Migration 0003_page_online failed: division by zero/,
    );
    await sql`insert into book values (2, 1)`.execute(database.sql);
    expect(await migrate(database, folder)).toEqual(['0003_page_online']);
    const { rows } = await sql`select id, pages from book order by id`.execute(database.sql);
    expect(rows).toEqual([
      { id: 1, pages: 1 },
      { id: 2, pages: 1 },
    ]);
  });

  test('A migration in parts has a transaction for each, and continues after an interruption', async () => {
    const database = await open();
    await writeFile(
      join(folder, '0003_parts.sql'),
      `alter table book add column if not exists pages int;
-- next
update shelf set books = 7;
select 1 / (select count(*) from shelf where id = 2);`,
    );
    const failed = migrate(database, folder);
    await expect(failed).rejects.toThrow(/^Migration 0003_parts failed: division by zero/);
    // The first part stays, and nothing of the second is there.
    await sql`insert into book (id, shelf_id, pages) values (2, 1, 3)`.execute(database.sql);
    expect(await shelves(database)).toEqual([{ id: 1, books: 2 }]);
    await sql`insert into shelf (id) values (2)`.execute(database.sql);
    expect(await migrate(database, folder)).toEqual(['0003_parts']);
    expect(await shelves(database)).toEqual([
      { id: 1, books: 7 },
      { id: 2, books: 7 },
    ]);
    expect(await migrate(database, folder)).toEqual([]);
  });

  test('Newer migrations are accepted while they expand, and refused once they contract', async () => {
    const database = await open();
    const newer = await mkdtemp(join(tmpdir(), 'psa newer-'));
    onTestFinished(() => rm(newer, { recursive: true }));
    await cp(folder, newer, { recursive: true });
    await writeFile(join(newer, '0003_expand.sql'), 'alter table book add column pages int');
    await migrate(database, newer);
    expect(await migrate(database, folder)).toEqual([]);
    await writeFile(join(newer, '0004_contract_needs_0003.sql'), 'alter table shelf drop column books');
    await migrate(database, newer);
    await expect(migrate(database, folder)).rejects.toThrow(
      'The database was brought forward by a newer version (0004_contract_needs_0003), and this one cannot work on it',
    );
    // A version between the two knows the needed migration.
    await rm(join(newer, '0004_contract_needs_0003.sql'));
    expect(await migrate(database, newer)).toEqual([]);
  });

  test('Migrations of another program, or in another order, are refused', async () => {
    const database = await open();
    await migrate(database, folder);
    await rename(join(folder, '0002_rows.sql'), join(folder, '0002_other.sql'));
    await expect(migrate(database, folder)).rejects.toThrow(
      'The database was brought forward by 0002_rows, which this version does not know in the place of 0002_other',
    );
  });
});

test('instances that start at once migrate once', async () => {
  const databaseUrl = await createPostgresDatabase('template1');
  const instances = await Promise.all(
    Array.from({ length: 4 }, () => openPostgres({ databaseUrl, clock, log: silent })),
  );
  opened.push(...instances);
  const applied = await Promise.all(instances.map((instance) => migrate(instance, folder)));
  expect(applied.flat().sort()).toEqual(['0001_tables', '0002_rows']);
});

test('A migration in parts holds no lock of one table while it waits for another', async () => {
  const databaseUrl = await createPostgresDatabase('template1');
  const database = await openPostgres({ databaseUrl, clock, log: silent });
  opened.push(database);
  await migrate(database, folder);
  await writeFile(
    join(folder, '0003_parts.sql'),
    `alter table shelf add column if not exists note text;
-- next
alter table book add column if not exists note text;`,
  );
  const reader = new pg.Client({ connectionString: databaseUrl });
  await reader.connect();
  onTestFinished(() => reader.end());
  await reader.query('begin');
  await reader.query('select from book limit 1');
  const migrated = migrate(database, folder);
  migrated.catch(() => undefined);
  let locks: { waits: boolean; holds: boolean };
  do {
    // One statement sees the locks of one moment.
    const { rows } = await sql<typeof locks>`
      select
        coalesce(bool_or(relation = 'book'::regclass and not granted), false) as waits,
        coalesce(bool_or(relation = 'shelf'::regclass and granted), false) as holds
      from pg_locks where mode = 'AccessExclusiveLock'`.execute(database.sql);
    locks = rows[0]!;
  } while (!locks.waits);
  expect(locks.holds).toBe(false);
  await reader.query('rollback');
  expect(await migrated).toEqual(['0003_parts']);
});

test('a folder without migrations is refused', async () => {
  const database = await engines.PostgreSQL();
  opened.push(database);
  await rm(join(folder, '0001_tables.sql'));
  await rm(join(folder, '0002_rows.sql'));
  await expect(migrate(database, folder)).rejects.toThrow(`There are no migrations in ${folder}`);
  await writeFile(join(folder, '1_tables.sql'), 'select 1');
  await expect(migrate(database, folder)).rejects.toThrow(
    '1_tables.sql should be named like 0001_tables.sql',
  );
});

async function shelves(database: Database): Promise<unknown> {
  return (await sql`select id, books from shelf`.execute(database.sql)).rows;
}
