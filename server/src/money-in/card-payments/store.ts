import { sql as raw, type Selectable } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { headOf } from '../../state/db/head.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
import { selectTotals } from '../../state/db/totals.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import { cardPaymentConditions } from './filter.ts';
import {
  type CardPaymentFilter,
  type CardPaymentRange,
  isOrderCode,
  type StoredCardPayment,
} from './model.ts';

// A text that is no order code is not queried: it is in no row, and Postgres rejects one with U+0000.

export async function selectCardPayments(
  sql: Sql,
  tenant: Tenant,
  orderCodes: readonly string[],
): Promise<StoredCardPayment[]> {
  const possible = orderCodes.filter(isOrderCode);
  if (possible.length === 0) return [];
  const rows = await ofTenant(sql, 'card_payment', tenant)
    .selectAll()
    .where('order_code', 'in', possible)
    .execute();
  return rows.map(toCardPayment);
}

/** Finds a payment of any account, for the payer's page, which knows the order code alone. */
export async function selectByOrderCode(
  sql: Sql,
  orderCode: string,
): Promise<{ tenant: Tenant; merchantName: string; payment: StoredCardPayment } | null> {
  if (!isOrderCode(orderCode)) return null;
  const row = await sql
    .selectFrom('card_payment')
    .innerJoin('account', 'account.id', 'card_payment.account_id')
    .selectAll('card_payment')
    .select('account.name as merchant_name')
    .where('order_code', '=', orderCode)
    .executeTakeFirst();
  if (!row) return null;
  return {
    tenant: { accountId: row.account_id, environment: row.environment },
    merchantName: row.merchant_name,
    payment: toCardPayment(row),
  };
}

/** Reads a payment and the version of the log at which it holds, in one statement and so at one moment. */
export async function selectWithHead(
  sql: Sql,
  tenant: Tenant,
  orderCode: string,
): Promise<{ version: number; resource: StoredCardPayment } | null> {
  if (!isOrderCode(orderCode)) return null;
  const row = await ofTenant(sql, 'card_payment', tenant)
    .selectAll('card_payment')
    .select(headOf(tenant).as('head'))
    .where('order_code', '=', orderCode)
    .executeTakeFirst();
  return row ? { version: row.head, resource: toCardPayment(row) } : null;
}

/** Lists the payments of each checkout attempt that were paid, or have an open charge. */
export async function selectByAttempts(
  sql: Sql,
  tenant: Tenant,
  attempts: readonly string[],
): Promise<{ attempt: string; orderCode: string }[]> {
  const rows = await paidOrCharging(sql, tenant)
    .select(['checkout_attempt', 'order_code'])
    .where('checkout_attempt', 'in', attempts)
    .execute();
  return rows.map((row) => ({ attempt: row.checkout_attempt!, orderCode: row.order_code }));
}

/** Lists the payments of each order of the merchant's that were paid, or have an open charge. */
export async function selectByExternalIds(
  sql: Sql,
  tenant: Tenant,
  externalIds: readonly string[],
): Promise<{ externalId: string; orderCode: string }[]> {
  const rows = await paidOrCharging(sql, tenant)
    .select(['external_id', 'order_code'])
    .where('external_id', 'in', externalIds)
    .execute();
  return rows.map((row) => ({ externalId: row.external_id!, orderCode: row.order_code }));
}

/**
 * Selects the payments that can be paid by the end of a transaction: a charge is never opened and approved in the same
 * one. So an order with thousands of payments loads one or two. The indexes of an order's payments hold no others.
 */
function paidOrCharging(sql: Sql, tenant: Tenant) {
  return ofTenant(sql, 'card_payment', tenant).where((row) =>
    row.or([row('paid_at', 'is not', null), row('open_charge_id', 'is not', null)]),
  );
}

