import { sql as raw } from 'kysely';
import type { Cents } from '../../kernel/money.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import { isOfWanted, tenantArrays, tenantOf } from '../db/each-tenant.ts';
import type { TenantTable } from '../db/tenant-table.ts';
import {
  type Balances,
  FIGURES,
  type LedgerAccountName,
  type LedgerTransaction,
  movesFigure,
  NO_BALANCES,
} from './postings.ts';

/** Every balance of tenants, by their keys. */
export async function readBalances(
  sql: Sql,
  tenants: readonly Tenant[],
): Promise<ReadonlyMap<string, Balances>> {
  const { rows } = await raw<TenantTable & { name: LedgerAccountName; balance: number }>`
    /* read_balances */
    select found.* from unnest(${tenantArrays(tenants.map((tenant) => ({ tenant })))}) wanted (account_id, environment)
    cross join lateral (
      select account_id, environment, name, balance from ledger_account where ${isOfWanted('ledger_account')}
      -- With a limit each tenant is looked up, whatever number the planner expects: a tenant has an account of each name.
      limit ${raw.lit(Object.keys(NO_BALANCES).length)}
    ) found
  `.execute(sql);
  const balances = new Map(tenants.map((tenant) => [tenantKey(tenant), { ...NO_BALANCES }]));
  for (const row of rows) balances.get(tenantKey(tenantOf(row)))![row.name] = row.balance;
  return balances;
}

/**
 * Every balance of a tenant, and the version of its log for which they hold. One statement reads both, so
 * they are of one moment.
 */
export async function readBalancesAndVersion(
  sql: Sql,
  tenant: Tenant,
): Promise<{ balances: Balances; version: number }> {
  const { rows } = await balancesAndVersion(tenant).execute(sql);
  return fromRows(rows);
}

/**
 * Every balance of a tenant, the version for which they hold, and the sum over its subaccounts, all of the
 * same moment.
 */
export async function readBalancesAndSubaccounts(
  sql: Sql,
  tenant: Tenant,
): Promise<{ balances: Balances; version: number; subaccountsCents: Cents }> {
  const { rows } = await raw<BalanceRow>`
    ${balancesAndVersion(tenant)}
    union all
    select 'subaccounts', coalesce(sum(balance_cents), 0)::bigint from subaccount
    where account_id = ${tenant.accountId} and environment = ${tenant.environment}
  `.execute(sql);
  return fromRows(rows);
}

interface BalanceRow {
  name: LedgerAccountName | 'version' | 'subaccounts';
  balance: number;
}

function balancesAndVersion({ accountId, environment }: Tenant) {
  return raw<BalanceRow>`
    select name, balance from ledger_account where account_id = ${accountId} and environment = ${environment}
    union all
    select 'version', version from stream where account_id = ${accountId} and environment = ${environment}`;
}

function fromRows(rows: readonly BalanceRow[]) {
  const balances = { ...NO_BALANCES };
  // A tenant without a log has no row with the version.
  const others = { version: 0, subaccounts: 0 };
  for (const { name, balance } of rows)
    if (name === 'version' || name === 'subaccounts') others[name] = balance;
    else balances[name] = balance;
  return { balances, version: others.version, subaccountsCents: others.subaccounts };
}

/**
 * Appends the transactions of tenants, each whole, and their rows of the journal in one statement; the database changes
 * the balances with them. A transaction that was posted before, does not balance, or gives an account the wrong sign fails.
 */
