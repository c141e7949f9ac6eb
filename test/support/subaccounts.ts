import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { Core } from './core.ts';
import { fund } from './funds.ts';

export const MARKUP = 50;

/** Opens a subaccount and transfers money of the merchant to it. */
export async function openSubaccount(core: Core, cents = 0, name = 'Bia'): Promise<string> {
  const { subaccount } = await core.subaccounts.create(core.tenant, { name });
  if (cents > 0) {
    await fund(core, { cents });
    await core.subaccounts.transfer(core.tenant, { subaccountId: subaccount.id, amountCents: cents });
  }
  return subaccount.id;
}

/** Asserts that each subaccount's balance equals its postings and its statement, and their sum the control account. */
export async function expectStatementsHold(database: Database, tenant: Tenant): Promise<void> {
  const { rows } = await sql<{ id: string; balance: number; posted: number; entered: number; last: number }>`
    select s.id, s.balance_cents as balance,
      (select coalesce(sum(amount), 0)::bigint from posting where subaccount_id = s.id) as posted,
      (select coalesce(sum(amount_cents), 0)::bigint from statement_entry where subaccount_id = s.id) as entered,
      coalesce((select balance_after_cents from statement_entry where subaccount_id = s.id
        order by number desc limit 1), 0) as last
    from subaccount s where s.account_id = ${tenant.accountId} and s.environment = ${tenant.environment}
  `.execute(database.sql);
  for (const { balance, posted, entered, last } of rows)
    expect([posted, entered, last]).toEqual([balance, balance, balance]);
  const control = await database.sql
    .selectFrom('ledger_account')
    .select('balance')
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('name', '=', 'merchant_subaccounts')
    .executeTakeFirst();
  expect(rows.reduce((sum, { balance }) => sum + balance, 0)).toBe(control?.balance ?? 0);
}
