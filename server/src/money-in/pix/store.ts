import { type RawBuilder, sql as raw, type Selectable } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { RecordedCredit } from './credit.ts';
import { returnedCreditFromJson, type StoredPixResource } from './model.ts';

// ── The columns of everything that a PIX code pays ───────────────────────────────────────────────

/** The columns that have the same name and meaning in the table of each family. */
type PixColumns = Pick<Selectable<Tables['payment']>, (typeof COLUMNS)[number]>;

const COLUMNS = [
  ...(['version', 'status', 'amount_cents', 'fee_cents', 'description', 'metadata', 'br_code'] as const),
  ...(['created_at', 'expires_at', 'paid_at', 'paid_late', 'end_to_end_id', 'refunded_at'] as const),
  ...(['refunded_cents', 'refunding_cents', 'disputed_cents', 'refund_count'] as const),
  ...(['failure_reason', 'returned_credits', 'language', 'canceled_at'] as const),
] as const;

/** The columns that change; `expires_at` where a sandbox ends the time earlier. */
const CHANGING = [
  ...(['version', 'status', 'br_code', 'expires_at', 'paid_at', 'paid_late', 'end_to_end_id'] as const),
  ...(['refunded_at', 'refunded_cents', 'refunding_cents', 'disputed_cents', 'refund_count'] as const),
  ...(['failure_reason', 'returned_credits', 'canceled_at'] as const),
] as const;

export function pixMembersOf(row: PixColumns): StoredPixResource {
  return {
    version: row.version,
    status: row.status,
    amountCents: row.amount_cents,
    feeCents: row.fee_cents,
    description: row.description,
    metadata: row.metadata,
    language: row.language,
    brCode: row.br_code,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    paidAt: row.paid_at,
    paidLate: row.paid_late,
    canceledAt: row.canceled_at,
    endToEndId: row.end_to_end_id,
    refundedAt: row.refunded_at,
    refundedCents: row.refunded_cents,
    refundingCents: row.refunding_cents,
    disputedCents: row.disputed_cents,
    refundCount: row.refund_count,
    failureReason: row.failure_reason,
    returnedCredits: row.returned_credits.map(returnedCreditFromJson) as StoredPixResource['returnedCredits'],
  };
}

export function pixColumnsOf(tenant: Tenant, resource: StoredPixResource) {
  return {
    account_id: tenant.accountId,
    environment: tenant.environment,
    version: resource.version,
    status: resource.status,
    amount_cents: resource.amountCents,
    fee_cents: resource.feeCents,
    description: resource.description,
    metadata: resource.metadata,
    language: resource.language,
    br_code: resource.brCode,
    created_at: resource.createdAt,
    expires_at: resource.expiresAt,
    paid_at: resource.paidAt,
    paid_late: resource.paidLate,
    canceled_at: resource.canceledAt,
    end_to_end_id: resource.endToEndId,
    refunded_at: resource.refundedAt,
    refunded_cents: resource.refundedCents,
    refunding_cents: resource.refundingCents,
    disputed_cents: resource.disputedCents,
    refund_count: resource.refundCount,
    failure_reason: resource.failureReason,
    returned_credits: JSON.stringify(resource.returnedCredits),
  };
}

/** The changing columns of a row that was there, each with its new value. */
export function updatedPixColumns(): Record<(typeof CHANGING)[number], RawBuilder<never>> {
  const entries = CHANGING.map((name) => [name, raw`${raw.ref(`excluded.${name}`)}`]);
  return Object.fromEntries(entries) as Record<(typeof CHANGING)[number], RawBuilder<never>>;
}

// ── Credits ─────────────────────────────────────────────────────────────────────────────────────

export async function selectCredits(
  sql: Sql,
  tenant: Tenant,
  endToEndIds: readonly string[],
): Promise<RecordedCredit[]> {
  const rows = await ofTenant(sql, 'pix_credit', tenant)
    .selectAll()
    .where('end_to_end_id', 'in', endToEndIds)
    .execute();
  return rows.map((row) => ({
    endToEndId: row.end_to_end_id,
    resourceId: row.payment_id,
    amountCents: row.amount_cents,
    receivedAt: row.received_at,
    cause: row.cause,
    returnedAt: row.returned_at,
    failedReturns: row.failed_returns,
  }));
}

export async function saveCredits(
  sql: Sql,
  tenant: Tenant,
  credits: readonly RecordedCredit[],
): Promise<void> {
  await sql
    .insertInto('pix_credit')
    .values(
      credits.map((credit) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        end_to_end_id: credit.endToEndId,
        payment_id: credit.resourceId,
        amount_cents: credit.amountCents,
        received_at: credit.receivedAt,
        cause: credit.cause,
        returned_at: credit.returnedAt,
        failed_returns: credit.failedReturns,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'environment', 'end_to_end_id']).doUpdateSet((row) => ({
        returned_at: row.ref('excluded.returned_at'),
        failed_returns: row.ref('excluded.failed_returns'),
      })),
    )
    .execute();
}

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
