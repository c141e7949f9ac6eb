import type { Sql } from '../db/database.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { type Balances, type LedgerAccountName, type LedgerTransaction, NO_BALANCES } from './postings.ts';

/** Every balance of a tenant. */
export async function readBalances(sql: Sql, tenant: Tenant): Promise<Balances> {
  const rows = await sql
    .selectFrom('ledger_account')
    .select(['name', 'balance_cents'])
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .execute();
  const balances = { ...NO_BALANCES };
  for (const row of rows) balances[row.name as LedgerAccountName] = row.balance_cents;
  return balances;
}

/**
 * Appends the transactions, each whole, in one statement; the database moves the balances with them. A
 * transaction that was posted before, does not balance, or brings an account to the wrong sign fails.
 */
export async function post(
  sql: Sql,
  tenant: Tenant,
  transactions: readonly LedgerTransaction[],
  occurredAt: Date,
): Promise<void> {
  const rows = transactions.flatMap(({ id, lines }) =>
    lines.map(({ account, amountCents }) => ({
      account_id: tenant.accountId,
      environment: tenant.environment,
      transaction_id: id,
      ledger_account: account,
      amount_cents: amountCents,
      occurred_at: occurredAt,
    })),
  );
  if (rows.length > 0) await sql.insertInto('posting').values(rows).execute();
}
