import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Columns, changing, fixed, type Listed, type RowsOf, table } from '../../state/db/table.ts';
import { isTestPaymentId, type StoredTestPayment } from './model.ts';

const columns = {
  id: fixed('id'),
  valueCents: fixed('value_cents'),
  status: changing('status'),
  createdAt: fixed('created_at'),
  paidAt: changing('paid_at'),
} satisfies Columns<StoredTestPayment>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    test_payment: RowsOf<StoredTestPayment, typeof columns> & Listed;
  }
}

const testPayments = table<StoredTestPayment>('test_payment', columns, {
  key: 'id',
  isKey: isTestPaymentId,
});

export async function selectTestPayments(
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
): Promise<StoredTestPayment[]> {
  // A text that is no id is in no row, and Postgres rejects one with U+0000.
  const possible = ids.filter(isTestPaymentId);
  if (possible.length === 0) return [];
  const rows = await ofTenant(sql, 'test_payment', tenant).selectAll().where('id', 'in', possible).execute();
  return rows.map(testPayments.fromRow);
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
  return rows.map(testPayments.fromRow);
}

export const saveTestPayments = testPayments.save;
