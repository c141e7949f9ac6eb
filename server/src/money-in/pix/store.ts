import type { Tenant } from '../../kernel/tenant.ts';
import { isStorable } from '../../kernel/text.ts';
import type { Sql } from '../../state/db/database.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Columns, changing, fixed, json, type RowsOf, table } from '../../state/db/table.ts';
import type { RecordedCredit } from './credit.ts';
import { returnedCreditFromJson, type ShownElsewhere, type StoredPixResource } from './model.ts';

// ── The columns of all resources that a PIX code pays ───────────────────────────────────────────

/**
 * The columns with the same name and meaning in the table of each family. `expires_at` changes if a sandbox
 * ends the time earlier.
 */
export const PIX_COLUMNS = {
  version: changing('version'),
  status: changing('status'),
  amountCents: fixed('amount_cents'),
  feeCents: fixed('fee_cents'),
  description: fixed('description'),
  metadata: fixed('metadata'),
  language: fixed('language'),
  brCode: changing('br_code'),
  createdAt: fixed('created_at'),
  expiresAt: changing('expires_at'),
  paidAt: changing('paid_at'),
  paidLate: changing('paid_late'),
  canceledAt: changing('canceled_at'),
  endToEndId: changing('end_to_end_id'),
  refundedAt: changing('refunded_at'),
  refundedCents: changing('refunded_cents'),
  refundingCents: changing('refunding_cents'),
  disputedCents: changing('disputed_cents'),
  refundCount: changing('refund_count'),
  failureReason: changing('failure_reason'),
  returnedCredits: json(changing('returned_credits'), (credits: unknown[]) =>
    credits.map(returnedCreditFromJson),
  ),
} satisfies Columns<Omit<StoredPixResource, ShownElsewhere>>;

// ── Credits ─────────────────────────────────────────────────────────────────────────────────────

const creditColumns = {
  endToEndId: fixed('end_to_end_id'),
  resourceId: fixed('payment_id'),
  amountCents: fixed('amount_cents'),
  receivedAt: fixed('received_at'),
  cause: fixed('cause'),
  returnedAt: changing('returned_at'),
  failedReturns: changing('failed_returns'),
} satisfies Columns<RecordedCredit>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    pix_credit: RowsOf<RecordedCredit, typeof creditColumns>;
  }
}

const credits = table<RecordedCredit>('pix_credit', creditColumns, {
  key: 'endToEndId',
  isKey: isStorable,
  unique: ['account_id', 'environment', 'end_to_end_id'],
});

export async function selectCredits(
  sql: Sql,
  tenant: Tenant,
  endToEndIds: readonly string[],
): Promise<RecordedCredit[]> {
  const rows = await ofTenant(sql, 'pix_credit', tenant)
    .selectAll()
    .where('end_to_end_id', 'in', endToEndIds)
    .execute();
  return rows.map(credits.fromRow);
}

export const saveCredits = credits.save;

// ── Orders ──────────────────────────────────────────────────────────────────────────────────────

/** An order that a PIX has closed. `order` is its kind and its name, with a space between them. */
export interface PaidOrder {
  order: string;
  resourceId: string;
  paidAt: Date;
}

export async function selectPaidOrders(
  sql: Sql,
  tenant: Tenant,
  orders: readonly string[],
): Promise<PaidOrder[]> {
  if (orders.length === 0) return [];
  const rows = await ofTenant(sql, 'pix_paid_order', tenant)
    .selectAll()
    .where((row) =>
      row.or(
        orders
          .map(splitOrder)
          .map(({ kind, name }) => row.and([row('kind', '=', kind), row('name', '=', name)])),
      ),
    )
    .execute();
  return rows.map((row) => ({
    order: `${row.kind} ${row.name}`,
    resourceId: row.payment_id,
    paidAt: row.paid_at,
  }));
}

export async function savePaidOrders(sql: Sql, tenant: Tenant, orders: readonly PaidOrder[]): Promise<void> {
  await sql
    .insertInto('pix_paid_order')
    .values(
      orders.map(({ order, resourceId, paidAt }) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        ...splitOrder(order),
        payment_id: resourceId,
        paid_at: paidAt,
      })),
    )
    .onConflict((conflict) => conflict.columns(['account_id', 'environment', 'kind', 'name']).doNothing())
    .execute();
}

/** Splits the name of an order at its first space: a merchant's number may have more of them. */
function splitOrder(order: string): { kind: 'attempt' | 'external_id'; name: string } {
  const end = order.indexOf(' ');
  return { kind: order.slice(0, end) as 'attempt' | 'external_id', name: order.slice(end + 1) };
}
