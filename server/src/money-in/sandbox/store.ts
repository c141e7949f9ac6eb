import type { Selectable } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
import { isTestPaymentId, type StoredTestPayment } from './model.ts';

export async function selectTestPayments(
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
): Promise<StoredTestPayment[]> {
  // A text that is no id is in no row, and Postgres rejects one with U+0000.
  const possible = ids.filter(isTestPaymentId);
  if (possible.length === 0) return [];
  const rows = await ofTenant(sql, 'test_payment', tenant).selectAll().where('id', 'in', possible).execute();
  return rows.map(toTestPayment);
}

/** Lists test payments, newest first: all, or those of a status. */
export async function listTestPayments(
  sql: Sql,
  tenant: Tenant,
  { limit, status }: { limit: number; status?: StoredTestPayment['status'] },
): Promise<StoredTestPayment[]> {
  const rows = await ofTenant(sql, 'test_payment', tenant)
    .selectAll()
    .$if(status !== undefined, (query) => query.where('status', '=', status!))
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toTestPayment);
}

export async function saveTestPayments(
  sql: Sql,
  tenant: Tenant,
  payments: readonly StoredTestPayment[],
): Promise<void> {
  await sql
    .insertInto('test_payment')
    .values(
      payments.map((payment) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        id: payment.id,
        value_cents: payment.valueCents,
        status: payment.status,
        created_at: payment.createdAt,
        paid_at: payment.paidAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        status: row.ref('excluded.status'),
        paid_at: row.ref('excluded.paid_at'),
      })),
    )
    .execute();
}

function toTestPayment(row: Selectable<Tables['test_payment']>): StoredTestPayment {
  return {
    id: row.id,
    valueCents: row.value_cents,
    status: row.status,
    createdAt: row.created_at,
    paidAt: row.paid_at,
  };
}
