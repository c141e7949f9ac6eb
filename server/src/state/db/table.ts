import { type ColumnType, type Generated, type RawBuilder, sql as raw } from 'kysely';
import { ValidationError } from '../../kernel/errors.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import { NOT_STORABLE } from '../../kernel/text.ts';
import type { Sql } from './database.ts';
import type { TenantTable } from './tenant-table.ts';

// A table says the column of each member once. The type of its rows, both mappings and the set of an update follow from that.

/** The column of a member. A fixed one keeps the value of the insert. */
export interface Column<Name extends string = string, Form extends 'plain' | 'json' = 'plain' | 'json'> {
  readonly name: Name;
  readonly isFixed: boolean;
  readonly form: Form;
  /** Makes the member of what JSON has; left out where the two are alike. */
  readonly read?: ((stored: never) => unknown) | undefined;
}

/** The columns of a member that is an object: all null where it is null, and read as null where `presence` is. */
export interface Group<Members = Readonly<Record<string, Column>>> {
  readonly presence: string;
  readonly members: Members;
}

/** A column for each member of a record. */
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

/** A column of jsonb, in which null is the null of SQL. */
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

/** A table whose rows are numbered in the order in which they were made, for lists. */
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

/** All of the members of a union. */
type Together<Union> = [Union] extends [never]
  ? unknown
  : (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
    ? All
    : never;

// ── The table ───────────────────────────────────────────────────────────────────────────────────

/** A row as the driver gives it. */
type StoredRow = Readonly<Record<string, unknown>>;

/** The name of a record among those of all tenants. */
export interface TenantKey {
  tenant: Tenant;
  key: string;
}

export interface Table<Stored> {
  readonly name: string;
  /** The column by whose values records are named. */
  readonly key: string;
  /** A text that is no key is not queried: it is in no row, and Postgres rejects one with U+0000. */
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

interface Step {
  member: string;
  column: string;
  isJson: boolean;
  read: ((stored: never) => unknown) | undefined;
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
  const steps = declared.flatMap(([member, each]) => ('members' in each ? [] : [stepOf(member, each)]));
  const groups = declared.flatMap(([member, each]) =>
    'members' in each
      ? [
          {
            member,
            presence: each.presence,
            ...partsOf(Object.entries(each.members).map((part) => stepOf(...part))),
          },
        ]
      : [],
  );
  const { empty } = partsOf([...steps, ...groups.map(({ member }) => ({ member }))]);
  const names = Object.fromEntries([
    ...steps.map(({ member, column }) => [member, column]),
    ...groups.map(({ member, presence }) => [member, presence]),
  ]) as Readonly<Record<keyof Stored & string, string>>;
  const keyName = names[key];
  const keyColumn = raw.ref(`${name}.${keyName}`);
  const from = raw.table(name);
  const updates = updatesOf(
    declared.flatMap(([, each]) => ('members' in each ? Object.values<Column>(each.members) : [each])),
  );

  function fromRow(row: object): Stored {
    const record = { ...empty };
    copyFromRow(row as StoredRow, steps, record);
    for (const { member, presence, steps: parts, empty: none } of groups) {
      if ((row as StoredRow)[presence] === null) continue;
      const part = { ...none };
      copyFromRow(row as StoredRow, parts, part);
      record[member] = part;
    }
    return record as Stored;
  }

  function toRow({ accountId, environment }: Tenant, record: Stored): Record<string, unknown> {
    const row: Record<string, unknown> = { account_id: accountId, environment };
    const members = record as StoredRow;
    copyToRow(members, steps, row);
    for (const { member, steps: parts } of groups)
      copyToRow((members[member] as StoredRow | null) ?? NOTHING, parts, row);
    return own ? Object.assign(row, own(record)) : row;
  }

  async function insert(sql: Sql, rows: readonly object[]): Promise<void> {
    // Each table is typed by its columns; Kysely does not type one that is a parameter.
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

const NOTHING: StoredRow = {};
/** The null of SQL, where a parameter would be the text of one. */
const NULL = raw<string>`null`;

function stepOf(member: string, { name, form, read }: Column): Step {
  return { member, column: name, isJson: form === 'json', read };
}

/** Adds an object with the members of all steps. Each record begins as a copy of it, so that all have one shape. */
function partsOf<Each extends { member: string }>(
  steps: readonly Each[],
): { steps: readonly Each[]; empty: Readonly<Record<string, unknown>> & Record<string, unknown> } {
  return { steps, empty: Object.fromEntries(steps.map(({ member }) => [member, null])) };
}

/** Each changing column with its new value. */
function updatesOf(columns: readonly Column[]): Record<string, RawBuilder<unknown>> {
  const changes = columns.filter(({ isFixed }) => !isFixed);
  return Object.fromEntries(changes.map(({ name }) => [name, raw`${raw.ref(`excluded.${name}`)}`]));
}

function copyFromRow(row: StoredRow, steps: readonly Step[], record: Record<string, unknown>): void {
  for (const { member, column, read } of steps) {
    const stored = row[column];
    record[member] = read === undefined || stored === null ? stored : read(stored as never);
  }
}

/** @throws ValidationError where Postgres cannot store a text */
function copyToRow(record: StoredRow, steps: readonly Step[], row: Record<string, unknown>): void {
  for (const { member, column, isJson } of steps) {
    const value = record[member] ?? null;
    const stored = !isJson || value === null ? value : JSON.stringify(value);
    if (typeof stored === 'string' && !(isJson ? isStorableJson(stored) : !stored.includes('\u0000')))
      throw new ValidationError([{ path: member, message: NOT_STORABLE }]);
    row[column] = isJson && stored === null ? NULL : stored;
  }
}

/** Whether jsonb takes a text of JSON. U+0000 and halves of pairs are escapes in it. An escape in a text of the merchant's has one more backslash. */
function isStorableJson(text: string): boolean {
  return !text.includes('\\u') || !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(text);
}
