import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import { MigrationError, migrate } from '../../server/src/db/migrate.ts';
import { openPglite } from '../../server/src/db/pglite.ts';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { createPostgresDatabase } from '../support/database.ts';
import { onFatal, silent } from '../support/templates.ts';

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

const engines = {
  PGlite: () => openPglite({ dataDir: 'memory', clock, log: silent, onFatal }),
  PostgreSQL: async () =>
    openPostgres({ databaseUrl: await createPostgresDatabase('template1'), clock, log: silent }),
};

describe.each(Object.entries(engines))('migrations (%s)', (_name, openEngine) => {
  async function open() {
    const database = await openEngine();
    opened.push(database);
    return database;
  }

  test('apply in order, whatever their files hold, and once', async () => {
    const database = await open();
    expect(await migrate(database, folder)).toEqual(['0001_tables', '0002_rows']);
    expect(await migrate(database, folder)).toEqual([]);
    expect(await shelves(database)).toEqual([{ id: 1, books: 1 }]);
    await writeFile(join(folder, '0003_more.sql'), 'insert into book values (2, 1)');
    expect(await migrate(database, folder)).toEqual(['0003_more']);
    expect(await shelves(database)).toEqual([{ id: 1, books: 2 }]);
  });

  test('leave nothing behind when one fails, and name it', async () => {
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
    expect(await shelves(database)).toEqual([{ id: 1, books: 1 }]);
    await writeFile(join(folder, '0004_bad.sql'), 'insert into book values (4, 1)');
    expect(await migrate(database, folder)).toEqual(['0003_good', '0004_bad']);
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
