import { sql as raw, type Selectable } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { StoredLtcRequest, UnmatchedLtc } from '../ltc/model.ts';
import { pixColumnsOf, pixMembersOf } from '../pix/store.ts';
import { pixTable } from '../pix/table-store.ts';
import { PAYMENT_METHODS, type PaymentMethod } from './methods.ts';
import { isPaymentId, type StoredPayment } from './model.ts';

export const paymentTable = pixTable<StoredPayment, Selectable<Tables['payment']>, PaymentMethod>({
  table: 'payment',
  id: 'payment_id',
  isId: isPaymentId,
  kind: 'method',
  kinds: PAYMENT_METHODS,
  toResource: toPayment,
  toRow,
  changing: [
    ...['ltc_address', 'ltc_received_litoshi', 'ltc_confirmations', 'ltc_revision'],
    ...['returned', 'kept_payment', 'order_status'],
  ],
});

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

// ── LTC that waits for the operator ──────────────────────────────────────────────────────────────

/**
 * Pages by the instant at which the first output of a payment came, which no later one and no credit changes. No index has it: each
 * page scans the outputs; only the operator's command does this. Null where no LTC has come for `after`.
 */
export async function selectUnmatchedLtc(
  sql: Sql,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<UnmatchedLtc[] | null> {
  const seenAt = after === undefined ? undefined : await selectFirstSeen(sql, after);
  if (seenAt === null) return null;
  const behind = seenAt ? raw`and (min(o.seen_at), p.payment_id) > (${seenAt}, ${after})` : raw``;
  const { rows } = await raw<
    Omit<UnmatchedLtc, 'reason'> & { failureReason: string | null; receivedLitoshi: number }
  >`
    select p.payment_id as "paymentId", p.account_id as "accountId", p.status,
      p.failure_reason as "failureReason", p.amount_cents as "amountCents", p.ltc_litoshi as "askedLitoshi",
      sum(o.litoshi) filter (where o.state = 'unmatched')::bigint as litoshi,
      sum(o.litoshi) filter (where o.state in ('unmatched', 'credited'))::bigint as "receivedLitoshi",
      min(o.seen_at) filter (where o.state = 'unmatched') as "seenAt"
    from ltc_output o join payment p using (payment_id)
    where p.status in ('failed', 'expired')
    group by p.payment_id
    having bool_or(o.state = 'unmatched') ${behind}
    order by min(o.seen_at), p.payment_id
    limit ${limit}
  `.execute(sql);
  return rows.map(({ failureReason, receivedLitoshi, ...row }) => {
    // What the operator has credited is a part of the amount.
    const isWhole = receivedLitoshi >= row.askedLitoshi;
    // An earlier version kept the status of what had expired, whatever came later. Where all of its amount has come, LTC are unmatched only if its order was paid.
    const isPaidElsewhere = row.status === 'failed' ? failureReason === 'paid_elsewhere' : isWhole;
    if (isPaidElsewhere) return { ...row, reason: 'paid_elsewhere' };
    return { ...row, reason: isWhole ? 'late' : 'underpaid' };
  });
}

/** The instant by which the list orders a payment; null where no LTC has come for it. */
async function selectFirstSeen(sql: Sql, paymentId: string): Promise<Date | null> {
  const { rows } = await raw<{ seenAt: Date | null }>`
    select min(o.seen_at) as "seenAt"
    from payment p join ltc_output o using (account_id, environment, payment_id)
    where p.payment_id = ${paymentId}
  `.execute(sql);
  return rows[0]?.seenAt ?? null;
}

function toPayment(row: Selectable<Tables['payment']>): StoredPayment {
  return {
    paymentId: row.payment_id,
    ...pixMembersOf(row),
    method: row.method,
    ltc: toLtcRequest(row),
    callbackUrl: row.callback_url,
    customer: row.customer,
    externalId: row.external_id,
    productId: row.product_id,
    subscriptionId: row.subscription_id,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    returned: row.returned,
    keptPayment: row.kept_payment,
    checkoutAttempt: row.checkout_attempt,
    orderStatus: row.order_status,
  };
}

function toLtcRequest(row: Selectable<Tables['payment']>): StoredLtcRequest | null {
  if (row.ltc_litoshi === null) return null;
  return {
    address: row.ltc_address,
    litoshi: row.ltc_litoshi,
    receivedLitoshi: row.ltc_received_litoshi!,
    confirmations: row.ltc_confirmations!,
    requiredConfirmations: row.ltc_required_confirmations!,
    revision: row.ltc_revision!,
  };
}

function toRow(tenant: Tenant, payment: StoredPayment) {
  return {
    payment_id: payment.paymentId,
    ...pixColumnsOf(tenant, payment),
    method: payment.method,
    ltc_address: payment.ltc?.address ?? null,
    ltc_litoshi: payment.ltc?.litoshi ?? null,
    ltc_received_litoshi: payment.ltc?.receivedLitoshi ?? null,
    ltc_confirmations: payment.ltc?.confirmations ?? null,
    ltc_required_confirmations: payment.ltc?.requiredConfirmations ?? null,
    ltc_revision: payment.ltc?.revision ?? null,
    callback_url: payment.callbackUrl,
    customer: payment.customer === null ? raw<string>`null` : JSON.stringify(payment.customer),
    external_id: payment.externalId,
    product_id: payment.productId,
    subscription_id: payment.subscriptionId ?? null,
    returned: payment.returned,
    kept_payment: payment.keptPayment,
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    checkout_attempt: payment.checkoutAttempt,
    order_status: payment.orderStatus,
  };
}
