import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql as raw } from 'kysely';
import { beforeAll, expect, test, vi } from 'vitest';
import { root } from '../../../server/scripts/progress.mjs';
import { filesUnder } from '../../../server/scripts/stamp.mjs';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { isStorable } from '../../../server/src/kernel/text.ts';
import type { Database, Sql } from '../../../server/src/state/db/database.ts';
import type { Column, Group, Table } from '../../../server/src/state/db/table.ts';
import { anyText } from '../../support/any-text.ts';
import { describeOnDatabase } from '../../support/database.ts';

// Every table that a store declares, with records that are generated from its columns.

type Members = Record<string, unknown>;

interface Declared {
  name: string;
  columns: Readonly<Record<string, Column | Group>>;
  key: string | Readonly<Record<string, string>>;
  unique: readonly string[] | undefined;
  complete: ((record: Members, row: object) => Members) | undefined;
  /** The table, for which any text can be a key. */
  table: Table<Members>;
}

const { declared } = vi.hoisted(() => ({ declared: new Map<string, Declared>() }));

vi.mock('../../../server/src/state/db/table.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../../server/src/state/db/table.ts')>();
  const table = original.table as unknown as (
    name: string,
    columns: unknown,
    options: object,
  ) => Table<Members>;
  return {
    ...original,
    table(
      name: string,
      columns: Declared['columns'],
      options: Pick<Declared, 'key' | 'unique' | 'complete'>,
    ) {
      const { key, unique, complete } = options;
      const open = table(name, columns, { ...options, isKey: isStorable });
      declared.set(name, { name, columns, key, unique, complete, table: open });
      return table(name, columns, options);
    },
  };
});

for (const path of filesUnder('server/src').filter((name) => name.endsWith('store.ts'))) {
  const source = join(root, path);
  if (readFileSync(source, 'utf8').includes("/table.ts'")) await import(source);
}

const ana: Tenant = { accountId: 'acc_1', environment: 'live' };
const rui: Tenant = { accountId: 'acc_2', environment: 'sandbox' };

const text = anyText.filter(isStorable);
const words = fc.array(text, { maxLength: 3 });

/** Values of each type of column. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  text,
  'text[]': words,
  bigint: fc.maxSafeInteger(),
  integer: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  boolean: fc.boolean(),
  jsonb: fc.oneof(words, fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)))),
  'timestamp with time zone': fc.date({
    min: new Date('1970-01-01'),
    max: new Date('2200-01-01'),
    noInvalidDate: true,
  }),
};

interface Stored {
  type: string;
  isNullable: boolean;
}

/** Replaces a table, for the rest of the transaction, by one without its constraints between columns and tables. */
async function replace(
  sql: Sql,
  { name, columns, unique, table, key }: Declared,
): Promise<Map<string, Stored>> {
  const { rows } = await raw<Stored & { column: string; isGenerated: boolean }>`
    select attname as "column", format_type(atttypid, atttypmod) as type, not attnotnull as "isNullable",
      attidentity <> '' as "isGenerated"
    from pg_attribute where attrelid = ${name}::regclass and attnum > 0 and not attisdropped`.execute(sql);
  await raw`create temp table ${raw.ref(name)} (like ${raw.ref(`public.${name}`)} including defaults including identity)
    on commit drop`.execute(sql);
  const known = new Set(['account_id', 'environment', ...Object.values(columns).flatMap(columnsOf)]);
  for (const { column } of rows.filter((row) => !known.has(row.column) && !row.isGenerated))
    await raw`alter table ${raw.ref(name)} alter ${raw.ref(column)} drop not null`.execute(sql);
  const named = unique ?? membersOfKey(key).map((member) => table.columns[member]!);
  await raw`create unique index on ${raw.ref(name)} (${raw.join(named.map((each) => raw.ref(each)))})`.execute(
    sql,
  );
  return new Map(rows.map(({ column, ...stored }) => [column, stored]));
}

function columnsOf(each: Column | Group): string[] {
  return 'members' in each
    ? Object.values(each.members as Record<string, Column>).map(({ name }) => name)
    : [each.name];
}

function membersOfKey(key: Declared['key']): string[] {
  return typeof key === 'string' ? [key] : Object.keys(key);
}