export async function post(
  sql: Sql,
  posted: readonly { readonly tenant: Tenant; readonly transactions: readonly LedgerTransaction[] }[],
  occurredAt: Date,
): Promise<void> {
  const lines = posted.flatMap(({ tenant, transactions }) =>
    transactions.flatMap(({ id, lines, subaccountId }) =>
      lines.map(({ account, amount }) => ({
        tenant,
        id,
        account,
        amount,
        subaccountId: account === 'merchant_subaccounts' ? subaccountId : null,
      })),
    ),
  );
  if (lines.length === 0) return;
  const rows = posted.flatMap(({ tenant, transactions }) => rowsOf(tenant, transactions));
  const figures = (of: 'deltas' | 'sums') =>
    raw.join(FIGURES.map((name) => raw`${rows.map((row) => row[of][name])}::bigint[]`));
  await raw`
    /* post */
    with newest as materialized (
      -- The newest row of each tenant is looked up once, and not for each transaction.
      select wanted.account_id, wanted.environment, last.number, last.entries, last.occurred_at,
        last.balance, last.subaccounts, last.pending, last.dispute_hold, last.ltc, last.receivable
      from unnest(${tenantArrays(posted.filter(({ transactions }) => transactions.length > 0))}) wanted (account_id, environment)
      left join lateral (
        select * from ledger_transaction where ${isOfWanted('ledger_transaction')} order by number desc limit 1
      ) last on true
    ), journal as (
      insert into ledger_transaction (
        account_id, environment, number, entries, is_entry, transaction_id, kind, ref, resource, resource_id,
        subaccount_id, fee_cents, occurred_at,
        balance_delta, subaccounts_delta, pending_delta, dispute_hold_delta, ltc_delta, receivable_delta,
        balance, subaccounts, pending, dispute_hold, ltc, receivable
      )
      select
        entry.account_id, entry.environment,
        coalesce(newest.number, ${BEFORE_JOURNAL}::bigint) + entry.nth,
        coalesce(newest.entries, ${BEFORE_JOURNAL}::bigint) + entry.entries,
        entry.is_entry, entry.id, entry.kind, entry.ref, entry.resource, entry.resource_id, entry.subaccount_id, entry.fee_cents,
        greatest(${occurredAt}::timestamptz, newest.occurred_at),
        entry.balance_delta, entry.subaccounts_delta, entry.pending_delta, entry.dispute_hold_delta, entry.ltc_delta,
        entry.receivable_delta,
        coalesce(newest.balance, 0) + entry.balance,
        coalesce(newest.subaccounts, 0) + entry.subaccounts,
        coalesce(newest.pending, 0) + entry.pending,
        coalesce(newest.dispute_hold, 0) + entry.dispute_hold,
        coalesce(newest.ltc, 0) + entry.ltc,
        coalesce(newest.receivable, 0) + entry.receivable
      from unnest(
        ${tenantArrays(rows)},
        ${rows.map(({ nth }) => nth)}::bigint[],
        ${rows.map(({ entries }) => entries)}::bigint[],
        ${rows.map(({ isEntry }) => isEntry)}::boolean[],
        ${rows.map(({ id }) => id)}::text[],
        ${rows.map(({ entry }) => entry.kind)}::text[],
        ${rows.map(({ entry }) => entry.ref)}::text[],
        ${rows.map(({ entry }) => entry.resource?.type ?? null)}::text[],
        ${rows.map(({ entry }) => entry.resource?.id ?? null)}::text[],
        ${rows.map(({ subaccountId }) => subaccountId)}::text[],
        ${rows.map(({ entry }) => entry.feeCents)}::bigint[],
        ${figures('deltas')},
        ${figures('sums')}
      ) entry (
        account_id, environment, nth, entries, is_entry, id, kind, ref, resource, resource_id, subaccount_id, fee_cents,
        balance_delta, subaccounts_delta, pending_delta, dispute_hold_delta, ltc_delta, receivable_delta,
        balance, subaccounts, pending, dispute_hold, ltc, receivable
      )
      join newest on newest.account_id = entry.account_id and newest.environment = entry.environment
    )
    insert into posting
      (account_id, environment, transaction_id, ledger_account, amount, subaccount_id, occurred_at)
    select line.*, ${occurredAt}::timestamptz
    from unnest(
      ${tenantArrays(lines)},
      ${lines.map(({ id }) => id)}::text[],
      ${lines.map(({ account }) => account)}::text[],
      ${lines.map(({ amount }) => amount)}::bigint[],
      ${lines.map(({ subaccountId }) => subaccountId)}::text[]
    ) line
  `.execute(sql);
}

/** The number before the first of a tenant whose journal begins with its first transaction: 2^40 - 1. */
const BEFORE_JOURNAL = 2 ** 40 - 1;

type Figures = Readonly<Record<(typeof FIGURES)[number], number>>;

/**
 * Makes the rows of the journal for transactions of a tenant, counted and added up from its newest row on. PostgreSQL would add up in
 * `numeric`, which takes longer than to read the sums.
 */
function rowsOf(tenant: Tenant, transactions: readonly LedgerTransaction[]) {
  const figures = (amountOf: (name: keyof Figures) => number) =>
    Object.fromEntries(FIGURES.map((name) => [name, amountOf(name)])) as Figures;
  let sums = figures(() => 0);
  let entries = 0;
  return transactions.map((transaction, index) => {
    const deltas = figures((name) => transaction.lines.find(({ account }) => account === name)?.amount ?? 0);
    const before = sums;
    sums = figures((name) => before[name] + deltas[name]);
    const isEntry = movesFigure(transaction);
    entries += Number(isEntry);
    return { ...transaction, tenant, nth: index + 1, entries, isEntry, deltas, sums };
  });
}
