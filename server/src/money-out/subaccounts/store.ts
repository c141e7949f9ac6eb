import { sql as raw } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import {
  isOfWanted,
  type TenantKey,
  type TenantRecord,
  tenantOf,
  wantedKeys,
} from '../../state/db/each-tenant.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { type ListFilter, SUM, sizeOfPage } from '../../state/db/lists.ts';
import { type Columns, fixed, type Listed, type RowsOf, table } from '../../state/db/table.ts';
import type { TenantTable } from '../../state/db/tenant-table.ts';
import { type StoredSubaccount, type SubaccountFilter, subaccountConditions } from './model.ts';
import { subaccountIdText } from './names.ts';

/**
 * Whether a text can be a subaccount's id. Other texts are not queried: no row has them, and Postgres fails
 * for U+0000.
 */
export const isId = (text: string) => subaccountIdText.safeParse(text).success;

/** A part of a list, newest first: `limit` rows after the first `offset`. */
export interface Window {
  limit: number;
  offset: number;
}

// ── Subaccounts ─────────────────────────────────────────────────────────────────────────────────

const columns = {
  id: fixed('id'),
  name: fixed('name'),
  externalId: fixed('external_id'),
  // Only postings change it.
  balanceCents: fixed('balance_cents'),
  createdAt: fixed('created_at'),
} satisfies Columns<StoredSubaccount>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    subaccount: RowsOf<StoredSubaccount, typeof columns> & Listed;
  }
}

export const subaccountTable = table<StoredSubaccount>('subaccount', columns, { key: 'id', isKey: isId });

export async function selectByExternalIds(
  sql: Sql,
  externalIds: readonly TenantKey[],
): Promise<TenantRecord<StoredSubaccount & { externalId: string }>[]> {
  const { rows } = await raw<TenantTable>`
    select subaccount.* from ${wantedKeys(externalIds)}
    join subaccount on ${isOfWanted('subaccount')} and subaccount.external_id = wanted.key`.execute(sql);
  return rows.map((row) => ({
    tenant: tenantOf(row),
    record: subaccountTable.fromRow(row) as StoredSubaccount & { externalId: string },
  }));
}

export async function listSubaccounts(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: ListRange & SubaccountFilter & { offset?: number },
): Promise<{ position: number; item: StoredSubaccount }[]> {
  const range = { end, limit, offset, after, before };
  const rows = await selectFiltered<{ number: number }>(
    ...([sql, tenant, 'subaccount', conditionsOf(filter), range] as const),
  );
  return rows.map((row) => ({ position: row.number, item: subaccountTable.fromRow(row) }));
}

export function countSubaccounts(sql: Sql, tenant: Tenant, filter: SubaccountFilter = {}): Promise<number> {
  return countFiltered(sql, tenant, 'subaccount', conditionsOf(filter), {});
}

const conditionsOf = listConditions(subaccountConditions, {
  columns: subaccountTable.columns,
  lists: {},
  unique: ['externalId'],
});

// ── Lists of several subaccounts at once ────────────────────────────────────────────────────────

/** A list of one subaccount: its statement, or its payouts. */
export interface SubaccountList {
  tenant: Tenant;
  subaccountId: string;
}

/**
 * A part of a subaccount's list. `end`: where the part lies, at the beginning or the end; it is the same for
 * all lists that are read together.
 */
export interface SubaccountListPage extends SubaccountList, Omit<ListRange, 'end'> {}

interface RequestedList {
  nth: number;
  account_id: string;
  environment: Environment;
  subaccount_id: string;
  after: number;
  before: number;
  size: number;
}

/**
 * A table `wanted` of the requested lists, numbered by `nth`. A list whose subaccount id has no valid form is
 * left out.
 */
export function requestedLists(pages: readonly (SubaccountList & Partial<SubaccountListPage>)[]) {
  const rows = pages.map(
    (
      { tenant, subaccountId, after = Number.MAX_SAFE_INTEGER, before = 0, limit = 0 },
      nth,
    ): RequestedList => ({
      nth,
      account_id: tenant.accountId,
      environment: tenant.environment,
      subaccount_id: subaccountId,
      after,
      before,
      size: limit,
    }),
  );
  const possible = rows
    .filter((row) => isId(row.subaccount_id))
    .map(
      ({ nth, account_id, environment, subaccount_id, after, before, size }) =>
        raw`(${nth}::integer, ${account_id}, ${environment}::environment, ${subaccount_id}, ${after}::bigint,
          ${before}::bigint, ${size}::integer)`,
    );
  const nothing = raw`select null::integer, '', 'live'::environment, '', 0::bigint, 0::bigint, 0 where false`;
  return raw<RequestedList>`(${possible.length > 0 ? raw`values ${raw.join(possible)}` : nothing})`.as<'wanted'>(
    raw`wanted (nth, account_id, environment, subaccount_id, after, before, size)`,
  );
}

/** Groups rows by their list, in the order of the requests. */
export function groupByList<Row extends { nth: number }, Item>(
  pages: readonly unknown[],
  rows: readonly Row[],
  toItem: (row: Row) => Item,
): Item[][] {
  const lists = pages.map((): Item[] => []);
  for (const row of rows) lists[row.nth]!.push(toItem(row));
  return lists;
}

// biome-ignore lint/suspicious/noExplicitAny: Kysely's builders of several tables share no type that has these
type Listable = Record<'orderBy' | 'limit' | 'offset', (...given: any[]) => any>;

/** Restricts a query to a window of a list, newest first. */
export function newest<Query extends Listable>(query: Query, { limit, offset }: Window): Query {
  return query.orderBy('number', 'desc').limit(sizeOfPage(limit)).offset(offset);
}

/** Counts the rows of a list of each of several subaccounts in one statement. */
export async function countEachList(
  sql: Sql,
  pages: readonly SubaccountList[],
  { list, status }: Pick<ListFilter, 'list' | 'status'>,
): Promise<number[]> {
  const rows = await sql
    .selectFrom(requestedLists(pages))
    .select((of) => [
      'wanted.nth',
      of
        .selectFrom('list_count')
        .select(SUM.as('count'))
        .whereRef('list_count.account_id', '=', 'wanted.account_id')
        .whereRef('list_count.environment', '=', 'wanted.environment')
        .where('list_count.list', '=', list)
        .whereRef('list_count.parent', '=', 'wanted.subaccount_id')
        .$if(status !== undefined, (query) => query.where('list_count.status', 'in', status!))
        .as('count'),
    ])
    .execute();
  return groupByList(pages, rows, ({ count }) => count ?? 0).map(([count]) => count ?? 0);
}
