import { type ColumnType, type Generated, type RawBuilder, sql as raw } from 'kysely';
import { ValidationError } from '../../kernel/errors.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import { NOT_STORABLE } from '../../kernel/text.ts';
import type { Sql } from './database.ts';
import type { TenantTable } from './tenant-table.ts';

// A table names the column of each member once. The type of its rows, both mappings and the `set` of an
// update follow from that.

/** The column of a member. A fixed column keeps the value of the insert. */
export interface Column<Name extends string = string, Form extends 'plain' | 'json' = 'plain' | 'json'> {
  readonly name: Name;
  readonly isFixed: boolean;
  readonly form: Form;
  /** Converts the JSON value into the member; left out if both are the same. */
  readonly read?: ((stored: never) => unknown) | undefined;
}

/**
 * The columns of a member that is an object. If it is null, all of them are null; it is read as null if
 * `presence` is.
 */
export interface Group<Members = Readonly<Record<string, Column>>> {
  readonly presence: string;
  readonly members: Members;
}

/** A column, or a group, for each member of a record. */
export type Columns<Stored> = { readonly [Member in keyof Stored]-?: Column | Group };

/** The members that a record may lack. */
type OptionalOf<Stored> = {
  [Member in keyof Stored]-?: undefined extends Stored[Member] ? Member : never;
}[keyof Stored];

export function fixed<const Name extends string>(name: Name): Column<Name, 'plain'> {
  return { name, isFixed: true, form: 'plain' };
}

export function changing<const Name extends string>(name: Name): Column<Name, 'plain'> {
  return { name, isFixed: false, form: 'plain' };
}

/** A column of jsonb, whose null is SQL's null. */
export function json<const Name extends string, Stored>(
  { name, isFixed }: Column<Name, 'plain'>,
  read?: (stored: Stored) => unknown,
): Column<Name, 'json'> {
  return { name, isFixed, form: 'json', read };
}

export function group<const Members extends Readonly<Record<string, Column>>>(
  presence: keyof Members & string,
  members: Members,
): Group<Members> {
  return { presence: members[presence]!.name, members };
}

// ── The type of the rows ────────────────────────────────────────────────────────────────────────

/** The rows of a tenant's records, as queries see them. */
export type RowsOf<Stored, Of> = TenantTable & Row<Stored, Of> & GroupedRow<Stored, Of>;

/** A table whose rows are numbered in the order of their creation, for lists. */
export interface Listed {
  number: Generated<number>;
}

type Row<Stored, Of> = {
  [Member in keyof Of & keyof Stored as NameOf<Of[Member]>]: Cell<
    Exclude<Stored[Member], undefined>,
    Of[Member]
  >;
};

type NameOf<Of> = Of extends Column<infer Name> ? Name : never;

type Cell<Value, Of> =
  Of extends Column<string, 'json'>
    ? ColumnType<Value, string | RawBuilder<string>, string | RawBuilder<string>>
    : ColumnType<Value, Value | undefined, Value>;

type GroupedRow<Stored, Of> = Together<
  {
    [Member in keyof Of & keyof Stored]: Of[Member] extends Group<infer Members>
      ? Row<
          { [Part in keyof NonNullable<Stored[Member]>]: NonNullable<Stored[Member]>[Part] | null },
          Members
        >
      : never;
  }[keyof Of & keyof Stored]
>;

