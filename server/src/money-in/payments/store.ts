import { sql as raw } from 'kysely';
import type { Sql } from '../../state/db/database.ts';
import {
  isOfWanted,
  type TenantKey,
  type TenantRecord,
  tenantOf,
  wantedKeys,
} from '../../state/db/each-tenant.ts';
import {
  type Columns,
  changing,
  fixed,
  group,
  json,
  type Listed,
  type RowsOf,
  table,
} from '../../state/db/table.ts';
import type { TenantTable } from '../../state/db/tenant-table.ts';
import type { UnmatchedLtc } from '../ltc/model.ts';
import type { ShownElsewhere } from '../pix/model.ts';
import { PIX_COLUMNS } from '../pix/store.ts';
import { pixTable } from '../pix/table-store.ts';
import { PAYMENT_METHODS } from './methods.ts';
import { isPaymentId, type PaymentFilter, paymentConditions, type StoredPayment } from './model.ts';

const columns = {
  paymentId: fixed('payment_id'),
  ...PIX_COLUMNS,
  method: fixed('method'),
  ltc: group('litoshi', {
    address: changing('ltc_address'),
    litoshi: fixed('ltc_litoshi'),
    receivedLitoshi: changing('ltc_received_litoshi'),
    confirmations: changing('ltc_confirmations'),
    requiredConfirmations: fixed('ltc_required_confirmations'),
    revision: changing('ltc_revision'),
  }),
  callbackUrl: fixed('callback_url'),
  customer: json(fixed('customer')),
  externalId: fixed('external_id'),
  productId: fixed('product_id'),
  subscriptionId: fixed('subscription_id'),
  returned: changing('returned'),
  keptPayment: changing('kept_payment'),
  successUrl: fixed('success_url'),
  cancelUrl: fixed('cancel_url'),
  checkoutAttempt: fixed('checkout_attempt'),
  orderStatus: changing('order_status'),
} satisfies Columns<Omit<StoredPayment, ShownElsewhere>>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    payment: RowsOf<StoredPayment, typeof columns> & Listed;
  }
}

export const paymentTable = pixTable<StoredPayment, PaymentFilter>({
  table: table<StoredPayment, ShownElsewhere>('payment', columns, {
    key: 'paymentId',
    isKey: isPaymentId,
  }),
  conditions: paymentConditions,
  kind: 'method',
  kinds: PAYMENT_METHODS,
});

// ── The last payment of a single-use token ───────────────────────────────────────────────────────

export interface CheckoutUse {
  tokenId: string;
  paymentId: string;
}

export async function selectCheckoutUses(
  sql: Sql,
  tokens: readonly TenantKey[],
): Promise<TenantRecord<CheckoutUse>[]> {
  // The token says whose use it is.
  const { rows } = await raw<TenantTable & { token_id: string; payment_id: string }>`
    select token.account_id, token.environment, used.token_id, used.payment_id from ${wantedKeys(tokens)}
    join token on ${isOfWanted('token')} and token.id = wanted.key
    join pix_checkout_use used on used.token_id = token.id`.execute(sql);
  return rows.map((row) => ({
    tenant: tenantOf(row),
    record: { tokenId: row.token_id, paymentId: row.payment_id },
  }));
}

export async function saveCheckoutUses(sql: Sql, uses: readonly TenantRecord<CheckoutUse>[]): Promise<void> {
  await sql
    .insertInto('pix_checkout_use')
    .values(uses.map(({ record }) => ({ token_id: record.tokenId, payment_id: record.paymentId })))
    .onConflict((conflict) =>
      conflict.column('token_id').doUpdateSet((row) => ({ payment_id: row.ref('excluded.payment_id') })),
    )
    .execute();
}

// ── LTC that waits for the operator ──────────────────────────────────────────────────────────────

/**
 * Pages by the instant at which the first output of a payment was seen, which later outputs and credits do
 * not change. No index has it: each page scans the outputs, for the operator's command only. Null if `after`
 * has received no LTC.
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
    // LTC that the operator has credited is a part of the amount.
    const isWhole = receivedLitoshi >= row.askedLitoshi;
    // An earlier version left the status of expired payments unchanged. If all of the amount was received,
    // LTC is unmatched only because the order was paid.
    const isPaidElsewhere = row.status === 'failed' ? failureReason === 'paid_elsewhere' : isWhole;
    if (isPaidElsewhere) return { ...row, reason: 'paid_elsewhere' };
    return { ...row, reason: isWhole ? 'late' : 'underpaid' };
  });
}

/** The instant by which the list orders a payment; null if it has received no LTC. */
async function selectFirstSeen(sql: Sql, paymentId: string): Promise<Date | null> {
  const { rows } = await raw<{ seenAt: Date | null }>`
    select min(o.seen_at) as "seenAt"
    from payment p join ltc_output o using (account_id, environment, payment_id)
    where p.payment_id = ${paymentId}
  `.execute(sql);
  return rows[0]?.seenAt ?? null;
}
