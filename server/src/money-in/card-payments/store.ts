import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import type { Sql } from '../../state/db/database.ts';
import {
  isOfWanted,
  numberedKeys,
  type TenantKey,
  type TenantRecord,
  tenantOf,
  wantedKeys,
} from '../../state/db/each-tenant.ts';
import { countFiltered, listConditions, selectFiltered } from '../../state/db/filtered-lists.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import {
  type Columns,
  changing,
  fixed,
  json,
  type Listed,
  type RowsOf,
  table,
} from '../../state/db/table.ts';
import type { TenantTable } from '../../state/db/tenant-table.ts';
import { selectTotals } from '../../state/db/totals.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import { cardPaymentConditions } from './filter.ts';
import {
  type CardPaymentFilter,
  type CardPaymentRange,
  isOrderCode,
  type StoredCardPayment,
} from './model.ts';

/** The members that only another service's payments have. */
type ShownElsewhere =
  | ('lastStatus' | 'otherPaidCents' | 'feeCents' | 'checkoutUrl' | 'expiryDerived')
  | ('unresolved' | 'claimedAt');

const columns = {
  orderCode: fixed('order_code'),
  version: changing('version'),
  status: changing('status'),
  amountCents: fixed('amount_cents'),
  description: fixed('description'),
  callbackUrl: fixed('callback_url'),
  customer: json(fixed('customer')),
  metadata: fixed('metadata'),
  externalId: fixed('external_id'),
  productId: fixed('product_id'),
  successUrl: fixed('success_url'),
  cancelUrl: fixed('cancel_url'),
  language: fixed('language'),
  checkoutAttempt: fixed('checkout_attempt'),
  openChargeId: changing('open_charge_id'),
  paidChargeId: changing('paid_charge_id'),
  declinedCharges: changing('declined_charges'),
  createdAt: fixed('created_at'),
  expiresAt: fixed('expires_at'),
  paidAt: changing('paid_at'),
  paidLate: changing('paid_late'),
  releasedAt: changing('released_at'),
  refundedAt: changing('refunded_at'),
  canceledAt: changing('canceled_at'),
  refundedCents: changing('refunded_cents'),
  refundingCents: changing('refunding_cents'),
  disputedCents: changing('disputed_cents'),
  refundCount: changing('refund_count'),
  failureReason: changing('failure_reason'),
  returned: changing('returned'),
  keptPayment: changing('kept_payment'),
  declineReason: changing('decline_reason'),
  orderStatus: changing('order_status'),
} satisfies Columns<Omit<StoredCardPayment, ShownElsewhere>>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    card_payment: RowsOf<StoredCardPayment, typeof columns> & Listed;
  }
}

export const cardPaymentTable = table<StoredCardPayment, ShownElsewhere>('card_payment', columns, {
  key: 'orderCode',
  isKey: isOrderCode,
  // An earlier version refunded whole payments, and has no column for the amount.
  complete: (payment) =>
    payment.status === 'refunded' && payment.refundingCents === 0
      ? { ...payment, refundedCents: payment.amountCents }
      : payment,
});

/** Lists the payments of each checkout attempt that were paid, or have an open charge. */
export function selectByAttempts(sql: Sql, attempts: readonly TenantKey[]): Promise<string[][]> {
  return selectOfOrders(sql, 'checkout_attempt', attempts);
}

/** Lists the payments of each order of a merchant's that were paid, or have an open charge. */
export function selectByExternalIds(sql: Sql, externalIds: readonly TenantKey[]): Promise<string[][]> {
  return selectOfOrders(sql, 'external_id', externalIds);
}

async function selectOfOrders(
  sql: Sql,
  column: 'checkout_attempt' | 'external_id',
  names: readonly TenantKey[],
): Promise<string[][]> {
  const { rows } = await raw<{ nth: number; order_code: string }>`
    select wanted.nth, card_payment.order_code
    from ${numberedKeys(names)}
    join card_payment on ${isOfWanted('card_payment')} and ${raw.ref(`card_payment.${column}`)} = wanted.key
      and (card_payment.paid_at is not null or card_payment.open_charge_id is not null)`.execute(sql);
  const found = names.map((): string[] => []);
  for (const { nth, order_code } of rows) found[nth - 1]!.push(order_code);
  return found;
}

