import pg from 'pg';
import { emptierOf } from '../../support/emptier.ts';
import { EMPTY } from '../../support/templates.ts';

/** The rows of a database at one moment: the statements that bring them back. */
export type Snapshot = readonly string[];

/**
 * Reads all rows, and the last numbers of the sequences. A backup of the program has the same, and takes hundreds of
 * statements for a few rows: each restore from it makes every connection plan all its statements again.
 */
export async function takeSnapshot(databaseUrl: string): Promise<Snapshot> {
  const session = await emptierOf(databaseUrl);
  const { rows: tables } = await session.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely_migration%'
      and pg_relation_size(oid) > 0`,
  );
  const reads = tables.map(({ name }) => `select saved::text as row from ${name} saved;`);
  const numbers = `select format('select setval(%L, %s)', format('%I', sequencename), last_value) as row
    from pg_sequences where schemaname = 'public' and last_value is not null`;
  // A text of several statements has a result for each.
  const results = (await session.query<{ row: string }>(
    `begin isolation level repeatable read; ${reads.join(' ')} ${numbers}; commit`,
  )) as unknown as pg.QueryResult<{ row: string }>[];
  const [, ...read] = results.slice(0, -1);
  const setNumbers = read.pop()!.rows.map(({ row }) => row);
  return [
    ...tables.flatMap(({ name }, index) => {
      const rows = read[index]!.rows.map(({ row }) => pg.escapeLiteral(row));
      if (rows.length === 0) return [];
      return `insert into ${name} overriding system value
        select (read).* from (select line::${name} as read from unnest(array[${rows}]) line offset 0) read_lines`;
    }),
    ...setNumbers,
  ];
}

/** Brings the rows of a snapshot back in place of all others. No trigger fires: it would apply the postings again. */
export async function bringBack(databaseUrl: string, snapshot: Snapshot): Promise<void> {
  const session = await emptierOf(databaseUrl);
  await session.query([`do $$ ${EMPTY} $$`, ...snapshot].join(';\n'));
}
