import { sql as raw, type Selectable } from 'kysely';
import type { Sql } from '../db/database.ts';
import { boundsOfPage, countList, countListInPeriod, inPeriod, isOfPeriod, selectPage } from '../db/lists.ts';
import type { Tables } from '../db/tables.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import type { RecordedCredit } from './decisions.ts';
import {
  isPaymentId,
  type PaymentFilter,
  type PaymentRange,
  returnedCreditFromJson,
  type StoredPayment,
} from './model.ts';

// A text that is no id is not queried: it is in no row, and Postgres rejects one with U+0000.

export async function selectPayments(
  sql: Sql,
  tenant: Tenant,
  paymentIds: readonly string[],
): Promise<StoredPayment[]> {
  const possible = paymentIds.filter(isPaymentId);
  if (possible.length === 0) return [];
  const rows = await ofTenant(sql, tenant).selectAll().where('payment_id', 'in', possible).execute();
  return rows.map(toPayment);
}

/** Finds a payment of any account, for the payer's page, which knows the id alone. */
export async function selectByPaymentId(
  sql: Sql,
  paymentId: string,
): Promise<{ tenant: Tenant; merchantName: string; payment: StoredPayment } | null> {
  if (!isPaymentId(paymentId)) return null;
  const row = await sql
    .selectFrom('payment')
    .innerJoin('account', 'account.id', 'payment.account_id')
    .selectAll('payment')
    .select('account.name as merchant_name')
    .where('payment_id', '=', paymentId)
    .executeTakeFirst();
  if (!row) return null;
  return {
    tenant: { accountId: row.account_id, environment: row.environment },
    merchantName: row.merchant_name,
    payment: toPayment(row),
  };
}

