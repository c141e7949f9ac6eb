import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Database, Sql } from './database.ts';
import { appliedMigrations, knownMigrations, migrate } from './migrate.ts';
import { markRestored } from './records.ts';

// The format of a backup, line by line: a header, each table with its rows, and at the end the row counts and
// a hash of everything before. A row is PostgreSQL's own text of it. Both engines write the same text, so a
// backup of one can be restored into the other.

/** An error that a person has to correct: the message says how. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

const FORMAT = 1;

const header = z.object({
  psaBackup: z.number(),
  takenAt: z.string(),
  engine: z.enum(['pglite', 'postgres']),
  /** The migrations that were applied to the tables. */
  migrations: z.array(z.string()).min(1),
  /** The tables, each after those that it refers to. */
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  /** The last number drawn for each column with a sequence of its own; null if none was drawn. */
  numbered: z.array(z.object({ table: z.string(), column: z.string(), last: z.number().nullable() })),
});
const end = z.object({ rows: z.record(z.string(), z.number()), sha256: z.string() });

export type BackupHeader = z.infer<typeof header>;
type Layout = Pick<BackupHeader, 'migrations' | 'tables' | 'numbered'>;

/** The number of rows of each table. */
export type Rows = Record<string, number>;

/** Called after each batch with the number of rows of its table so far. */
export type OnRows = (table: string, rows: number) => void;

const ROWS_AT_ONCE = 500;
/** Rows with bytes, of up to 10 MB as text. */
const ROWS_WITH_BYTES_AT_ONCE = 4;
const TEXT_AT_ONCE = 4_000_000;

// ── Saving ──────────────────────────────────────────────────────────────────────────────────────

/**
 * Passes the content of a database at one moment to `write`, one text after the other, while others continue
 * to write. On PostgreSQL it blocks only changes to a table's columns.
 */
export async function saveDatabase(
  database: Database,
  {
    takenAt,
    write,
    onRows = () => undefined,
  }: { takenAt: Date; write: (texts: AsyncIterable<string>) => Promise<void>; onRows?: OnRows },
): Promise<{ header: BackupHeader; rows: Rows }> {
  const before = await readTables(database.sql);
  return database.maintenance(({ transaction }) =>
    transaction(async (db) => {
      await sql`set transaction isolation level repeatable read, read only`.execute(db);
      await sql`set local idle_in_transaction_session_timeout = '10min'`.execute(db);
      await useFixedFormats(db);
      const all = sql.join(before.map(({ name }) => sql.table(name)));
      await sql`lock table ${all} in access share mode`.execute(db);
      const layout = await readLayout(db);
      // Tables that were created or dropped before the lock was taken are not covered by it.
      if (JSON.stringify(layout.tables) !== JSON.stringify(before))
        throw new BackupError('The tables were changed at this moment: try again');
      const header = {
        psaBackup: FORMAT,
        takenAt: takenAt.toISOString(),
        engine: database.engine,
        ...layout,
      };
      const rows: Rows = {};
      await write(textsOf(db, header, rows, onRows));
      return { header, rows };
    }),
  );
}

async function* textsOf(db: Sql, header: BackupHeader, rows: Rows, onRows: OnRows): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const hashed = (text: string) => {
    hash.update(text);
    return text;
  };
  yield hashed(lineOf(header));
  for (const { name } of header.tables) {
    yield hashed(lineOf({ table: name }));
    rows[name] = 0;
    await sql`declare saved no scroll cursor for select saved_row::text as "row" from ${sql.table(name)} saved_row`.execute(
      db,
    );
    const atOnce = (await hasBytes(db, name)) ? ROWS_WITH_BYTES_AT_ONCE : ROWS_AT_ONCE;
    for (;;) {
      const fetched = await sql<{ row: string }>`fetch ${sql.lit(atOnce)} from saved`.execute(db);
      if (fetched.rows.length === 0) break;
      yield hashed(fetched.rows.map(({ row }) => lineOf(row)).join(''));
      rows[name] += fetched.rows.length;
      onRows(name, rows[name]);
    }
    await sql`close saved`.execute(db);
  }
  yield lineOf({ rows, sha256: hash.digest('hex') });
}

