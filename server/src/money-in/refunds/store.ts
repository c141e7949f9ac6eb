import type { Selectable } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
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

// A text that is no id is not queried: it is in no row, and Postgres rejects one with U+0000.

export async function selectRefunds(
  sql: Sql,
  tenant: Tenant,
  refundIds: readonly string[],
): Promise<StoredRefund[]> {
  const possible = refundIds.filter(isRefundId);
  if (possible.length === 0) return [];
  const rows = await ofTenant(sql, 'refund', tenant).selectAll().where('refund_id', 'in', possible).execute();
  return rows.map(toRefund);
}

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
  return rows.map(toRefund);
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listRefunds(
  sql: Sql,
  tenant: Tenant,
  { end, limit, after, before, ...filter }: RefundRange,
): Promise<{ place: number; resource: StoredRefund }[]> {
  const rows = await selectFiltered<Selectable<Tables['refund']>>(
    sql,
    tenant,
    'refund',
    conditionsOf(filter),
    { end, limit, after, before },
  );
  return rows.map((row) => ({ place: row.number, resource: toRefund(row) }));
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

/** The columns of the members that the filter compares. */
const COLUMNS = {
  ...{ resource: 'resource', status: 'status' },
  ...{ createdAt: 'created_at', completedAt: 'completed_at', failedAt: 'failed_at' },
};

// The indexes have a list for each type and status.
const conditionsOf = (filter: RefundFilter) =>
  listConditions(refundConditions, filter, {
    columns: COLUMNS,
    lists: { types: REFUNDED_TYPES, status: REFUND_STATUSES },
  });

export async function saveRefunds(sql: Sql, tenant: Tenant, refunds: readonly StoredRefund[]): Promise<void> {
  await sql
    .insertInto('refund')
    .values(
      refunds.map((refund) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        refund_id: refund.refundId,
        version: refund.version,
        status: refund.status,
        resource: refund.resource.type,
        resource_id: refund.resource.id,
        amount_cents: refund.amountCents,
        reason: refund.reason,
        automatic: refund.isAutomatic,
        charge_id: refund.railChargeId,
        end_to_end_id: refund.endToEndId,
        failure_reason: refund.failureReason,
        created_at: refund.createdAt,
        completed_at: refund.completedAt,
        failed_at: refund.failedAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('refund_id').doUpdateSet((row) => ({
        version: row.ref('excluded.version'),
        status: row.ref('excluded.status'),
        end_to_end_id: row.ref('excluded.end_to_end_id'),
        failure_reason: row.ref('excluded.failure_reason'),
        completed_at: row.ref('excluded.completed_at'),
        failed_at: row.ref('excluded.failed_at'),
      })),
    )
    .execute();
}

function toRefund(row: Selectable<Tables['refund']>): StoredRefund {
  return {
    refundId: row.refund_id,
    version: row.version,
    status: row.status,
    resource: { type: row.resource, id: row.resource_id },
    amountCents: row.amount_cents,
    reason: row.reason,
    isAutomatic: row.automatic,
    railChargeId: row.charge_id,
    endToEndId: row.end_to_end_id,
    failureReason: row.failure_reason,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    failedAt: row.failed_at,
  };
}
