import { type ColumnType, type Generated, type RawBuilder, sql as raw } from 'kysely';
import { ValidationError } from '../../kernel/errors.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { isStorable, NOT_STORABLE } from '../../kernel/text.ts';
import type { Sql } from './database.ts';
import {
  loadOf,
  recordsOf,
  type TenantKey,
  type TenantRecord,
  tenantArrays,
  tenantOf,
} from './each-tenant.ts';
import { headOf } from './head.ts';
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

/** The queries by the key of a record. A table is the collection of its records, as a decision reads and writes them. */
export interface Table<Stored, Named extends keyof Stored = keyof Stored> {
  readonly name: string;
  /** The column of each member; of a group that of its presence. */
  readonly columns: Readonly<Record<keyof Stored & string, string>>;
  fromRow(row: object): Stored;
  toRow(tenant: Tenant, record: Stored): object;
  /** The key of a record: the member that names it, or the several that do, with spaces between them. */
  keyOf(record: Pick<Stored, Named>): string;
  load(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<Stored[]>;
  /** Loads the records of several tenants in one statement. */
  loadEach(sql: Sql, keys: readonly TenantKey[]): Promise<TenantRecord<Stored>[]>;
  /** Loads a record with the version of the log at which it holds, in one statement and so at one moment. */
  loadWithHead(sql: Sql, tenant: Tenant, key: string): Promise<{ version: number; resource: Stored } | null>;
  /** Loads a record of any account, for the payer's page, which knows the key alone. */
  loadHosted(
    sql: Sql,
    key: string,
  ): Promise<{ tenant: Tenant; merchantName: string; resource: Stored } | null>;
  /** Inserts records, or updates the changing columns of those that are stored already. */
  save(sql: Sql, tenant: Tenant, records: readonly Stored[]): Promise<void>;
  /** Saves the records of several tenants in one statement. */
  saveEach(sql: Sql, records: readonly TenantRecord<Stored>[]): Promise<void>;
  /** Inserts records. One that is stored already is an error. */
  insert(sql: Sql, tenant: Tenant, records: readonly Stored[]): Promise<void>;
  /** Inserts the records of several tenants in one statement. */
  insertEach(sql: Sql, records: readonly TenantRecord<Stored>[]): Promise<void>;
}

/**
 * Creates a table. `Left`: the members that are not stored. `Named`: the members that name a record together, if one alone does
 * not.
 */
export function table<
  Stored extends object,
  Left extends OptionalOf<Stored> = never,
  Named extends keyof Stored & string = keyof Stored & string,
>(
  name: string,
  columns: Columns<Omit<Stored, Left>>,
  {
    key,
    isKey = isStorable,
    unique,
    isPart = false,
    own,
    complete,
  }: {
    /** The member that names a record, or the type of each that does. Only the last value of several may have spaces. */
    key: Named | { readonly [Part in Named]: 'text' | 'integer' };
    /** Whether a text can be a key. Other texts are not queried. */
    isKey?(text: string): boolean;
    /** The columns whose values are unique, if not those of the key over all tenants. */
    unique?: readonly string[];
    /** Whether only the columns of members are read, because others are large. */
    isPart?: boolean;
    /** The columns that no member has. */
    own?(record: Stored): object;
    /** Changes a record that was read, such as one of a row that an earlier version has written. */
    complete?(record: Stored, row: object): Stored;
  },
): Table<Stored, Named> {
  const declared = Object.entries(columns as Readonly<Record<string, Column | Group>>);
  const names = Object.fromEntries(
    declared.map(([member, each]) => [member, 'members' in each ? each.presence : each.name]),
  ) as Readonly<Record<keyof Stored & string, string>>;
  const from = raw.table(name);
  const named = Object.entries<string>(typeof key === 'string' ? { [key]: 'text' } : key).map(
    ([member, type]) => ({ member, type, column: names[member as Named] }),
  );
  const all = declared.flatMap(([, each]) =>
    'members' in each ? Object.values<Column>(each.members) : [each],
  );
  const read = ['account_id', 'environment', ...all.map((each) => each.name)];
  const selected = isPart ? raw.join(read.map((each) => raw.ref(`${name}.${each}`))) : raw`${from}.*`;
  const updates = updatesOf(all);
  const toRecord = compiledFromRow(declared) as (row: object) => Stored;
  const fromRow = complete ? (row: object) => complete(toRecord(row), row) : toRecord;
  const toColumns = compiledToRow(declared);
  const toRow = (tenant: Tenant, record: Stored): object =>
    own ? Object.assign(toColumns(tenant, record), own(record)) : toColumns(tenant, record);
  const refs = named.map(({ column }) => raw.ref(`${name}.${column}`));
  const [accountColumn, environmentColumn] = [raw.ref(`${name}.account_id`), raw.ref(`${name}.environment`)];
  const isOf = ({ accountId, environment }: Tenant) =>
    raw`${accountColumn} = ${accountId} and ${environmentColumn} = ${environment}`;
  const isNamed = (text: string) => {
    const values = valuesOf(text, named.length);
    return raw.join([raw`true`, ...refs.map((ref, nth) => raw`${ref} = ${values[nth]}`)], raw` and `);
  };
  const wanted = ['account_id', 'environment', ...named.map(({ column }) => column)];
  const wantedColumns = raw.join(wanted.map((each) => raw.ref(each)));
  const isWanted = raw.join(
    wanted.map((each) => raw`${raw.ref(`${name}.${each}`)} = ${raw.ref(`wanted.${each}`)}`),
    raw` and `,
  );

  /** Sends records as one text of JSON, so that the statement has the same text for any number of them. */
  function statementOf(verb: 'save' | 'insert') {
    const conflict = raw.join((unique ?? named.map(({ column }) => column)).map((each) => raw.ref(each)));
    const changes = Object.entries(updates).map(([column, value]) => raw`${raw.ref(column)} = ${value}`);
    const ofTenant = raw`${accountColumn} = excluded.account_id and ${environmentColumn} = excluded.environment`;
    const instead =
      verb === 'insert'
        ? raw``
        : changes.length === 0
          ? raw`on conflict (${conflict}) do nothing`
          : raw`on conflict (${conflict}) do update set ${raw.join(changes)} where ${ofTenant}`;
    let written: RawBuilder<unknown> | undefined;
    return async (sql: Sql, records: readonly TenantRecord<Stored>[]): Promise<void> => {
      const rows = records.map(({ tenant, record }) => toRow(tenant, record));
      written ??= raw.join(Object.keys(rows[0]!).map((column) => raw.ref(column)));
      await raw`${raw.raw(`/* ${verb}_${name} */`)}
        insert into ${from} (${written})
        select ${written} from json_populate_recordset(null::${from}, ${textOf(rows, records)}::json)
        ${instead}`.execute(sql);
    };
  }

  /** @throws ValidationError if Postgres cannot store a text */
  function textOf(rows: readonly object[], records: readonly TenantRecord<Stored>[]): string {
    const text = JSON.stringify(rows);
    if (isStorableJson(text)) return text;
    for (const { record } of records) assertStorable(declared, record as Readonly<Record<string, unknown>>);
    // Half of a surrogate pair in a column of text becomes U+FFFD.
    return JSON.stringify(rows, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
  }

  const saveEach = statementOf('save');
  const insertEach = statementOf('insert');

  async function load(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<Stored[]> {
    if (named.length > 1) return loadOf(loadEach, sql, tenant, keys);
    const possible = keys.filter(isKey);
    if (possible.length === 0) return [];
    const isOneOf = refs[0] ? raw`${refs[0]} = any(${possible}::text[])` : raw`true`;
    const { rows } = await raw<object>`
      select ${selected} from ${from} where ${isOf(tenant)} and ${isOneOf}`.execute(sql);
    return rows.map(fromRow);
  }

  async function loadEach(sql: Sql, keys: readonly TenantKey[]): Promise<TenantRecord<Stored>[]> {
    const possible = keys.filter((each) => isKey(each.key));
    if (possible.length === 0) return [];
    const values = possible.map((each) => valuesOf(each.key, named.length));
    const arrays = [
      tenantArrays(possible),
      ...named.map(({ type }, nth) => raw`${values.map((each) => each[nth])}::${raw.raw(type)}[]`),
    ];
    // With a limit each key is looked up. Without it PostgreSQL may scan all rows of a tenant for many keys.
    const { rows } = await raw<TenantTable>`
      select found.* from unnest(${raw.join(arrays)}) wanted (${wantedColumns})
      cross join lateral (select ${selected} from ${from} where ${isWanted} limit 1) found`.execute(sql);
    return rows.map((row) => ({ tenant: tenantOf(row), record: fromRow(row) }));
  }

  return {
    name,
    columns: names,
    fromRow,
    toRow,
    keyOf: (record) =>
      named.map(({ member }) => (record as Readonly<Record<string, unknown>>)[member]).join(' '),
    load,
    loadEach,

    async loadWithHead(sql, tenant, text) {
      if (!isKey(text)) return null;
      const { rows } = await raw<{ head: number }>`
        select ${selected}, ${headOf(tenant)} as head from ${from}
        where ${isOf(tenant)} and ${isNamed(text)}`.execute(sql);
      const [row] = rows;
      return row ? { version: row.head, resource: fromRow(row) } : null;
    },

    async loadHosted(sql, text) {
      if (!isKey(text)) return null;
      const { rows } = await raw<TenantTable & { merchant_name: string }>`
        select ${selected}, account.name as merchant_name from ${from}
        join account on account.id = ${accountColumn}
        where ${isNamed(text)}`.execute(sql);
      const [row] = rows;
      return row ? { tenant: tenantOf(row), merchantName: row.merchant_name, resource: fromRow(row) } : null;
    },

    save: (sql, tenant, records) => saveEach(sql, recordsOf(tenant, records)),
    saveEach,
    insert: (sql, tenant, records) => insertEach(sql, recordsOf(tenant, records)),
    insertEach,
  };
}

/** Splits a key into its values. The last has the spaces that are left. */
function valuesOf(key: string, count: number): string[] {
  const values = key.split(' ');
  return [...values.slice(0, count - 1), values.slice(count - 1).join(' ')];
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

/** Creates a function that copies the members of a record which have these columns. */
export function copyOf<Part>(columns: Columns<Part>): (record: Part) => Part {
  const members = Object.keys(columns).map((member) => JSON.stringify(member));
  return new Function(
    `return (record) => ({ ${members.map((each) => `${each}: record[${each}]`).join(', ')} })`,
  )();
}

function compiledToRow(declared: Declared): (tenant: Tenant, record: object) => object {
  const cells = declared.flatMap(([member, each]) => {
    const value = `record[${JSON.stringify(member)}]`;
    return 'members' in each
      ? Object.entries<Column>(each.members).map(
          ([part, { name }]) => `${JSON.stringify(name)}: ${value}?.[${JSON.stringify(part)}] ?? null`,
        )
      : [`${JSON.stringify(each.name)}: ${value} ?? null`];
  });
  return new Function(
    `return ({ accountId, environment }, record) => ({ account_id: accountId, environment, ${cells.join(', ')} })`,
  )();
}

/** @throws ValidationError with the name of a member that Postgres cannot store */
function assertStorable(declared: Declared, record: Readonly<Record<string, unknown>>): void {
  for (const [member, each] of declared) {
    const columns = 'members' in each ? Object.entries<Column>(each.members) : [[null, each] as const];
    for (const [part, { form }] of columns) {
      const whole = record[member];
      const value = part === null ? whole : (whole as Readonly<Record<string, unknown>> | null)?.[part];
      if (!isStorableValue(value, form)) throw new ValidationError([{ path: member, message: NOT_STORABLE }]);
    }
  }
}

function isStorableValue(value: unknown, form: Column['form']): boolean {
  if (form === 'json') return isStorableJson(JSON.stringify(value ?? null));
  return typeof value === 'string'
    ? !value.includes('\u0000')
    : !Array.isArray(value) || value.every(isStorable);
}

/**
 * Whether jsonb accepts a text of JSON. U+0000 and half surrogate pairs are escapes in it. An escape that is
 * part of the merchant's text has one more backslash.
 */
function isStorableJson(text: string): boolean {
  return !text.includes('\\u') || !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(text);
}
