import type { Database } from '../../server/src/state/db/database.ts';
import { COUNT, seed } from '../state/db/list-rows.ts';

// An account like a shop's after two years, because pages are not tested with twenty rows alone. The rows that a
// filter selects lie behind the first pages.

/** The numbers of rows, and of the rare ones among them, which are the oldest of each list. */
export const FILLED = {
  payments: 2_400,
  cards: 600,
  charges: 120,
  payouts: 300,
  disputes: 60,
  subscriptions: 120,
  subaccounts: 30,
  payoutsOfSubaccount: 15,
  webhooks: 400,
  entries: 600,
  contents: 60,
  refundedPayments: 4,
  refundedCards: 4,
  deadWebhooks: 38,
  lostDisputes: 3,
  unpaidSubscriptions: 5,
  failedSubaccountPayouts: 2,
  emptyContents: 6,
} as const;

/** The number before the first entry of a statement. */
const FIRST_ENTRY = 1_099_511_627_775;

/** The milliseconds between two payments by PIX, and between two by card. */
const STEP_MS = { payments: 45_000, cards: 180_000 };

/**
 * Fills the first account, whose newest rows are a minute old. Returns the amount that was paid since an instant, by
 * all methods.
 */
export async function fillAccount(
  database: Database,
  now: Date,
): Promise<{ paidSince(instant: Date): Promise<number> }> {
  const { id: accountId } = await database.sql
    .selectFrom('account')
    .select('id')
    .orderBy('created_at')
    .executeTakeFirstOrThrow();
  await seed(database, SEED(accountId, now));
  await seed(database, COUNT);
  return {
    async paidSince(instant) {
      const paid = ['card_payment', 'payment', 'charge'] as const;
      const sums = await Promise.all(
        paid.map((table) =>
          database.sql
            .selectFrom(table)
            .select((row) => row.fn.sum<number>('amount_cents').as('cents'))
            .where('account_id', '=', accountId)
            .where('paid_at', '>=', instant)
            .executeTakeFirstOrThrow(),
        ),
      );
      return sums.reduce((sum, { cents }) => sum + Number(cents ?? 0), 0);
    },
  };
}

const hex = (prefix: string, digits: number, number = 'nth') =>
  `'${prefix}' || lpad(to_hex((${number})::bigint), ${digits}, '0')`;

