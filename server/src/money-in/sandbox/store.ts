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

export const testPaymentTable = table<StoredTestPayment>('test_payment', columns, {
  key: 'id',
  isKey: isTestPaymentId,
});

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
  return rows.map(testPaymentTable.fromRow);
}
