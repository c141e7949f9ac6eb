import { sql as raw } from 'kysely';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import { type Balances, type LedgerAccountName, type LedgerTransaction, NO_BALANCES } from './postings.ts';

/** Every balance of a tenant. */
export async function readBalances(sql: Sql, tenant: Tenant): Promise<Balances> {
  const { rows } = await raw<{ name: LedgerAccountName; balance: number }>`
    /* read_balances */
    select name, balance from ledger_account
    where account_id = ${tenant.accountId} and environment = ${tenant.environment}
  `.execute(sql);
  const balances = { ...NO_BALANCES };
  for (const { name, balance } of rows) balances[name] = balance;
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
 * Appends the transactions, each whole, in one statement; the database changes the balances with them. A
 * transaction that was posted before, does not balance, or gives an account the wrong sign fails.
 */
export async function post(
  sql: Sql,
  tenant: Tenant,
  transactions: readonly LedgerTransaction[],
  occurredAt: Date,
): Promise<void> {
  if (transactions.length === 0) return;
  const lines = transactions.flatMap(({ id, lines, subaccountId }) =>
    lines.map(({ account, amount }) => ({
      id,
      account,
      amount,
      subaccountId: account === 'merchant_subaccounts' ? subaccountId : null,
    })),
  );
  await raw`
    /* post */
    insert into posting
      (account_id, environment, transaction_id, ledger_account, amount, subaccount_id, occurred_at)
    select ${tenant.accountId}::text, ${tenant.environment}::text, line.*, ${occurredAt}::timestamptz
    from unnest(
      ${lines.map(({ id }) => id)}::text[],
      ${lines.map(({ account }) => account)}::text[],
      ${lines.map(({ amount }) => amount)}::bigint[],
      ${lines.map(({ subaccountId }) => subaccountId)}::text[]
    ) line
  `.execute(sql);
}
