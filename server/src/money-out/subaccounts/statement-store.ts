import { sql as raw } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import {
  countFiltered,
  type ListConditions,
  rangeOfAmounts,
  selectFiltered,
} from '../../state/db/filtered-lists.ts';
import { countList, sizeOfPage } from '../../state/db/lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Columns, fixed, type Listed, type RowsOf, table } from '../../state/db/table.ts';
import { STATEMENT_ENTRY_KINDS, type StatementFilter, type StoredStatementEntry } from './model.ts';
import {
  countEachList,
  groupByList,
  isId,
  newest,
  requestedLists,
  type SubaccountList,
  type SubaccountListPage,
  type Window,
} from './store.ts';

const columns = {
  subaccountId: fixed('subaccount_id'),
  kind: fixed('kind'),
  refId: fixed('ref_id'),
  amountCents: fixed('amount_cents'),
  balanceAfterCents: fixed('balance_after_cents'),
  createdAt: fixed('created_at'),
} satisfies Columns<StoredStatementEntry>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    statement_entry: RowsOf<StoredStatementEntry, typeof columns> & Listed;
  }
}

/** The entries of statements. A split charge has an entry in each of several subaccounts. */
export const entryTable = table<StoredStatementEntry, never, 'kind' | 'subaccountId' | 'refId'>(
  'statement_entry',
  columns,
  { key: { kind: 'text', subaccountId: 'text', refId: 'text' } },
);

export async function listEntries(
  sql: Sql,
  tenant: Tenant,
  subaccountId: string,
  window: Window,
): Promise<{ position: number; item: StoredStatementEntry }[]> {
  if (!isId(subaccountId)) return [];
  const rows = await newest(
    ofTenant(sql, 'statement_entry', tenant).selectAll().where('subaccount_id', '=', subaccountId),
    window,
  ).execute();
  return rows.map((row) => ({ position: row.number, item: entryTable.fromRow(row) }));
}

/** Lists the first or the last entries of each of several subaccounts in one statement. */
export async function listEntriesOfEach(
  sql: Sql,
  pages: readonly SubaccountListPage[],
  end: ListRange['end'] = 'first',
) {
  const direction = end === 'first' ? 'desc' : 'asc';
  const rows = await sql
    .selectFrom(requestedLists(pages))
    .innerJoinLateral(
      (of) =>
        of
          .selectFrom('statement_entry')
          .selectAll('statement_entry')
          .whereRef('statement_entry.account_id', '=', 'wanted.account_id')
          .whereRef('statement_entry.environment', '=', 'wanted.environment')
          .whereRef('statement_entry.subaccount_id', '=', 'wanted.subaccount_id')
          .whereRef('statement_entry.number', '<', 'wanted.after')
          .whereRef('statement_entry.number', '>', 'wanted.before')
          .orderBy('statement_entry.number', direction)
          .limit(sizeOfPage(raw`wanted.size`))
          .as('page'),
      (join) => join.onTrue(),
    )
    .selectAll('page')
    .select('wanted.nth')
    .orderBy('page.number', 'desc')
    .execute();
  return groupByList(pages, rows, (row) => ({ position: row.number, item: entryTable.fromRow(row) }));
}

/** Counts the entries of each of several subaccounts in one statement. */
export function countEntriesOfEach(sql: Sql, pages: readonly SubaccountList[]): Promise<number[]> {
  return countEachList(sql, pages, { list: 'statement_entry' });
}

/**
 * The start of all statements: a list with a filter is in the order of its instants, and each kind has an
 * index by them.
 */
const START = new Date(0);

/** The amount of an entry without its sign. */
const sizeOfEntry = (alias?: string) =>
  raw<number>`abs(${raw.ref(alias === undefined ? 'amount_cents' : `${alias}.amount_cents`)})`;

function conditionsOf({ kind, createdAfter, createdBefore, reference, ...amounts }: StatementFilter) {
  const range = rangeOfAmounts(amounts);
  // By amounts alone the list is in their order.
  const isByAmount = range && !kind && !createdAfter && !createdBefore && reference === undefined;
  return {
    oneOf: {
      kind: { asked: isByAmount ? undefined : (kind ?? STATEMENT_ENTRY_KINDS), all: STATEMENT_ENTRY_KINDS },
    },
    periods: [['created_at', isByAmount ? {} : { from: createdAfter ?? START, before: createdBefore }]],
    amounts: range && { column: sizeOfEntry, range },
    where: reference === undefined ? [] : [raw<boolean>`ref_id = ${reference}`],
    isOfFew: reference !== undefined,
  } satisfies ListConditions;
}

/** Lists the entries of a subaccount that match a filter, in the order of their instants. */
export async function listFilteredEntries(
  sql: Sql,
  tenant: Tenant,
  subaccountId: string,
  filter: StatementFilter,
  range: ListRange & { offset?: number },
): Promise<{ position: number; item: StoredStatementEntry }[]> {
  if (!isId(subaccountId)) return [];
  const rows = await selectFiltered<{ number: number }>(
    ...([sql, tenant, 'statement_entry', conditionsOf(filter), range] as const),
    [raw<boolean>`subaccount_id = ${subaccountId}`],
  );
  return rows.map((row) => ({ position: row.number, item: entryTable.fromRow(row) }));
}

export async function countFilteredEntries(
  sql: Sql,
  tenant: Tenant,
  subaccountId: string,
  filter: StatementFilter,
): Promise<number> {
  if (!isId(subaccountId)) return 0;
  return countFiltered(sql, tenant, 'statement_entry', conditionsOf(filter), filter, [
    raw<boolean>`subaccount_id = ${subaccountId}`,
  ]);
}

export async function countEntries(sql: Sql, tenant: Tenant, subaccountId: string): Promise<number> {
  if (!isId(subaccountId)) return 0;
  return countList(sql, tenant, { list: 'statement_entry', parent: subaccountId });
}
