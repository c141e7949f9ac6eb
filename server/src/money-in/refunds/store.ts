import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import {
  type Columns,
  changing,
  fixed,
  group,
  type Listed,
  type RowsOf,
  table,
} from '../../state/db/table.ts';
import { selectTotals } from '../../state/db/totals.ts';
import {
  isRefundId,
  REFUND_STATUSES,
  REFUNDED_TYPES,
  type RefundedResource,
  type RefundFilter,
  type RefundRange,
  refundConditions,
  type StoredRefund,
} from './model.ts';

const columns = {
  refundId: fixed('refund_id'),
  version: changing('version'),
  status: changing('status'),
  resource: group('type', { type: fixed('resource'), id: fixed('resource_id') }),
  amountCents: fixed('amount_cents'),
  reason: fixed('reason'),
  isAutomatic: fixed('automatic'),
  railChargeId: fixed('charge_id'),
  endToEndId: changing('end_to_end_id'),
  failureReason: changing('failure_reason'),
  createdAt: fixed('created_at'),
  completedAt: changing('completed_at'),
  failedAt: changing('failed_at'),
} satisfies Columns<StoredRefund>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    refund: RowsOf<StoredRefund, typeof columns> & Listed;
  }
}

export const refundTable = table<StoredRefund>('refund', columns, { key: 'refundId', isKey: isRefundId });

/** Selects the refunds of resources of one type, oldest first. */
export async function selectRefundsOf(
  sql: Sql,
  tenant: Tenant,
  { type, ids }: { type: RefundedResource['type']; ids: readonly string[] },
): Promise<StoredRefund[]> {
  if (ids.length === 0) return [];
  const rows = await ofTenant(sql, 'refund', tenant)
    .selectAll()
    .where('resource', '=', type)
    .where('resource_id', 'in', ids)
    .orderBy('number')
    .execute();
  return rows.map(refundTable.fromRow);
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listRefunds(
  sql: Sql,
  tenant: Tenant,
  { end, limit, after, before, ...filter }: RefundRange,
): Promise<{ position: number; resource: StoredRefund }[]> {
  const rows = await selectFiltered<{ number: number }>(sql, tenant, 'refund', conditionsOf(filter), {
    end,
    limit,
    after,
    before,
  });
  return rows.map((row) => ({ position: row.number, resource: refundTable.fromRow(row) }));
}

export function countRefunds(sql: Sql, tenant: Tenant, filter: RefundFilter): Promise<number> {
  const { status, types } = filter;
  return countFiltered(sql, tenant, 'refund', conditionsOf(filter), { kind: types, status });
}

export function totalsOfRefunds(
  sql: Sql,
  tenant: Tenant,
  filter: RefundFilter,
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  return selectTotals(sql, tenant, 'refund', conditionsOf(filter), groupBy);
}

// The indexes have a list for each type and status.
const conditionsOf = listConditions(refundConditions, {
  columns: refundTable.columns,
  lists: { types: REFUNDED_TYPES, status: REFUND_STATUSES },
});