/**
 * Selects the payments that can be paid by the end of a transaction: no transaction both opens and approves a
 * charge. So an order with thousands of payments loads one or two. The indexes of an order's payments contain
 * no others.
 */
function paidOrCharging(sql: Sql, tenant: Tenant) {
  return ofTenant(sql, 'card_payment', tenant).where((row) =>
    row.or([row('paid_at', 'is not', null), row('open_charge_id', 'is not', null)]),
  );
}

/** Selects the payment that closes the checkout attempt, and the payment that closes the order, by the rule of `closesOrder`. */
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
      // The payment that the order keeps comes before those that were returned.
      .orderBy(raw`status = 'refunded'`)
      .limit(1);
  const found = await Promise.all([
    checkoutAttempt !== null && paid().where('checkout_attempt', '=', checkoutAttempt).execute(),
    externalId !== null && paid().where('external_id', '=', externalId).execute(),
  ]);
  return found.flatMap((rows) => (rows ? rows.map(cardPaymentTable.fromRow) : []));
}

/** Lists the first or the last `limit` of the range, newest first. */
export async function listCardPayments(
  sql: Sql,
  tenant: Tenant,
  { end, limit, offset, after, before, ...filter }: CardPaymentRange & { offset?: number },
): Promise<{ position: number; resource: StoredCardPayment }[]> {
  const rows = await selectFiltered<{ number: number }>(
    sql,
    tenant,
    'card_payment',
    conditionsOfCardPayments(filter),
    {
      end,
      limit,
      offset,
      after,
      before,
    },
  );
  return rows.map((row) => ({ position: row.number, resource: cardPaymentTable.fromRow(row) }));
}

export function countCardPayments(sql: Sql, tenant: Tenant, filter: CardPaymentFilter): Promise<number> {
  const { status } = filter;
  return countFiltered(sql, tenant, 'card_payment', conditionsOfCardPayments(filter), { status });
}

export function totalsOfCardPayments(
  sql: Sql,
  tenant: Tenant,
  filter: CardPaymentFilter,
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  return selectTotals(sql, tenant, 'card_payment', conditionsOfCardPayments(filter), groupBy);
}

export const conditionsOfCardPayments = listConditions(cardPaymentConditions, {
  columns: cardPaymentTable.columns,
  lists: { status: PAYMENT_STATUSES },
});

// ── The last payment of a single-use token ───────────────────────────────────────────────────────

export interface CheckoutUse {
  tokenId: string;
  orderCode: string;
}

export async function selectCheckoutUses(
  sql: Sql,
  tokens: readonly TenantKey[],
): Promise<TenantRecord<CheckoutUse>[]> {
  // The token says whose use it is.
  const { rows } = await raw<TenantTable & { token_id: string; order_code: string }>`
    select token.account_id, token.environment, used.token_id, used.order_code from ${wantedKeys(tokens)}
    join token on ${isOfWanted('token')} and token.id = wanted.key
    join checkout_use used on used.token_id = token.id`.execute(sql);
  return rows.map((row) => ({
    tenant: tenantOf(row),
    record: { tokenId: row.token_id, orderCode: row.order_code },
  }));
}

export async function saveCheckoutUses(sql: Sql, uses: readonly TenantRecord<CheckoutUse>[]): Promise<void> {
  await sql
    .insertInto('checkout_use')
    .values(uses.map(({ record }) => ({ token_id: record.tokenId, order_code: record.orderCode })))
    .onConflict((conflict) =>
      conflict.column('token_id').doUpdateSet((row) => ({ order_code: row.ref('excluded.order_code') })),
    )
    .execute();
}