/** Selects a payment of the same checkout attempt and one of the same order that closes it: the rule of `closesOrder`. */
export async function selectPaidOfOrder(
  sql: Sql,
  tenant: Tenant,
  { checkoutAttempt, externalId }: { checkoutAttempt: string | null; externalId: string | null },
): Promise<StoredCardPayment[]> {
  const paid = () =>
    paidOrCharging(sql, tenant)
      .selectAll()
      .where('paid_at', 'is not', null)
      .where((row) => row.or([row('canceled_at', 'is', null), row('status', '!=', 'refunded')]))
      // The one that is kept comes before those that were returned.
      .orderBy(raw`status = 'refunded'`)
      .limit(1);
  const found = await Promise.all([
    checkoutAttempt !== null && paid().where('checkout_attempt', '=', checkoutAttempt).execute(),
    externalId !== null && paid().where('external_id', '=', externalId).execute(),
  ]);
  return found.flatMap((rows) => (rows ? rows.map(toCardPayment) : []));
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listCardPayments(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: CardPaymentRange & { offset?: number },
): Promise<{ place: number; resource: StoredCardPayment }[]> {
  const rows = await selectFiltered<Selectable<Tables['card_payment']>>(
    sql,
    tenant,
    'card_payment',
    conditionsOf(filter),
    { end, limit, offset, after, before },
  );
  return rows.map((row) => ({ place: row.number, resource: toCardPayment(row) }));
}

export function countCardPayments(sql: Sql, tenant: Tenant, filter: CardPaymentFilter): Promise<number> {
  const { status } = filter;
  return countFiltered(sql, tenant, 'card_payment', conditionsOf(filter), { status });
}

export function totalsOfCardPayments(
  sql: Sql,
  tenant: Tenant,
  filter: CardPaymentFilter,
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  return selectTotals(sql, tenant, 'card_payment', conditionsOf(filter), groupBy);
}

/** The columns of the members that the filter compares. */
const COLUMNS = {
  ...{ status: 'status', createdAt: 'created_at', paidAt: 'paid_at', refundedAt: 'refunded_at' },
  ...{
    releasedAt: 'released_at',
    externalId: 'external_id',
    orderCode: 'order_code',
    amountCents: 'amount_cents',
  },
  customer: 'customer',
};

const conditionsOf = (filter: CardPaymentFilter) =>
  listConditions(cardPaymentConditions, filter, {
    columns: COLUMNS,
    lists: { status: PAYMENT_STATUSES },
  });

export async function saveCardPayments(
  sql: Sql,
  tenant: Tenant,
  payments: readonly StoredCardPayment[],
): Promise<void> {
  await sql
    .insertInto('card_payment')
    .values(payments.map((payment) => toRow(tenant, payment)))
    .onConflict((conflict) =>
      conflict.column('order_code').doUpdateSet((row) => ({
        version: row.ref('excluded.version'),
        status: row.ref('excluded.status'),
        open_charge_id: row.ref('excluded.open_charge_id'),
        paid_charge_id: row.ref('excluded.paid_charge_id'),
        declined_charges: row.ref('excluded.declined_charges'),
        paid_at: row.ref('excluded.paid_at'),
        paid_late: row.ref('excluded.paid_late'),
        released_at: row.ref('excluded.released_at'),
        refunded_at: row.ref('excluded.refunded_at'),
        canceled_at: row.ref('excluded.canceled_at'),
        refunded_cents: row.ref('excluded.refunded_cents'),
        refunding_cents: row.ref('excluded.refunding_cents'),
        disputed_cents: row.ref('excluded.disputed_cents'),
        refund_count: row.ref('excluded.refund_count'),
        failure_reason: row.ref('excluded.failure_reason'),
        returned: row.ref('excluded.returned'),
        kept_payment: row.ref('excluded.kept_payment'),
        decline_reason: row.ref('excluded.decline_reason'),
        order_status: row.ref('excluded.order_status'),
      })),
    )
    .execute();
}

// ── The last payment of a single-use token ───────────────────────────────────────────────────────

export interface CheckoutUse {
  tokenId: string;
  orderCode: string;
}

export async function selectCheckoutUses(sql: Sql, tokenIds: readonly string[]): Promise<CheckoutUse[]> {
  const rows = await sql.selectFrom('checkout_use').selectAll().where('token_id', 'in', tokenIds).execute();
  return rows.map((row) => ({ tokenId: row.token_id, orderCode: row.order_code }));
}

export async function saveCheckoutUses(sql: Sql, uses: readonly CheckoutUse[]): Promise<void> {
  await sql
    .insertInto('checkout_use')
    .values(uses.map(({ tokenId, orderCode }) => ({ token_id: tokenId, order_code: orderCode })))
    .onConflict((conflict) =>
      conflict.column('token_id').doUpdateSet((row) => ({ order_code: row.ref('excluded.order_code') })),
    )
    .execute();
}

function toCardPayment(row: Selectable<Tables['card_payment']>): StoredCardPayment {
  return {
    orderCode: row.order_code,
    version: row.version,
    status: row.status,
    amountCents: row.amount_cents,
    description: row.description,
    callbackUrl: row.callback_url,
    customer: row.customer,
    metadata: row.metadata,
    externalId: row.external_id,
    productId: row.product_id,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    language: row.language,
    checkoutAttempt: row.checkout_attempt,
    openChargeId: row.open_charge_id,
    paidChargeId: row.paid_charge_id,
    declinedCharges: row.declined_charges,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    paidAt: row.paid_at,
    paidLate: row.paid_late,
    releasedAt: row.released_at,
    refundedAt: row.refunded_at,
    canceledAt: row.canceled_at,
    // The version before has refunded whole payments, and has no column that says so.
    refundedCents:
      row.status === 'refunded' && row.refunding_cents === 0 ? row.amount_cents : row.refunded_cents,
    refundingCents: row.refunding_cents,
    disputedCents: row.disputed_cents,
    refundCount: row.refund_count,
    failureReason: row.failure_reason,
    returned: row.returned,
    keptPayment: row.kept_payment,
    declineReason: row.decline_reason,
    orderStatus: row.order_status,
  };
}

function toRow(tenant: Tenant, payment: StoredCardPayment) {
  return {
    account_id: tenant.accountId,
    environment: tenant.environment,
    order_code: payment.orderCode,
    version: payment.version,
    status: payment.status,
    amount_cents: payment.amountCents,
    description: payment.description,
    callback_url: payment.callbackUrl,
    customer: payment.customer === null ? raw<string>`null` : JSON.stringify(payment.customer),
    metadata: payment.metadata,
    external_id: payment.externalId,
    product_id: payment.productId,
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    language: payment.language,
    checkout_attempt: payment.checkoutAttempt,
    open_charge_id: payment.openChargeId,
    paid_charge_id: payment.paidChargeId,
    declined_charges: payment.declinedCharges,
    created_at: payment.createdAt,
    expires_at: payment.expiresAt,
    paid_at: payment.paidAt,
    paid_late: payment.paidLate,
    released_at: payment.releasedAt,
    refunded_at: payment.refundedAt,
    canceled_at: payment.canceledAt,
    refunded_cents: payment.refundedCents,
    refunding_cents: payment.refundingCents,
    disputed_cents: payment.disputedCents,
    refund_count: payment.refundCount,
    failure_reason: payment.failureReason,
    returned: payment.returned,
    kept_payment: payment.keptPayment,
    decline_reason: payment.declineReason ?? null,
    order_status: payment.orderStatus,
  };
}