/** Records of a table. Of several values of a key the last alone has spaces. */
function recordsOf({ columns, key }: Declared, types: ReadonlyMap<string, Stored>): fc.Arbitrary<Members> {
  const cellOf = (column: Column): fc.Arbitrary<unknown> => {
    const { type, isNullable } = types.get(column.name)!;
    // What reads a JSON value knows its form; a list without items has any.
    const value = column.read ? fc.constant([]) : VALUES[type]!;
    return isNullable ? fc.option(value) : value;
  };
  const membersOf = (members: Readonly<Record<string, Column | Group>>): fc.Arbitrary<Members> =>
    fc.record(
      Object.fromEntries(
        Object.entries(members)
          .filter(([, each]) => !['account_id', 'environment'].includes((each as Column).name))
          .map(([member, each]) => [member, 'members' in each ? groupOf(each) : cellOf(each)]),
      ),
    );
  const groupOf = ({ presence, members }: Group) => {
    const each = members as Readonly<Record<string, Column>>;
    const named = Object.keys(each).find((member) => each[member]!.name === presence)!;
    const parts = membersOf(each).map((part) => (part[named] === null ? null : part));
    return types.get(presence)!.isNullable ? fc.option(parts) : parts;
  };
  const named = membersOfKey(key);
  return fc
    .record({ members: membersOf(columns), name: fc.tuple(...named.map(() => text)) })
    .map(({ members, name }) => ({
      ...members,
      ...Object.fromEntries(
        named.map((member, nth) => {
          if (typeof key === 'object' && key[member] === 'integer') return [member, members[member]];
          const isLast = nth === named.length - 1;
          return [member, isLast ? name[nth] : name[nth]!.replaceAll(' ', '_')];
        }),
      ),
    }));
}

/** The record that is stored once `changed` has been saved under the key of `first`. */
function merged({ columns }: Declared, first: Members, changed: Members): Members {
  const partsOf = (
    members: Readonly<Record<string, Column>>,
    before: Members | null,
    after: Members | null,
  ) =>
    Object.fromEntries(
      Object.entries(members).map(([member, { isFixed }]) => [
        member,
        (isFixed ? before : after)?.[member] ?? null,
      ]),
    );
  return Object.fromEntries(
    Object.entries(columns).map(([member, each]) => {
      if (!('members' in each)) return [member, each.isFixed ? first[member] : changed[member]];
      const members = each.members as Readonly<Record<string, Column>>;
      const parts = partsOf(members, first[member] as Members | null, changed[member] as Members | null);
      const isThere = Object.entries(members).some(
        ([part, { name }]) => name === each.presence && parts[part] !== null,
      );
      return [member, isThere ? parts : null];
    }),
  );
}

test('The stores declare their tables', () => {
  expect([...declared.keys()]).toEqual(
    expect.arrayContaining([
      'payment',
      'subscription_cycle',
      'subaccount_payout',
      'webhook_endpoint',
      'token',
    ]),
  );
});

describeOnDatabase('a declared table', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test.each([...declared.values()])(
    'What was saved in $name is what is loaded, and a change leaves what is fixed',
    async (each) => {
      const { table, name, columns, key, complete = (record: Members) => record } = each;
      const tenantOf = (nth: number) => [ana, rui][nth % 2]!;
      /** A record whose members name its tenant, where it has such members. */
      const ofTenant = (record: Members, tenant: Tenant): Members => ({
        ...record,
        ...(columns.accountId && tenant),
      });
      const byKey = <Of extends { record: Members }>(records: readonly Of[]) =>
        records.toSorted((left, right) => (table.keyOf(left.record) < table.keyOf(right.record) ? -1 : 1));
      await database.transaction(async (sql) => {
        const generated = recordsOf(each, await replace(sql, each));
        const pairs = fc.uniqueArray(fc.tuple(generated, generated), {
          ...{ minLength: 1, maxLength: 3 },
          selector: ([first]) => table.keyOf(first),
        });
        const property = fc.asyncProperty(pairs, async (all) => {
          await raw`delete from ${raw.ref(name)}`.execute(sql);
          const before = all.map(([first], nth) => ({
            tenant: tenantOf(nth),
            record: ofTenant(first, tenantOf(nth)),
          }));
          const changes = all.map(([first, other], nth) => {
            const same = Object.fromEntries(membersOfKey(key).map((member) => [member, first[member]]));
            return { tenant: tenantOf(nth), record: ofTenant({ ...other, ...same }, tenantOf(nth)) };
          });
          const after = changes.map(({ tenant, record }, nth) => ({
            tenant,
            record: merged(each, before[nth]!.record, record),
          }));
          const keys = before.map(({ tenant, record }) => ({ tenant, key: table.keyOf(record) }));
          const saveAndLoad = async (saved: typeof before, expected: typeof before) => {
            await table.saveEach(sql, saved);
            const found = expected.map(({ tenant, record }, nth) => ({
              tenant,
              record: complete(record, table.toRow(tenant, before[nth]!.record)),
            }));
            expect(byKey(await table.loadEach(sql, keys))).toEqual(byKey(found));
            const ofAna = await table.load(
              sql,
              ana,
              keys.map((named) => named.key),
            );
            expect(byKey(ofAna.map((record) => ({ tenant: ana, record })))).toEqual(
              byKey(found.filter(({ tenant }) => tenant === ana)),
            );
          };
          await saveAndLoad(before, before);
          await saveAndLoad(changes, after);
        });
        await fc.assert(property, { numRuns: 10, endOnFailure: true });
      });
    },
  );
});