function SEED(accountId: string, now: Date): string {
  const of = `'${accountId}', 'live'`;
  const at = (rows: number, stepMs: number) =>
    `timestamptz '${now.toISOString()}' - (${rows} - nth) * interval '${stepMs} milliseconds' - interval '1 minute'`;
  const paymentAt = at(FILLED.payments, STEP_MS.payments);
  const cardAt = at(FILLED.cards, STEP_MS.cards);
  const isRefundedCard = `(nth < ${FILLED.refundedCards} or nth = ${FILLED.cards - 20})`;
  const customer = `jsonb_build_object('name', 'Cliente ' || nth, 'email', 'cliente' || nth || '@example.com')`;
  return `
  set local session_replication_role = replica;
  insert into payment (account_id, environment, payment_id, version, status, method, amount_cents, fee_cents, description,
      customer, created_at, expires_at, paid_at, refunded_at, refunded_cents, end_to_end_id, failure_reason)
    select ${of}, ${hex('psa_', 32)}, 2, status, 'pix', 1000 + nth, 0, 'Pedido ' || nth, ${customer}, created_at,
      created_at + interval '30 minutes', case when status in ('paid', 'refunded') then created_at end,
      case when status = 'refunded' then created_at end, case when status = 'refunded' then 1000 + nth else 0 end,
      case when status in ('paid', 'refunded') then 'E' || nth end, case when status = 'failed' then 'recusado' end
    from (
      select nth, ${paymentAt} as created_at, case when nth <= ${FILLED.refundedPayments} then 'refunded'
        when nth % 9 = 0 then 'expired' when nth % 50 = 7 then 'failed' else 'paid' end as status
      from generate_series(1, ${FILLED.payments}) nth
    ) p order by nth;
  insert into card_payment (account_id, environment, order_code, version, status, amount_cents, description, customer,
      created_at, expires_at, paid_at, refunded_at, refunded_cents, released_at)
    select ${of}, 'PSC-F' || lpad(nth::text, 8, '0'), 2, status, 5000 + nth, 'Compra ' || nth, ${customer}, created_at,
      created_at + interval '30 minutes', case when status in ('paid', 'refunded') then created_at end,
      case when status = 'refunded' then created_at end, case when status = 'refunded' then 5000 + nth else 0 end,
      case when status in ('paid', 'refunded') then created_at end
    from (
      select nth, ${cardAt} as created_at, case when ${isRefundedCard} then 'refunded'
        when nth % 11 = 0 then 'expired' else 'paid' end as status
      from generate_series(1, ${FILLED.cards}) nth
    ) p order by nth;
  insert into charge (account_id, environment, charge_id, kind, version, status, amount_cents, fee_cents, description,
      created_at, expires_at, paid_at, end_to_end_id, splits)
    select ${of}, ${hex('psc_', 32)}, 'single', 2, 'paid', 2000 + nth, 0, 'Cobrança ' || nth, created_at,
      created_at + interval '30 minutes', created_at, 'C' || nth, '[]'
    from (select nth, ${at(FILLED.charges, 900_000)} as created_at from generate_series(1, ${FILLED.charges}) nth) c order by nth;
  insert into payout (account_id, environment, withdrawal_id, code, version, method, status, amount_cents, fee_cents,
      destination, requested_at, processed_at)
    select ${of}, ${hex('', 24)}, 'SAQ-F' || nth, 2, 'pix', 'completed', 10000 + nth, 100, 'ana@example.com', requested_at,
      requested_at
    from (select nth, ${at(FILLED.payouts, 360_000)} as requested_at from generate_series(1, ${FILLED.payouts}) nth) p
    order by nth;
  insert into dispute (account_id, environment, id, amount_cents, resource, resource_id, status, created_at, closed_at)
    select ${of}, ${hex('dsp_', 24)}, 1000 + nth, 'payment', ${hex('psa_', 32)},
      case when nth <= ${FILLED.lostDisputes} then 'lost' else 'won' end, created_at, created_at
    from (select nth, ${at(FILLED.disputes, 3_600_000)} as created_at from generate_series(1, ${FILLED.disputes}) nth) d
    order by nth;
  insert into pix_subscription (account_id, environment, subscription_id, version, status, amount_cents, fee_cents, every,
      description, customer, created_at, expires_at, authorised_at)
    select ${of}, ${hex('psa_sub_', 32)}, 2,
      case when nth <= ${FILLED.unpaidSubscriptions} then 'past_due' else 'active' end, 2990, 0, 'monthly',
      'Clube ' || nth, ${customer}, created_at, created_at, created_at
    from (select nth, ${at(FILLED.subscriptions, 7_200_000)} as created_at from generate_series(1, ${FILLED.subscriptions}) nth) s
    order by nth;
  insert into subaccount (account_id, environment, id, name, created_at)
    select ${of}, ${hex('sacc_', 32)}, 'Vendedor ' || nth, ${at(FILLED.subaccounts, 7_200_000)}
    from generate_series(1, ${FILLED.subaccounts}) nth order by nth;
  insert into subaccount_payout (account_id, environment, id, subaccount_id, version, payout_id, status, under_verification,
      withdrawal_id, turbo_code, amount_cents, fee_cents, agreed_fee_cents, pix_key, created_at, completed_at,
      failure_reason)
    select ${of}, ${hex('sqp_', 32)}, ${hex('sacc_', 32, `(nth - 1) / ${FILLED.payoutsOfSubaccount} + 1`)}, 2,
      ${hex('saq_', 32)}, status, false, ${hex('', 24)}, 'TURBO-F' || nth, 3000 + nth, 100, 100, 'ana@example.com',
      created_at, case when status = 'completed' then created_at end, case when status = 'failed' then 'chave inválida' end
    from (
      select nth, ${at(FILLED.subaccounts * FILLED.payoutsOfSubaccount, 3_600_000)} as created_at,
        case when nth <= ${FILLED.failedSubaccountPayouts} then 'failed' else 'completed' end as status
      from generate_series(1, ${FILLED.subaccounts * FILLED.payoutsOfSubaccount}) nth
    ) p order by nth;
  insert into webhook_delivery (webhook_id, account_id, environment, event_version, event, resource, resource_id, url, body,
      status, created_at)
    select 'whd_f' || nth, ${of}, nth, 'payment.paid', 'payment', ${hex('psa_', 32)}, 'https://loja.example/webhooks', '{}',
      case when nth <= ${FILLED.deadWebhooks} then 'exhausted' else 'delivered' end, ${at(FILLED.webhooks, 60_000)}
    from generate_series(1, ${FILLED.webhooks}) nth order by nth;
  insert into product (account_id, environment, id, name, price_cents, created_at)
    select ${of}, ${hex('', 24)}, 'Curso ' || nth, 4990, ${at(FILLED.contents, 3_600_000)}
    from generate_series(1, ${FILLED.contents}) nth order by nth;
  insert into delivery (account_id, environment, delivery_id, product_id, kind, remaining_count, created_at)
    select ${of}, ${hex('', 24)}, ${hex('', 24)}, 'codes', case when nth <= ${FILLED.emptyContents} then 0 else 7 end,
      ${at(FILLED.contents, 3_600_000)}
    from generate_series(1, ${FILLED.contents}) nth order by nth;
  insert into ledger_transaction (account_id, environment, number, entries, is_entry, transaction_id, kind, ref, resource,
      resource_id, fee_cents, occurred_at, balance_delta, subaccounts_delta, pending_delta, dispute_hold_delta, ltc_delta,
      receivable_delta, balance, subaccounts, pending, dispute_hold, ltc, receivable)
    select ${of}, ${FIRST_ENTRY} + nth, ${FIRST_ENTRY} + nth, true, 'filled:' || nth, kind, ref, resource, ref, fee_cents,
      ${at(FILLED.entries, 900_000)}, balance, 0, pending, 0, 0, 0, sum(balance) over (order by nth), 0,
      sum(pending) over (order by nth), 0, 0, 0
    from (
      select nth, kind, resource, ref || lpad((nth / 4)::text, 8, '0') as ref, fee_cents,
        balance * (5000 + nth / 4) as balance, pending * (5000 + nth / 4) as pending
      from generate_series(1, ${FILLED.entries}) nth
      join (values (1, 'card_payment', 'card_payment', 'PSC-F', 0, 0, 1), (2, 'card_release', 'card_payment', 'PSC-F', 0, 1, -1),
        (3, 'payment', 'payment', 'psa_', 0, 2, 0), (0, 'payout', 'payout', 'SAQ-F', 100, -1, 0))
        step (place, kind, resource, ref, fee_cents, balance, pending) on place = nth % 4
    ) e order by nth;
  insert into ledger_account (account_id, environment, name, balance)
    select ${of}, name, sign * sum(balance_delta) from ledger_transaction, (values ('merchant_balance', 1), ('received', -1)) a (name, sign)
    where account_id = '${accountId}' group by name, sign;
  update stream set version = greatest(version, ${FILLED.webhooks}) where account_id = '${accountId}' and environment = 'live';
  delete from list_count;
  delete from list_amount;`;
}