/** The members of all types of a union. */
type Together<Union> = [Union] extends [never]
  ? unknown
  : (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
    ? All
    : never;

// ── The table ───────────────────────────────────────────────────────────────────────────────────

/** The name of a record among those of all tenants. */
export interface TenantKey {
  tenant: Tenant;
  key: string;
}

export interface Table<Stored> {
  readonly name: string;
  /** The column by whose values records are named. */
  readonly key: string;
  /**
   * Whether a text can be a key. Other texts are not queried: no row has one, and Postgres rejects U+0000.
   */
  isKey(text: string): boolean;
  /** The column of each member; of a group that of its presence. */
  readonly columns: Readonly<Record<keyof Stored & string, string>>;
  fromRow(row: object): Stored;
  toRow(tenant: Tenant, record: Stored): Record<string, unknown>;
  /** The set of an update: each changing column with the value of the insert. */
  readonly updates: Readonly<Record<string, RawBuilder<unknown>>>;
  load(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<Stored[]>;
  /** Loads the records of several tenants in one statement. */
  loadEach(sql: Sql, keys: readonly TenantKey[]): Promise<{ tenant: Tenant; record: Stored }[]>;
  save(sql: Sql, tenant: Tenant, records: readonly Stored[]): Promise<void>;
  /** Saves the records of several tenants in one statement. */
  saveEach(sql: Sql, records: readonly { tenant: Tenant; record: Stored }[]): Promise<void>;
}

/**
 * Creates the parts of a table's queries. `Left`: the members that are not stored. `key`: the member that names a record, whose
 * column is unique over all tenants, unless `unique` has the columns that are. `own`: the columns that no member has.
 */
export function table<Stored extends object, Left extends OptionalOf<Stored> = never>(
  name: string,
  columns: Columns<Omit<Stored, Left>>,
  {
    key,
    isKey,
    unique,
    own,
  }: {
    key: keyof Stored & string;
    isKey(text: string): boolean;
    unique?: readonly string[];
    own?: (record: Stored) => object;
  },
): Table<Stored> {
  const declared = Object.entries(columns as Readonly<Record<string, Column | Group>>);
  const names = Object.fromEntries(
    declared.map(([member, each]) => [member, 'members' in each ? each.presence : each.name]),
  ) as Readonly<Record<keyof Stored & string, string>>;
  const keyName = names[key];
  const keyColumn = raw.ref(`${name}.${keyName}`);
  const from = raw.table(name);
  const updates = updatesOf(
    declared.flatMap(([, each]) => ('members' in each ? Object.values<Column>(each.members) : [each])),
  );
  const fromRow = compiledFromRow(declared) as (row: object) => Stored;
  const toColumns = compiledToRow(declared);
  const toRow = (tenant: Tenant, record: Stored): Record<string, unknown> =>
    own ? Object.assign(toColumns(tenant, record), own(record)) : toColumns(tenant, record);

  async function insert(sql: Sql, rows: readonly object[]): Promise<void> {
    // Tables are typed by their columns, but Kysely does not type a table that is a parameter.
    await sql
      .insertInto(name as 'account')
      .values(rows as never)
      .onConflict((conflict) =>
        conflict.columns((unique ?? [keyName]) as ['id']).doUpdateSet(updates as never),
      )
      .execute();
  }

  return {
    name,
    key: keyName,
    isKey,
    columns: names,
    fromRow,
    toRow,
    updates,

    async load(sql, { accountId, environment }, keys) {
      const possible = keys.filter(isKey);
      if (possible.length === 0) return [];
      const { rows } = await raw<object>`
        select * from ${from} where ${raw.ref(`${name}.account_id`)} = ${accountId}
          and ${raw.ref(`${name}.environment`)} = ${environment}
          and ${keyColumn} = any(${possible}::text[])`.execute(sql);
      return rows.map(fromRow);
    },

    async loadEach(sql, keys) {
      const possible = keys.filter((each) => isKey(each.key));
      if (possible.length === 0) return [];
      const { rows } = await raw<{ account_id: string; environment: Environment }>`
        select ${from}.* from unnest(
          ${possible.map(({ tenant }) => tenant.accountId)}::text[],
          ${possible.map(({ tenant }) => tenant.environment)}::text[],
          ${possible.map((each) => each.key)}::text[]
        ) wanted (account_id, environment, key)
        join ${from} on ${raw.ref(`${name}.account_id`)} = wanted.account_id
          and ${raw.ref(`${name}.environment`)} = wanted.environment and ${keyColumn} = wanted.key`.execute(
        sql,
      );
      return rows.map((row) => ({
        tenant: { accountId: row.account_id, environment: row.environment },
        record: fromRow(row),
      }));
    },

    async save(sql, tenant, records) {
      const rows = records.map((record) => toRow(tenant, record));
      await insert(sql, rows);
    },
    async saveEach(sql, records) {
      const rows = records.map(({ tenant, record }) => toRow(tenant, record));
      await insert(sql, rows);
    },
  };
}

/** Each changing column with its new value. */
function updatesOf(columns: readonly Column[]): Record<string, RawBuilder<unknown>> {
  const changes = columns.filter(({ isFixed }) => !isFixed);
  return Object.fromEntries(changes.map(({ name }) => [name, raw`${raw.ref(`excluded.${name}`)}`]));
}

// ── The mappings ────────────────────────────────────────────────────────────────────────────────

// Both are compiled, as they would be written by hand: a loop over the columns takes 20 times as long for each row, and 50 rows of a
// page would be the longest part of it. The code has the names of members and columns alone, which the stores declare.

type Declared = readonly (readonly [member: string, column: Column | Group])[];

function compiledFromRow(declared: Declared): (row: object) => object {
  const reads: Column['read'][] = [];
  const memberOf = ({ name, read }: Column) => {
    const stored = `row[${JSON.stringify(name)}]`;
    return read ? `${stored} === null ? null : reads[${reads.push(read) - 1}](${stored})` : stored;
  };
  const membersOf = (members: Declared): string =>
    members.map(([member, each]) => `${JSON.stringify(member)}: ${partOf(each)}`).join(', ');
  const partOf = (each: Column | Group): string =>
    'members' in each
      ? `row[${JSON.stringify(each.presence)}] === null ? null : { ${membersOf(Object.entries(each.members))} }`
      : memberOf(each);
  return new Function('reads', `return (row) => ({ ${membersOf(declared)} })`)(reads);
}

/** The function throws a ValidationError where Postgres cannot store a text. */
function compiledToRow(declared: Declared): (tenant: Tenant, record: object) => Record<string, unknown> {
  const cellOf = (member: string, { name, form }: Column, value: string) =>
    `${JSON.stringify(name)}: ${form}(${JSON.stringify(member)}, ${value})`;
  const cells = declared.flatMap(([member, each]) => {
    const value = `record[${JSON.stringify(member)}]`;
    return 'members' in each
      ? Object.entries<Column>(each.members).map(([part, column]) =>
          cellOf(member, column, `${value}?.[${JSON.stringify(part)}]`),
        )
      : [cellOf(member, each, value)];
  });
  return new Function(
    ...['plain', 'json'],
    `return ({ accountId, environment }, record) => ({ account_id: accountId, environment, ${cells.join(', ')} })`,
  )(plainCell, jsonCell);
}

function plainCell(member: string, value: unknown): unknown {
  if (typeof value === 'string' && value.includes('\u0000')) throw notStorable(member);
  return value ?? null;
}

/** The null of SQL; a parameter would be the text `null`. */
const NULL = raw<string>`null`;

function jsonCell(member: string, value: unknown): unknown {
  if (value == null) return NULL;
  const stored = JSON.stringify(value);
  if (!isStorableJson(stored)) throw notStorable(member);
  return stored;
}

function notStorable(member: string): ValidationError {
  return new ValidationError([{ path: member, message: NOT_STORABLE }]);
}

/**
 * Whether jsonb accepts a text of JSON. U+0000 and half surrogate pairs are escapes in it. An escape that is
 * part of the merchant's text has one more backslash.
 */
function isStorableJson(text: string): boolean {
  return !text.includes('\\u') || !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(text);
}
