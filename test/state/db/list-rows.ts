import { CompiledQuery } from 'kysely';
import { MAX_STORE_PRODUCTS } from '../../../server/src/catalogue/store/model.ts';
import { AMOUNTS_OF_LISTS, TOTALS } from '../../../server/src/programs/verify/laws/totals.ts';
import type { Database } from '../../../server/src/state/db/database.ts';

// Rows of accounts in every list.

export const ROWS = 3_000;
export const RARE = 90;
export const SUBACCOUNT = `sacc_${'0'.repeat(32)}`;
export const SUBSCRIPTION = `psa_sub_${'0'.repeat(31)}1`;
/** The amount of one old row of each list, and the amount of all others. */
export const [RARE_CENTS, COMMON_CENTS] = [777, 1_000];
/** The order of all rows that are not rare, and its payer; the payer of one old row. */
export const ORDER = 'pedido-de-todos';
export const PAYER = {
  rare: { email: 'bia@example.com', externalId: 'bia' },
  common: { email: 'ana@example.com', externalId: 'ana' },
};
/** The instant of the nth row of an account's lists. */
export const ROW_AT = (nth: number) => new Date(Date.UTC(2026, 0, 1) + nth * 60_000);
/** The most rows of the bounded lists: the store, and the deliveries of all products. */
export const MOST = MAX_STORE_PRODUCTS;

/** The subaccount that owns an account's statement and payouts. */
const SUBACCOUNT_OF_EACH = `'sacc_' || lpad(to_hex(first), 32, '0')`;
/**
 * The `rare` rows after the middle are refunded or reversed, so that lists by that date have rows and a row from
 * which to page.
 */
const IS_RETURNED = '(nth > rows / 2 and nth <= rows / 2 + rare)';
export const placeOfReturned = (middle: number) => middle + RARE / 2;
const RETURNED_AT = `timestamptz '2026-01-01' + (nth - rows / 2) * interval '1 minute'`;

/**
 * The rows of one account in each list: the first `rare` differ, and all others are alike. Its ids begin after
 * `first`.
 */
export interface Seeded {
  accountId: string;
  rows: number;
  rare: number;
  first: number;
}

/**
 * Other accounts with a few rows each, as most have. From their average PostgreSQL expects short lists, and may sort
 * the whole of a long one. One of them has a hundred rows.
 */
export const CROWD: readonly Seeded[] = Array.from({ length: 120 }, (_, index) => ({
  accountId: `acc_${'0'.repeat(20)}${index.toString(16).padStart(4, '0')}`,
  rows: index === 0 ? 100 : 12,
  rare: 2,
  first: 10_000_000 + index * 1_000,
}));

export const ROWS_OF_CROWD = CROWD.reduce((sum, { rows }) => sum + rows, 0);

const AT = `timestamptz '2026-01-01' + nth * interval '1 minute'`;
const AMOUNT = `case when nth = 7 then ${RARE_CENTS} else ${COMMON_CENTS} end`;
const EXTERNAL_ID = `case when nth < rare then 'pedido-' || nth else '${ORDER}' end`;
const CUSTOMER = `case nth when 7 then '${JSON.stringify(PAYER.rare)}' else '${JSON.stringify(PAYER.common)}' end::jsonb`;

/** The accounts' rows, from which each list takes what it shows. */
const SEEDED = (accounts: readonly Seeded[]) => `
  set local session_replication_role = replica;
  create temporary table seeded on commit drop as
    select account_id, first, rows, rare, nth, first + nth as place
    from (values ${accounts.map(({ accountId, rows, rare, first }) => `('${accountId}', ${rows}, ${rare}, ${first})`).join()})
      account (account_id, rows, rare, first), generate_series(1, rows) nth
    order by first, nth;`;

