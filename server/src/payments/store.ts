import { sql as raw, type Selectable } from 'kysely';
import type { Sql } from '../db/database.ts';
import { boundsOfPage, countList, countListInPeriod, inPeriod, isOfPeriod, selectPage } from '../db/lists.ts';
import type { Tables } from '../db/tables.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { pixColumnsOf, pixMembersOf, updatedPixColumns } from '../pix/store.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import { isPaymentId, type PaymentFilter, type PaymentRange, type StoredPayment } from './model.ts';

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
): Promise<{ tenant: Tenant; merchantName: string; resource: StoredPayment } | null> {
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
    resource: toPayment(row),
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
    .onConflict((conflict) => conflict.column('payment_id').doUpdateSet(updatedPixColumns()))
    .execute();
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
    ...pixMembersOf(row),
    method: row.method,
    callbackUrl: row.callback_url,
    customer: row.customer,
    externalId: row.external_id,
    productId: row.product_id,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    checkoutAttempt: row.checkout_attempt,
  };
}

function toRow(tenant: Tenant, payment: StoredPayment) {
  return {
    payment_id: payment.paymentId,
    ...pixColumnsOf(tenant, payment),
    method: payment.method,
    callback_url: payment.callbackUrl,
    customer: payment.customer === null ? raw<string>`null` : JSON.stringify(payment.customer),
    external_id: payment.externalId,
    product_id: payment.productId,
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    checkout_attempt: payment.checkoutAttempt,
  };
}