/** Reads a payment and the version of the log at which it holds, in one statement and so at one moment. */
export async function selectWithHead(
  sql: Sql,
  tenant: Tenant,
  paymentId: string,
): Promise<{ version: number; payment: StoredPayment } | null> {
  if (!isPaymentId(paymentId)) return null;
  const row = await ofTenant(sql, tenant)
    .innerJoin('stream', (join) =>
      join
        .onRef('stream.account_id', '=', 'payment.account_id')
        .onRef('stream.environment', '=', 'payment.environment'),
    )
    .selectAll('payment')
    .select('stream.version as head')
    .where('payment_id', '=', paymentId)
    .executeTakeFirst();
  return row ? { version: row.head, payment: toPayment(row) } : null;
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listPayments(
  sql: Sql,
  tenant: Tenant,
  {
    end,
    limit,
    offset = 0,
    after,
    before,
    status,
    method,
    createdAfter,
    createdBefore,
  }: PaymentRange & { offset?: number },
): Promise<{ place: number; payment: StoredPayment }[]> {
  const period = { from: createdAfter, before: createdBefore };
  const rows = await selectPage<Selectable<Tables['payment']>>(sql, tenant, {
    table: 'payment',
    where: boundsOfPage(tenant, { table: 'payment', instant: 'created_at', after, before, period }),
    // The indexes have a list for each method and status.
    oneOf: status || method ? { method: method ?? ['pix'], status: status ?? PAYMENT_STATUSES } : {},
    order: isOfPeriod(period) ? ['created_at', 'number'] : ['number'],
    direction: end === 'first' ? 'desc' : 'asc',
    limit,
    offset,
  });
  const items = rows.map((row) => ({ place: row.number, payment: toPayment(row) }));
  return end === 'first' ? items : items.reverse();
}

export function countPayments(
  sql: Sql,
  tenant: Tenant,
  { status, method, createdAfter, createdBefore }: PaymentFilter,
): Promise<number> {
  const filter = { list: 'payment', kind: method, status } as const;
  const period = { from: createdAfter, before: createdBefore };
  if (!isOfPeriod(period)) return countList(sql, tenant, filter);
  return countListInPeriod(sql, tenant, filter, period, (part) => {
    const conditions = [
      ...inPeriod('created_at', part),
      ...(status ? [raw`status = any(${[...status]}::text[])`] : []),
      ...(method ? [raw`method = any(${[...method]}::text[])`] : []),
    ];
    return raw<number>`(select count(*) from payment where account_id = ${tenant.accountId}
      and environment = ${tenant.environment} and ${raw.join(conditions, raw` and `)})`;
  });
}

export async function savePayments(
  sql: Sql,
  tenant: Tenant,
  payments: readonly StoredPayment[],
): Promise<void> {
  await sql
    .insertInto('payment')
    .values(payments.map((payment) => toRow(tenant, payment)))
    .onConflict((conflict) =>
      conflict.column('payment_id').doUpdateSet((row) => ({
        version: row.ref('excluded.version'),
        status: row.ref('excluded.status'),
        br_code: row.ref('excluded.br_code'),
        // It ends earlier where a sandbox ends it.
        expires_at: row.ref('excluded.expires_at'),
        paid_at: row.ref('excluded.paid_at'),
        paid_late: row.ref('excluded.paid_late'),
        end_to_end_id: row.ref('excluded.end_to_end_id'),
        refunded_at: row.ref('excluded.refunded_at'),
        refunded_cents: row.ref('excluded.refunded_cents'),
        refunding_cents: row.ref('excluded.refunding_cents'),
        refund_count: row.ref('excluded.refund_count'),
        failure_reason: row.ref('excluded.failure_reason'),
        returned_credits: row.ref('excluded.returned_credits'),
      })),
    )
    .execute();
}

// ── Credits ─────────────────────────────────────────────────────────────────────────────────────

export async function selectCredits(
  sql: Sql,
  tenant: Tenant,
  endToEndIds: readonly string[],
): Promise<RecordedCredit[]> {
  const rows = await sql
    .selectFrom('pix_credit')
    .selectAll()
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('end_to_end_id', 'in', endToEndIds)
    .execute();
  return rows.map((row) => ({
    endToEndId: row.end_to_end_id,
    paymentId: row.payment_id,
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
        payment_id: credit.paymentId,
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

/** An order that a PIX payment has closed. `order` is its kind and its name, with a space between them. */
export interface PaidOrder {
  order: string;
  paymentId: string;
  paidAt: Date;
}

export async function selectPaidOrders(
  sql: Sql,
  tenant: Tenant,
  orders: readonly string[],
): Promise<PaidOrder[]> {
  if (orders.length === 0) return [];
  const rows = await sql
    .selectFrom('pix_paid_order')
    .selectAll()
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
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
    paymentId: row.payment_id,
    paidAt: row.paid_at,
  }));
}

export async function savePaidOrders(sql: Sql, tenant: Tenant, orders: readonly PaidOrder[]): Promise<void> {
  await sql
    .insertInto('pix_paid_order')
    .values(
      orders.map(({ order, paymentId, paidAt }) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        ...splitOrder(order),
        payment_id: paymentId,
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

// ── The last payment of a single-use token ───────────────────────────────────────────────────────

export interface CheckoutUse {
  tokenId: string;
  paymentId: string;
}

export async function selectCheckoutUses(sql: Sql, tokenIds: readonly string[]): Promise<CheckoutUse[]> {
  const rows = await sql
    .selectFrom('pix_checkout_use')
    .selectAll()
    .where('token_id', 'in', tokenIds)
    .execute();
  return rows.map((row) => ({ tokenId: row.token_id, paymentId: row.payment_id }));
}

export async function saveCheckoutUses(sql: Sql, uses: readonly CheckoutUse[]): Promise<void> {
  await sql
    .insertInto('pix_checkout_use')
    .values(uses.map(({ tokenId, paymentId }) => ({ token_id: tokenId, payment_id: paymentId })))
    .onConflict((conflict) =>
      conflict.column('token_id').doUpdateSet((row) => ({ payment_id: row.ref('excluded.payment_id') })),
    )
    .execute();
}

function ofTenant(sql: Sql, tenant: Tenant) {
  return sql
    .selectFrom('payment')
    .where('payment.account_id', '=', tenant.accountId)
    .where('payment.environment', '=', tenant.environment);
}

function toPayment(row: Selectable<Tables['payment']>): StoredPayment {
  return {
    paymentId: row.payment_id,
    version: row.version,
    status: row.status,
    method: row.method,
    amountCents: row.amount_cents,
    feeCents: row.fee_cents,
    description: row.description,
    callbackUrl: row.callback_url,
    customer: row.customer,
    metadata: row.metadata,
    externalId: row.external_id,
    productId: row.product_id,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    checkoutAttempt: row.checkout_attempt,
    brCode: row.br_code,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    paidAt: row.paid_at,
    paidLate: row.paid_late,
    endToEndId: row.end_to_end_id,
    refundedAt: row.refunded_at,
    refundedCents: row.refunded_cents,
    refundingCents: row.refunding_cents,
    refundCount: row.refund_count,
    failureReason: row.failure_reason,
    returnedCredits: row.returned_credits.map(returnedCreditFromJson) as StoredPayment['returnedCredits'],
  };
}

function toRow(tenant: Tenant, payment: StoredPayment) {
  return {
    account_id: tenant.accountId,
    environment: tenant.environment,
    payment_id: payment.paymentId,
    version: payment.version,
    status: payment.status,
    method: payment.method,
    amount_cents: payment.amountCents,
    fee_cents: payment.feeCents,
    description: payment.description,
    callback_url: payment.callbackUrl,
    customer: payment.customer === null ? raw<string>`null` : JSON.stringify(payment.customer),
    metadata: payment.metadata,
    external_id: payment.externalId,
    product_id: payment.productId,
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    checkout_attempt: payment.checkoutAttempt,
    br_code: payment.brCode,
    created_at: payment.createdAt,
    expires_at: payment.expiresAt,
    paid_at: payment.paidAt,
    paid_late: payment.paidLate,
    end_to_end_id: payment.endToEndId,
    refunded_at: payment.refundedAt,
    refunded_cents: payment.refundedCents,
    refunding_cents: payment.refundingCents,
    refund_count: payment.refundCount,
    failure_reason: payment.failureReason,
    returned_credits: JSON.stringify(payment.returnedCredits),
  };
}