const INSERTS = `
  insert into payout (account_id, environment, withdrawal_id, code, version, method, status, amount_cents, fee_cents,
      destination, requested_at, processed_at, denied_reason, litoshi, external_id)
    select account_id, 'live', lpad(to_hex(place), 24, '0'), 'SAQ-' || place, 1,
      case when nth < rare then 'ltc' else 'pix' end, case when nth < rare then 'denied' else 'completed' end,
      ${AMOUNT}, 100, 'ana@example.com', ${AT}, ${AT}, case when nth < rare then 'refused' end,
      case when nth < rare then 7 end, ${EXTERNAL_ID}
    from seeded;
  insert into card_payment (account_id, environment, order_code, version, status, amount_cents, created_at, expires_at,
      paid_at, refunded_at, released_at, external_id, customer)
    select account_id, 'live', 'PSC-' || place, 1,
      case when nth < rare then 'failed' when ${IS_RETURNED} then 'refunded' else 'paid' end, ${AMOUNT},
      ${AT}, now(), ${AT}, case when ${IS_RETURNED} then ${RETURNED_AT} end, case when nth >= rare then ${AT} end,
      ${EXTERNAL_ID}, ${CUSTOMER}
    from seeded;
  insert into payment (account_id, environment, payment_id, version, status, method, amount_cents, fee_cents, created_at,
      expires_at, paid_at, refunded_at, end_to_end_id, failure_reason, external_id, customer)
    select account_id, 'live', 'psa_' || lpad(to_hex(place), 32, '0'), 2,
      case when nth < rare then 'failed' when ${IS_RETURNED} then 'refunded' else 'paid' end, 'pix', ${AMOUNT}, 0,
      ${AT}, now(), case when nth >= rare then ${AT} end,
      case when ${IS_RETURNED} then ${RETURNED_AT} end,
      case when nth >= rare then 'E' || place end, case when nth < rare then 'refused' end, ${EXTERNAL_ID}, ${CUSTOMER}
    from seeded;
  insert into charge (account_id, environment, charge_id, kind, version, status, amount_cents, fee_cents, created_at,
      expires_at, paid_at, refunded_at, end_to_end_id, failure_reason, splits, external_id)
    select account_id, 'live', case when nth < rare then 'psplit_' else 'psc_' end || lpad(to_hex(place), 32, '0'),
      case when nth < rare then 'split' else 'single' end, 2,
      case when nth < rare then 'failed' when ${IS_RETURNED} then 'refunded' else 'paid' end, ${AMOUNT}, 0,
      ${AT}, now(), case when nth >= rare then ${AT} end,
      case when ${IS_RETURNED} then ${RETURNED_AT} end,
      case when nth >= rare then 'E' || place end, case when nth < rare then 'refused' end,
      case when nth < rare then '[{"subaccountId": "sacc_0", "amountCents": 1, "percent": null, "refundedCents": 0}]'
        else '[]' end::jsonb, ${EXTERNAL_ID}
    from seeded;
  insert into refund (account_id, environment, refund_id, version, status, resource, resource_id, amount_cents, automatic,
      charge_id, end_to_end_id, failure_reason, created_at, completed_at, failed_at)
    select account_id, 'live', 'ref_' || lpad(to_hex(place), 24, '0'), 2,
      case when nth < rare then 'failed' else 'completed' end, case when nth < rare then 'charge' else 'payment' end,
      place::text, ${AMOUNT}, false, 'E' || place, case when nth >= rare then 'D' || place end,
      case when nth < rare then 'refused' end,
      ${AT},
      case when nth >= rare then ${AT} end,
      case when nth < rare then ${AT} end
    from seeded;
  insert into payment_return (account_id, environment, return_id, resource, resource_id, external_id, amount_cents, cause,
      rail_id, received_at, returned_at)
    select account_id, 'live', 'ret_' || lpad(to_hex(place), 24, '0'), case when nth < rare then 'charge' else 'payment' end,
      place::text, ${EXTERNAL_ID}, ${AMOUNT}, case when nth < rare then 'canceled' else 'already_paid' end, 'E' || place,
      ${AT}, ${AT}
    from seeded;
  insert into dispute (account_id, environment, id, amount_cents, resource, resource_id, status, created_at, closed_at)
    select account_id, 'live', 'dsp_' || lpad(to_hex(place), 24, '0'), ${AMOUNT}, 'payment', place::text,
      case when nth < rare then 'won' else 'forgiven' end, ${AT},
      ${AT}
    from seeded;
  insert into pix_subscription (account_id, environment, subscription_id, version, status, amount_cents, fee_cents, every,
      created_at, expires_at, authorised_at, customer)
    select account_id, 'live', 'psa_sub_' || lpad(to_hex(place), 32, '0'), 2,
      case when nth < rare then 'expired' else 'completed' end, ${AMOUNT}, 0, 'weekly', ${AT}, now(),
      case when nth >= rare then now() end, ${CUSTOMER}
    from seeded;
  insert into subscription_cycle (account_id, environment, subscription_id, number, due_at, status, amount_cents, attempts, sent)
    select account_id, 'live', 'psa_sub_' || lpad(to_hex(first + 1), 32, '0'), nth, now(), 'failed', 1000, 4, false
    from seeded;
  insert into delivery (account_id, environment, delivery_id, product_id, kind, content, remaining_count, created_at)
    select account_id, 'live', lpad(to_hex(place), 24, '0'),
      case when nth < rare then lpad(to_hex(first), 24, '0') else lpad(to_hex(place), 24, '0') end,
      case when nth % 2 = 0 then 'codes' else 'text' end, case when nth % 2 = 1 then 'Obrigada!' end,
      case when nth % 2 = 0 then case when nth < rare then 0 else 3 end end, ${AT}
    from seeded where nth <= ${MOST};
  insert into store_product (account_id, environment, number, store_product_id, name, price, available)
    select account_id, 'live', place, place::text, 'Caneca',
      case when nth = 7 then '7,77' when nth < rare then 'R$ 1.000,00' else '10,00' end, nth >= rare
    from seeded where nth <= ${MOST};
  insert into product (account_id, environment, id, name, price_cents, created_at)
    select account_id, 'live', lpad(to_hex(place), 24, '0'), 'Caneca', ${AMOUNT}, ${AT}
    from seeded;
  insert into subaccount (account_id, environment, id, name, external_id, created_at)
    select account_id, 'live', 'sacc_' || lpad(to_hex(first + n), 32, '0'), 'Ana', 'cliente-' || n, ${AT}
    from seeded, generate_series(nth - (nth = 1)::int, nth) n
    order by first, n;
  insert into statement_entry (account_id, environment, subaccount_id, kind, ref_id, amount_cents, balance_after_cents,
      created_at)
    select account_id, 'live', ${SUBACCOUNT_OF_EACH}, case when nth < rare then 'split_in' else 'transfer_in' end,
      place::text, ${AMOUNT}, nth,
      ${AT}
    from seeded;
  insert into subaccount_payout (id, account_id, environment, subaccount_id, version, payout_id, status,
      under_verification, withdrawal_id, turbo_code, amount_cents, fee_cents, agreed_fee_cents, pix_key, created_at,
      completed_at, reversed_at, failure_reason, external_id)
    select 'sqp_' || lpad(to_hex(place), 32, '0'), account_id, 'live', ${SUBACCOUNT_OF_EACH}, 1, 'saq_' || place,
      case when nth < rare or ${IS_RETURNED} then 'failed' else 'completed' end, false,
      lpad(to_hex(place), 24, '0'), 'TURBO-' || place, ${AMOUNT}, 100, 100, 'ana@example.com', ${AT},
      case when nth >= rare and not ${IS_RETURNED} then ${AT} end,
      case when ${IS_RETURNED} then ${RETURNED_AT} end,
      case when nth < rare or ${IS_RETURNED} then 'refused' end, ${EXTERNAL_ID}
    from seeded;
  insert into webhook_delivery (webhook_id, account_id, environment, event_version, event, endpoint_id, resource,
      resource_id, url, body, status, response_status, response_class, created_at)
    select 'whd_' || place, account_id, 'live', place, case when nth < rare then 'charge.paid' else 'payment.paid' end,
      'whe_' || lpad(case when nth < rare then '1' else '2' end, 24, '0'), 'card_payment', place::text, 'https://shop.example', '{}',
      case when nth < rare then 'exhausted' else 'delivered' end, case when nth < rare then 503 else 200 end,
      case when nth < rare then 5 else 2 end, ${AT}
    from seeded;
  insert into observed (account_id, environment, resource, id, version, status, final, parent, snapshot, observed_at)
    select account_id, 'live', resource, place::text, 1, case when nth < rare then 'failed' else 'paid' end, true,
      case resource when 'subaccount_payout' then ${SUBACCOUNT_OF_EACH} end, '{}', now()
    from seeded, unnest('{card_payment, subaccount_payout}'::text[]) resource;
  insert into observed_reference (account_id, environment, resource, reference, id)
    select account_id, 'live', 'subaccount_payout', ${SUBACCOUNT_OF_EACH} || '/saq_' || place, place::text
    from seeded;
  insert into observed (account_id, environment, resource, id, version, status, final, parent, created_at, snapshot,
      observed_at)
    select account_id, 'live', 'payment', place::text, 1, case when nth < rare then 'failed' else 'paid' end,
      true, case when nth < rare then 'ltc' else 'pix' end, ${AT},
      '{}', now()
    from seeded;
  insert into ledger_transaction (account_id, environment, number, entries, is_entry, transaction_id, kind, ref, resource,
      resource_id, subaccount_id, fee_cents, occurred_at, balance_delta, subaccounts_delta, pending_delta,
      dispute_hold_delta, ltc_delta, receivable_delta, balance, subaccounts, pending, dispute_hold, ltc, receivable)
    select account_id, 'live', 1099511627775 + nth, 1099511627775 + nth, true, 'seeded:' || place,
      case when nth < rare then 'charge' else 'card_payment' end, 'PSC-' || place, 'card_payment', 'PSC-' || place,
      case when nth < rare then ${SUBACCOUNT_OF_EACH} end, 0, ${AT}, ${AMOUNT}, 0, 0, 0, 0, 0, nth, 0, 0, 0, 0, 0
    from seeded;
  insert into stream (account_id, environment, version) select account_id, 'live', rows from seeded where nth = 1
    on conflict (account_id, environment) do update set version = excluded.version;
  insert into event (account_id, environment, version, kind, resource, resource_id, occurred_at, snapshot)
    select account_id, 'live', nth, 'any', case when nth < rows / 2 then 'payout' else 'card_payment' end,
      place::text, now(), '{}'
    from seeded`.split(';');

/** Inserts the rows without counting them, a table at a time: a million rows of every list would fill the disk with their log. */
export const SEED = (accounts: readonly Seeded[]) => INSERTS.map((insert) => `${SEEDED(accounts)} ${insert}`);

/** Computes the totals of the rows. */
export const COUNT = `
  set local session_replication_role = replica;
  insert into list_count (account_id, environment, list, parent, seconds, since, kind, status, count) ${TOTALS};
  insert into list_amount (account_id, environment, list, instant, seconds, since, kind, status, count, cents)
    ${AMOUNTS_OF_LISTS}`;

/** Runs each text in a transaction, without the usual deadline: a busy machine needs more time. */
export async function seed(database: Database, ...texts: readonly string[]): Promise<void> {
  await database.maintenance(async (connections) => {
    for (const text of texts) await connections.transaction((db) => db.executeQuery(CompiledQuery.raw(text)));
  });
}