async function hasBytes(db: Sql, table: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_attribute where attrelid = ${table}::regclass and atttypid = 'bytea'::regtype limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

// ── Reading ─────────────────────────────────────────────────────────────────────────────────────

interface Batch {
  table: string;
  rows: string[];
}

/**
 * Parses the texts of a backup: its header, then rows. Reads to the end, or throws: the caller must discard
 * the rows that came before a throw.
 * @throws BackupError
 */
async function* readBackup(texts: AsyncIterable<string>): AsyncGenerator<BackupHeader | Batch> {
  const hash = createHash('sha256');
  const counts: Rows = {};
  let found: BackupHeader | undefined;
  let batch: Batch | undefined;
  let length = 0;
  let ended = false;
  for await (const line of linesOf(texts)) {
    if (ended) throw damaged('something follows its end');
    const value = parse(line);
    if (!found) {
      found = headerOf(value);
      yield found;
    } else if (typeof value === 'string') {
      if (!batch) throw damaged('a row is of no table');
      batch.rows.push(value);
      counts[batch.table] = (counts[batch.table] ?? 0) + 1;
      length += value.length;
      if (batch.rows.length === ROWS_AT_ONCE || length > TEXT_AT_ONCE) {
        yield batch;
        batch = { table: batch.table, rows: [] };
        length = 0;
      }
    } else if (isTable(value)) {
      if (batch && batch.rows.length > 0) yield batch;
      batch = { table: value.table, rows: [] };
      counts[value.table] ??= 0;
      length = 0;
    } else {
      if (batch && batch.rows.length > 0) yield batch;
      const { data } = end.safeParse(value);
      if (data?.sha256 !== hash.digest('hex')) throw damaged('its hash is another');
      if (JSON.stringify(data.rows) !== JSON.stringify(counts)) throw damaged('its counts are others');
      ended = true;
      continue;
    }
    hash.update(`${line}\n`);
  }
  if (!ended) throw damaged('its end is missing');
}

/** The most characters of a line: far more than any row has, and far fewer than fit in memory. */
const LONGEST_LINE = 64_000_000;

/** Splits texts into lines. `readline` would also end a line at characters that a name may hold. */
async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    // Only the new text is searched, because a long line consists of many texts.
    const lines = text.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop()!;
    yield* lines;
    if (rest.length > LONGEST_LINE) throw damaged('a line has no end');
  }
  if (rest !== '') throw damaged('its end is missing');
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw damaged('a line cannot be read');
  }
}

function headerOf(value: unknown): BackupHeader {
  const format = (value as Partial<BackupHeader> | null)?.psaBackup;
  if (typeof format !== 'number') throw new BackupError('This is no backup of a PSA');
  if (format > FORMAT)
    throw new BackupError('The backup was made by a newer version: restore it with that one');
  const { data } = header.safeParse(value);
  if (!data) throw damaged('its first line is not whole');
  return data;
}

function isTable(value: unknown): value is { table: string } {
  return typeof (value as { table?: unknown } | null)?.table === 'string';
}

function damaged(what: string): BackupError {
  return new BackupError(`The backup is damaged or cut off (${what}): nothing was restored`);
}

/** Reads a whole backup, and returns its header. @throws BackupError if it is incomplete, or of a newer version */
export async function checkBackup(texts: AsyncIterable<string>, onRows: OnRows): Promise<BackupHeader> {
  let found: BackupHeader | undefined;
  const counts: Rows = {};
  for await (const part of readBackup(texts)) {
    if ('rows' in part) {
      counts[part.table] = (counts[part.table] ?? 0) + part.rows.length;
      onRows(part.table, counts[part.table]!);
    } else {
      assertIsKnown(part);
      found = part;
    }
  }
  if (!found) throw damaged('it is empty');
  return found;
}

function assertIsKnown({ migrations }: BackupHeader): void {
  const known = knownMigrations();
  const unknown = migrations.find((name, index) => name !== known[index]);
  if (unknown)
    throw new BackupError(
      `The backup is of a newer version (its tables know ${unknown}): restore it with that version`,
    );
}

// ── Restoring ───────────────────────────────────────────────────────────────────────────────────

/**
 * Fills an empty database from a backup, all in one transaction: after a failure it is still empty. Its
 * tables are then those of the version that saved it; the next start migrates them. The database is marked:
 * the records after the backup are missing.
 * @throws BackupError if the database is not empty; if the backup is incomplete
 */
export async function restoreDatabase(
  database: Database,
  {
    header,
    texts,
    onRows = () => undefined,
  }: { header: BackupHeader; texts: AsyncIterable<string>; onRows?: OnRows },
): Promise<Rows> {
  assertIsKnown(header);
  await assertIsEmpty(database.sql);
  await migrate(database, undefined, header.migrations.at(-1));
  return database.maintenance(async (connections) => {
    const rows = await connections.transaction(async (db) => {
      await useFixedFormats(db);
      const { migrations, tables } = await readLayout(db);
      if (!isSameLayout(header, { migrations, tables }))
        throw new BackupError(
          'The database has other tables than the backup: restore it into an empty database',
        );
      // Until the commit no server sees the empty tables, which would make it create a first account.
      await sql`lock table ${sql.join(tables.map(({ name }) => sql.table(name)))} in access exclusive mode`.execute(
        db,
      );
      // Migrations may add rows of their own.
      await assertIsEmpty(db);
      const loaded = await load(db, header, texts, onRows);
      await markRestored(db, new Date(header.takenAt));
      return loaded;
    });
    await sql`analyze`.execute(connections.sql);
    return rows;
  });
}

