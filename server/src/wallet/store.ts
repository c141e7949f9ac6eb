import type { Selectable } from 'kysely';
import type { Sql } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { type Dispute, isDisputeId } from './model.ts';

export async function selectDisputes(sql: Sql, tenant: Tenant, ids: readonly string[]): Promise<Dispute[]> {
  // A text that is no id is in no row, and Postgres rejects one with U+0000.
  const possible = ids.filter(isDisputeId);
  if (possible.length === 0) return [];
  const rows = await disputesOf(sql, tenant).where('id', 'in', possible).execute();
  return rows.map(toDispute);
}

/** Lists disputes, newest first. */
export async function listDisputes(sql: Sql, tenant: Tenant, limit: number): Promise<Dispute[]> {
  const rows = await disputesOf(sql, tenant).orderBy('number', 'desc').limit(limit).execute();
  return rows.map(toDispute);
}

export async function saveDisputes(sql: Sql, tenant: Tenant, disputes: readonly Dispute[]): Promise<void> {
  await sql
    .insertInto('dispute')
    .values(
      disputes.map((dispute) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        id: dispute.id,
        amount_cents: dispute.amountCents,
        order_code: dispute.orderCode,
        status: dispute.status,
        created_at: dispute.createdAt,
        closed_at: dispute.closedAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        status: row.ref('excluded.status'),
        closed_at: row.ref('excluded.closed_at'),
      })),
    )
    .execute();
}

function disputesOf(sql: Sql, tenant: Tenant) {
  return sql
    .selectFrom('dispute')
    .selectAll()
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment);
}

function toDispute(row: Selectable<Tables['dispute']>): Dispute {
  return {
    id: row.id,
    amountCents: row.amount_cents,
    orderCode: row.order_code,
    status: row.status,
    createdAt: row.created_at,
    closedAt: row.closed_at,
  };
}
