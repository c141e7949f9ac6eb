import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import {
  type Balances,
  type LedgerAccountName,
  NO_BALANCES,
} from '../../server/src/state/ledger/postings.ts';
import { signsHold } from '../support/ledger.ts';

/** The sums of a tenant's postings, account by account, without the balances that the database stores. */
async function sumsOfEntries({ sql: on }: Database, { accountId, environment }: Tenant): Promise<Balances> {
  const { rows } = await sql<{ name: LedgerAccountName; amount: number }>`
    select ledger_account as name, sum(amount)::bigint as amount from posting
    where account_id = ${accountId} and environment = ${environment} group by ledger_account
  `.execute(on);
  return { ...NO_BALANCES, ...Object.fromEntries(rows.map(({ name, amount }) => [name, amount])) };
}

/**
 * Asserts that the entries of each transaction sum to zero in each unit, and that no account ends on the wrong side
 * of zero.
 */
export async function expectBooksHold(database: Database, tenant: Tenant): Promise<Balances> {
  const { rows } = await sql`
    select transaction_id, sum(amount) from posting
    where account_id = ${tenant.accountId} and environment = ${tenant.environment}
    group by transaction_id, ledger_account like '%ltc%' having sum(amount) <> 0
  `.execute(database.sql);
  expect(rows).toEqual([]);
  const sums = await sumsOfEntries(database, tenant);
  expect(signsHold(sums), JSON.stringify(sums)).toBe(true);
  return sums;
}
