import { sql as raw, type Selectable } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { headOf } from '../../state/db/head.ts';
import { countList, type ListFilter, SUM, selectRange, sizeOfPage } from '../../state/db/lists.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { StoredSubaccount } from './model.ts';
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

export async function selectSubaccounts(
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
): Promise<StoredSubaccount[]> {
  const possible = ids.filter(isId);
  if (possible.length === 0) return [];
  const rows = await subaccountsOf(sql, tenant).selectAll().where('id', 'in', possible).execute();
  return rows.map(toSubaccount);
}

/** Selects a subaccount with the version of the tenant's log at which its state holds. */
export async function selectSubaccountAndVersion(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<{ version: number; subaccount: StoredSubaccount } | null> {
  if (!isId(id)) return null;
  const row = await subaccountsOf(sql, tenant)
    .selectAll('subaccount')
    .select(headOf(tenant).as('head'))
    .where('subaccount.id', '=', id)
    .executeTakeFirst();
  return row ? { version: row.head, subaccount: toSubaccount(row) } : null;
}

export async function selectByExternalIds(
  sql: Sql,
  tenant: Tenant,
  externalIds: readonly string[],
): Promise<StoredSubaccount[]> {
  const rows = await subaccountsOf(sql, tenant).selectAll().where('external_id', 'in', externalIds).execute();
  return rows.map(toSubaccount);
}

export async function insertSubaccounts(
  sql: Sql,
  tenant: Tenant,
  subaccounts: readonly StoredSubaccount[],
): Promise<void> {
  await sql
    .insertInto('subaccount')
    .values(
      subaccounts.map(({ id, name, externalId, createdAt }) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        id,
        name,
        external_id: externalId,
        created_at: createdAt,
      })),
    )
    .execute();
}

export async function listSubaccounts(
  sql: Sql,
  tenant: Tenant,
  range: ListRange & { offset?: number },
): Promise<{ place: number; item: StoredSubaccount }[]> {
  const list = { table: 'subaccount' };
  const rows = await selectRange<Selectable<Tables['subaccount']>>(sql, tenant, list, range);
  return rows.map((row) => ({ place: row.number, item: toSubaccount(row) }));
}

export function countSubaccounts(sql: Sql, tenant: Tenant): Promise<number> {
  return countList(sql, tenant, { list: 'subaccount' });
}

function toSubaccount(row: Selectable<Tables['subaccount']>): StoredSubaccount {
  return {
    id: row.id,
    name: row.name,
    externalId: row.external_id,
    balanceCents: row.balance_cents,
    createdAt: row.created_at,
  };
}

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

function subaccountsOf(sql: Sql, { accountId, environment }: Tenant) {
  return sql
    .selectFrom('subaccount')
    .where('subaccount.account_id', '=', accountId)
    .where('subaccount.environment', '=', environment);
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