async function load(
  db: Sql,
  { tables, numbered }: BackupHeader,
  texts: AsyncIterable<string>,
  onRows: OnRows,
): Promise<Rows> {
  // Without this, triggers would apply the postings again and refuse the balances that follow. References are
  // still checked.
  for (const { name } of tables) await sql`alter table ${sql.table(name)} disable trigger user`.execute(db);
  const rows: Rows = Object.fromEntries(tables.map(({ name }) => [name, 0]));
  for await (const part of readBackup(texts)) {
    if (!('rows' in part)) continue;
    if (!Object.hasOwn(rows, part.table)) throw damaged(`it has rows of ${part.table}`);
    const table = sql.table(part.table);
    await sql`
      insert into ${table} overriding system value
      select (read).* from (select line::${table} as read from unnest(${part.rows}::text[]) line offset 0) read_lines
    `.execute(db);
    rows[part.table] = (rows[part.table] ?? 0) + part.rows.length;
    onRows(part.table, rows[part.table]!);
  }
  for (const { table, column, last } of numbered)
    if (last !== null)
      await sql`select setval(pg_get_serial_sequence(${table}, ${column}), ${last}::bigint)`.execute(db);
  for (const { name } of tables) await sql`alter table ${sql.table(name)} enable trigger user`.execute(db);
  return rows;
}

async function assertIsEmpty(db: Sql): Promise<void> {
  for (const { name } of await readTables(db)) {
    const { rows } = await sql`select from ${sql.table(name)} limit 1`.execute(db);
    if (rows.length > 0)
      throw new BackupError(`The database is not empty (there are rows in ${name}): restore into a new one`);
  }
}

function isSameLayout(
  one: Pick<Layout, 'migrations' | 'tables'>,
  other: Pick<Layout, 'migrations' | 'tables'>,
) {
  const sorted = ({ migrations, tables }: typeof one) =>
    JSON.stringify([migrations, [...tables].sort((left, right) => (left.name < right.name ? -1 : 1))]);
  return sorted(one) === sorted(other);
}

// ── Tables ──────────────────────────────────────────────────────────────────────────────────────

async function readLayout(db: Sql): Promise<Layout> {
  const tables = await readTables(db);
  const { rows: columns } = await sql<{ table: string; column: string; sequence: string }>`
    select c.relname as "table", a.attname as "column",
      pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped
      and pg_get_serial_sequence(quote_ident(c.relname), a.attname) is not null
    order by 1, 2`.execute(db);
  const numbered = [];
  for (const { table, column, sequence } of columns) {
    const { rows } = await sql<{ last: number | null }>`
      select pg_sequence_last_value(${sequence}::regclass) as last`.execute(db);
    numbered.push({ table, column, last: rows[0]?.last ?? null });
  }
  return { migrations: await appliedMigrations(db), tables, numbered };
}

/**
 * Lists the tables whose rows survive a crash, each after those that it refers to. The list of applied
 * migrations is not among them: a restore creates its tables by migrations, which fill that list.
 */
async function readTables(db: Sql): Promise<{ name: string; columns: string[] }[]> {
  const { rows } = await sql<{ name: string; columns: string[]; refers: string[] }>`
    select c.relname as name,
      array(
        select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
      ) as columns,
      array(
        select r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid
      ) as refers
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
      and c.relname not like 'kysely%'
    order by c.relname`.execute(db);
  const ordered: { name: string; columns: string[] }[] = [];
  const waiting = new Map(rows.map((row) => [row.name, row]));
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter(({ refers }) => !refers.some((name) => waiting.has(name)));
    if (ready.length === 0) throw new BackupError('The tables refer to each other in a circle');
    for (const { name, columns } of ready) {
      waiting.delete(name);
      ordered.push({ name, columns });
    }
  }
  return ordered;
}

/** Fixes the formats of values: a value has the same text on every server. */
async function useFixedFormats(db: Sql): Promise<void> {
  await sql`
    set local datestyle to 'ISO, YMD'; set local intervalstyle to 'postgres'; set local timezone to 'UTC';
    set local bytea_output to 'hex'; set local extra_float_digits to 1`.execute(db);
}
