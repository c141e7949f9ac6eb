import { hashSecret } from '../../../server/src/kernel/ids.ts';
import { returnIdOf } from '../../../server/src/money-in/returns/model.ts';
import { LIVE_KEY } from '../../support/app.ts';

export const ACCOUNT = 'acc_00000000000000000000aaaa';
export const TENANT = `'${ACCOUNT}', 'live'`;
export const AT = `'2026-01-02T03:04:05Z'`;
/** The due days of the cycles of a subscription that is authorised at `AT`: each at 00:00 in São Paulo, a month apart. */
const DUE = [`'2026-01-02T03:00:00Z'`, `'2026-02-02T03:00:00Z'`];
/** An instant long after the tests: the server does not do work that is due then. */
const LATER = `'2036-01-01T00:00:00Z'`;

/** The ids of the rows, by which the present server reads them. */
export const ROWS = {
  subaccount: `sacc_${'a'.padStart(32, '0')}`,
  product: '0000000000000000000000aa',
  payouts: ['0000000000000000000000bb', '0000000000000000000000cc'],
  subaccountPayout: `saq_${'1'.repeat(32)}`,
  cardDispute: `dsp_${'1'.repeat(24)}`,
  cardRefund: `ref_${'1'.repeat(24)}`,
  pendingPayment: `psa_${'1'.repeat(32)}`,
  paidPayment: `psa_${'2'.repeat(32)}`,
  paymentRefund: `ref_${'2'.repeat(24)}`,
  paymentDispute: `dsp_${'2'.repeat(24)}`,
  charge: `psc_${'3'.repeat(32)}`,
  splitCharge: `psplit_${'4'.repeat(32)}`,
  text: '1'.repeat(24),
  codes: '2'.repeat(24),
  storeProduct: 'loja-1',
  subscription: `psa_sub_${'5'.repeat(32)}`,
  cyclePayment: `psa_${'6'.repeat(32)}`,
  ltcPayment: `psa_${'7'.repeat(32)}`,
};

/** The bank's identifier of the code of a resource. */
const txidOf = (id: string) => id.slice(id.lastIndexOf('_') + 1);
/** The bank's identifier of the PIX that paid it. */
const creditOf = (id: string) => `E${txidOf(id).slice(1)}`;

/** Inserts the next event into the log, also while other clients write. */
function event(kind: string, id: string, version: number, snapshot: object = { version }): string {
  const resource = kind.slice(0, kind.indexOf('.'));
  return `
    update stream set version = version + 1 where (account_id, environment) = (${TENANT});
    insert into event (account_id, environment, version, kind, resource, resource_id, previous_status, occurred_at, snapshot)
      select account_id, environment, version, '${kind}', '${resource}', '${id}', (
        select split_part(kind, '.', 2) from event where resource = '${resource}' and resource_id = '${id}'
        order by version desc limit 1
      ), ${AT}, '${JSON.stringify(snapshot)}'
      from stream where (account_id, environment) = (${TENANT});`;
}

/** Inserts the key of a resource. */
const key = (operation: string, id: string) =>
  `insert into idempotency values (${TENANT}, '${operation}', 'old:${id}', 'hash', '${id}');`;

const task = (kind: string, id: string, dueAt = LATER) =>
  `insert into task (kind, account_id, environment, key, due_at) values ('${kind}', ${TENANT}, '${id}', ${dueAt});`;

/** A ledger transaction of two lines; `merchant_subaccounts` is the account of the one subaccount. */
function posted(id: string, from: string, to: string, amount: number, column = 'amount'): string {
  const line = (account: string, change: number) => `(${TENANT}, '${id}', '${account}', ${change}, ${AT})`;
  if (![from, to].includes('merchant_subaccounts'))
    return `insert into posting (account_id, environment, transaction_id, ledger_account, ${column}, occurred_at)
      values ${line(from, -amount)}, ${line(to, amount)};`;
  const lineOf = (account: string, change: number) =>
    `${line(account, change).slice(0, -1)}, ${account === 'merchant_subaccounts' ? `'${ROWS.subaccount}'` : 'null'})`;
  return `insert into posting
      (account_id, environment, transaction_id, ledger_account, amount, occurred_at, subaccount_id)
    values ${lineOf(from, -amount)}, ${lineOf(to, amount)};`;
}

const entered = (kind: string, ref: string, amount: number, balance: number) => `
    insert into statement_entry
        (account_id, environment, subaccount_id, kind, ref_id, amount_cents, balance_after_cents, created_at)
      values (${TENANT}, '${ROWS.subaccount}', '${kind}', '${ref}', ${amount}, ${balance}, ${AT});`;

/** A code at the simulated bank. */
const code = (id: string, amountCents: number) => `
    insert into simulated_pix_code (txid, account_id, environment, amount_cents, br_code, registered_at, expires_at)
      values ('${txidOf(id)}', ${TENANT}, ${amountCents}, '00020126', ${AT}, ${LATER});`;

/** The credit that paid it, at the bank and in the ledger. */
const credited = (id: string, amountCents: number, ofCode = id) => `
    insert into simulated_pix_credit (end_to_end_id, txid, amount_cents, arrives_at)
      values ('${creditOf(id)}', '${txidOf(ofCode)}', ${amountCents}, ${AT});
    insert into pix_credit (account_id, environment, end_to_end_id, payment_id, amount_cents, received_at)
      values (${TENANT}, '${creditOf(id)}', '${id}', ${amountCents}, ${AT});`;

/** A completed refund of 990, with its postings; `source` has the money in the end. */
const refunded = (
  id: string,
  resource: string,
  ofId: string,
  charge: string,
  from: string,
  source: string,
) => `
    insert into refund (account_id, environment, refund_id, version, status, resource, resource_id, amount_cents,
        automatic, charge_id, created_at, completed_at)
      values (${TENANT}, '${id}', 2, 'completed', '${resource}', '${ofId}', 990, false, '${charge}', ${AT}, ${AT});
    ${key('refund', id)} ${event('refund.processing', id, 1)} ${event('refund.completed', id, 2)}
    ${posted(`refund.begun:${id}`, from, 'refunds_in_transit', 990)}
    ${posted(`refund.completed:${id}`, 'refunds_in_transit', source, 990)}`;

/** Rows that a database of this step may hold, in addition to those of the steps before: the first rows of its tables. */
export const DATA: Record<string, string> = {
  '0001_spine': `
    insert into account (id, name, card_payments_enabled, card_release_days, created_at)
      values ('${ACCOUNT}', 'Padaria da Ana', true, 14, ${AT});
    insert into api_key (id, account_id, environment, secret_hash, permissions, created_at)
      values ('key_1', ${TENANT}, '${hashSecret(LIVE_KEY)}', '{}', ${AT});
    insert into cursor_key (key) values ('\\x000102030405060708090a0b0c0d0e0f');
    insert into stream (account_id, environment, version) values (${TENANT}, 0);
    insert into card_payment (account_id, environment, order_code, version, status, amount_cents, created_at, expires_at)
      values (${TENANT}, 'PSC-OLD', 1, 'pending', 4990, ${AT}, ${AT});
    ${event('card_payment.pending', 'PSC-OLD', 1)} ${key('createCardPayment', 'PSC-OLD')}
    ${task('card_payment.expire', 'PSC-OLD')}
    insert into token (id, kind, secret_hash, account_id, environment, minted_by, "grant", allowed_origins, created_at)
      values ('tok_${'1'.repeat(24)}', 'checkout', 'hash', ${TENANT}, 'key_1', '{"amountCents": 4990}', '{}', ${AT});
    insert into simulated_charge (id, amount_cents, status) values ('ch_old', 4990, 'approved');
    insert into card_payment (account_id, environment, order_code, version, status, amount_cents, created_at, expires_at,
        paid_charge_id, paid_at)
      values (${TENANT}, 'PSC-PPPPPPPPPPPPPPPPPPPPPAID', 2, 'paid', 4990, ${AT}, ${AT}, 'ch_old', ${AT});
    insert into checkout_use (token_id, order_code) values ('tok_${'1'.repeat(24)}', 'PSC-PPPPPPPPPPPPPPPPPPPPPAID');
    ${key(`startCheckout:tok_${'1'.repeat(24)}`, 'PSC-PPPPPPPPPPPPPPPPPPPPPAID')} ${task('card_payment.release', 'PSC-PPPPPPPPPPPPPPPPPPPPPAID')}
    ${event('card_payment.pending', 'PSC-PPPPPPPPPPPPPPPPPPPPPAID', 1)} ${event('card_payment.paid', 'PSC-PPPPPPPPPPPPPPPPPPPPPAID', 2)}
    ${posted('card_payment.paid:PSC-PPPPPPPPPPPPPPPPPPPPPAID', 'acquirer', 'merchant_pending', 4990, 'amount_cents')}
    ${posted('credit:old', 'acquirer', 'merchant_balance', 1_000_000, 'amount_cents')}`,
  '0002_ledger': `
    insert into subaccount (account_id, environment, id, name, external_id, created_at)
      values (${TENANT}, '${ROWS.subaccount}', 'Ana', '42', ${AT});`,
  '0003_payouts': `
    insert into payout (account_id, environment, withdrawal_id, code, version, method, status, amount_cents, fee_cents,
        destination, requested_at, processed_at)
      values (${TENANT}, '${ROWS.payouts[1]}', 'W-2', 2, 'pix', 'completed', 5000, 0, 'maria@psa.example', ${AT}, ${AT});
    insert into simulated_transfer (id, account_id, environment, method, destination, amount_cents, received_at,
        settles_at, outcome)
      values ('${ROWS.payouts[1]}', ${TENANT}, 'pix', 'maria@psa.example', 5000, ${AT}, ${AT}, 'complete');
    ${key('requestPayout', ROWS.payouts[1]!)}
    ${event('payout.pending', ROWS.payouts[1]!, 1)} ${event('payout.completed', ROWS.payouts[1]!, 2)}
    ${posted(`payout.requested:${ROWS.payouts[1]}`, 'merchant_balance', 'payouts_in_transit', 5000)}
    ${posted(`payout.completed:${ROWS.payouts[1]}`, 'payouts_in_transit', 'paid_out', 5000)}`,
  '0004_subaccounts': `
    ${posted('subaccount.transfer_in:tr_old', 'merchant_balance', 'merchant_subaccounts', 20_000)}
    ${entered('transfer_in', 'tr_old', 20_000, 20_000)} ${key('transferToSubaccount', 'tr_old')}
    insert into subaccount_payout (id, account_id, environment, subaccount_id, version, payout_id, status,
        under_verification, withdrawal_id, turbo_code, amount_cents, fee_cents, agreed_fee_cents, pix_key, created_at,
        completed_at)
      values ('sp_old', ${TENANT}, '${ROWS.subaccount}', 2, '${ROWS.subaccountPayout}', 'completed',
        false, '${'d'.repeat(24)}', 'TURBO-1', 5000, 0, 0, 'maria@psa.example', ${AT},
        ${AT});
    insert into simulated_transfer (id, account_id, environment, method, destination, amount_cents, received_at,
        settles_at, outcome)
      values ('sp_old', ${TENANT}, 'pix', 'maria@psa.example', 5000, ${AT}, ${AT}, 'complete');
    ${key('requestSubaccountPayout', 'sp_old')}
    ${event('subaccount_payout.processing', 'sp_old', 1)} ${event('subaccount_payout.completed', 'sp_old', 2)}
    ${posted('subaccount_payout.requested:sp_old', 'merchant_subaccounts', 'payouts_in_transit', 5000)}
    ${entered('payout', ROWS.subaccountPayout, -5000, 15_000)}
    ${posted('subaccount_payout.completed:sp_old', 'payouts_in_transit', 'paid_out', 5000)}`,
  '0005_products': `
    insert into product (account_id, environment, id, name, price_cents, created_at)
      values (${TENANT}, '${ROWS.product}', 'Caneca', 4990, ${AT});
    insert into test_payment (account_id, environment, id, value_cents, status, created_at)
      values ('${ACCOUNT}', 'sandbox', 'tp_old', 4990, 'pending', ${AT});
    insert into dispute (account_id, environment, id, amount_cents, order_code, status, created_at)
      values (${TENANT}, '${ROWS.cardDispute}', 3000, 'PSC-PPPPPPPPPPPPPPPPPPPPPAID', 'open', ${AT});
    ${event('dispute.open', ROWS.cardDispute, 1)}
    ${posted(`dispute.opened:${ROWS.cardDispute}`, 'dispute_claims', 'dispute_hold', 3000)}`,
  '0006_webhooks': `
    insert into webhook_endpoint values (${TENANT}, null, 'whsec_old', true);
    insert into payout (account_id, environment, withdrawal_id, code, version, method, status, amount_cents, fee_cents,
        destination, requested_at)
      values (${TENANT}, '${ROWS.payouts[0]}', 'W-1', 1, 'pix', 'pending', 5000, 100, 'demora@psa.example', ${AT});
    ${event('payout.pending', ROWS.payouts[0]!, 1)}
    insert into webhook_delivery (webhook_id, account_id, environment, event_version, event, resource, resource_id, url,
        body, status, attempts, next_attempt_at, created_at)
      select 'wh_1', ${TENANT}, version, 'withdrawal.requested', 'payout', '${ROWS.payouts[0]}',
        'http://127.0.0.1:9/hook', '{}', 'pending', 1, ${LATER}::timestamptz, ${AT} from stream;
    insert into webhook_attempt (webhook_id, number, at, error, duration_ms) values ('wh_1', 1, ${AT}, 'refused', 1);
    ${task('webhook.deliver', 'wh_1')} ${task('payout.send', ROWS.payouts[0]!, AT)}
    ${posted(`payout.requested:${ROWS.payouts[0]}`, 'merchant_balance', 'payouts_in_transit', 5000)}
    ${key('requestPayout', ROWS.payouts[0]!)}`,
  '0007_keys_and_limits': `insert into rate_window (key, ends_at, used) values ('old', ${LATER}, 1);`,
  '0008_simulated_clock': 'insert into simulated_clock (offset_ms) values (1000);',
  // A server in remote mode writes these rows; in embedded mode none of them is read.
  '0009_upstream_budget': `
    insert into upstream_account (key, last_at) values ('old', ${AT});
    insert into upstream_slot (id, account_key, class, held_until)
      values ('00000000-0000-0000-0000-000000000001', 'old', 'query', ${AT});`,
  '0011_mirror': `
    ${observed('card_payment', 'PSC-SEEN', 'paid')}
    insert into observed_reference (account_id, environment, resource, reference, id)
      values (${TENANT}, 'card_payment', 'seen', 'PSC-SEEN');
    insert into upstream_intent (id, account_id, environment, operation, key, input_hash, state, resource_id, summary,
        created_at)
      values ('intent_old', ${TENANT}, 'createCardPayment', 'seen', 'hash', 'done', 'PSC-SEEN', '{}', ${AT});
    insert into upstream_poll (account_id, environment, name, polled_at) values (${TENANT}, 'wallet', ${AT});`,
  '0012_webhooks_in': `
    insert into received_webhook (account_id, environment, webhook_id, body_hash, received_at)
      values (${TENANT}, 'wh_seen', 'hash', ${AT});`,
  // The steps from here on are not released.
  '0015_access': `
    insert into account_brand (account_id, color, logo, logo_type, logo_hash)
      select id, '#7a1f5c', '\\x89504e47', 'image/png', '${'a'.repeat(64)}' from account;`,
  '0021_restored_records': 'insert into restored_records (timeline) values (1);',
  '0030_refunds': `
    ${refunded(ROWS.cardRefund, 'card_payment', 'PSC-PPPPPPPPPPPPPPPPPPPPPAID', 'ch_old', 'merchant_pending', 'acquirer')}
    insert into simulated_refund (id, charge_id, amount_cents, status)
      values ('${ROWS.cardRefund}', 'ch_old', 990, 'completed');
    update card_payment set version = 3, refunded_cents = 990, refund_count = 1 where order_code = 'PSC-PPPPPPPPPPPPPPPPPPPPPAID';
    ${event('card_payment.paid', 'PSC-PPPPPPPPPPPPPPPPPPPPPAID', 3)}
    ${observed('refund', 'ref_seen', 'completed')}`,
  '0032_payments': `
    ${code(ROWS.pendingPayment, 4990)} ${code(ROWS.paidPayment, 4990)} ${credited(ROWS.paidPayment, 4990)}
    insert into payment (account_id, environment, payment_id, version, status, method, amount_cents, fee_cents, br_code,
        product_id, external_id, created_at, expires_at, paid_at, end_to_end_id, refunded_cents, refund_count)
      values
        (${TENANT}, '${ROWS.pendingPayment}', 2, 'pending', 'pix', 4990, 0, '00020126',
          null, null, ${AT}, ${LATER}, null, null, 0, 0),
        (${TENANT}, '${ROWS.paidPayment}', 4, 'paid', 'pix', 4990, 0, '00020126',
          '${ROWS.product}', 'order-1', ${AT}, ${LATER}, ${AT}, '${creditOf(ROWS.paidPayment)}', 990, 1);
    insert into pix_checkout_use (token_id, payment_id) values ('tok_${'1'.repeat(24)}', '${ROWS.pendingPayment}');
    insert into pix_paid_order (account_id, environment, kind, name, payment_id, paid_at)
      values (${TENANT}, 'external_id', 'order-1', '${ROWS.paidPayment}', ${AT});
    ${key(`startPixCheckout:tok_${'1'.repeat(24)}`, ROWS.pendingPayment)} ${key('createPayment', ROWS.paidPayment)}
    ${task('pix.expire', ROWS.pendingPayment)} ${event('payment.pending', ROWS.pendingPayment, 2)}
    ${event('payment.pending', ROWS.paidPayment, 2)} ${event('payment.paid', ROWS.paidPayment, 3)}
    ${posted(`payment.paid:${ROWS.paidPayment}`, 'pix_received', 'merchant_balance', 4990)}
    ${refunded(ROWS.paymentRefund, 'payment', ROWS.paidPayment, creditOf(ROWS.paidPayment), 'merchant_balance', 'pix_received')}
    ${event('payment.paid', ROWS.paidPayment, 4)}
    insert into simulated_pix_return (id, end_to_end_id, amount_cents, return_end_to_end_id, status)
      values ('${ROWS.paymentRefund}', '${creditOf(ROWS.paidPayment)}', 990, 'D1', 'completed');
    ${observed('payment', 'psa_seen', 'paid')}`,
  '0033_ltc': `
    insert into simulated_ltc_address (id, account_id, environment, address, revision)
      values ('${ROWS.ltcPayment}', ${TENANT}, 'ltc1old', 1);
    insert into simulated_ltc_output (txid, vout, id, litoshi, seen_at, confirmations)
      values ('${'f'.repeat(64)}', 0, '${ROWS.ltcPayment}', 1000000, ${AT}, 6);
    insert into payment (account_id, environment, payment_id, version, status, method, amount_cents, fee_cents,
        created_at, expires_at, paid_at, ltc_address, ltc_litoshi, ltc_received_litoshi, ltc_confirmations,
        ltc_required_confirmations, ltc_revision)
      values (${TENANT}, '${ROWS.ltcPayment}', 3, 'paid', 'ltc', 4990, 0,
        ${AT}, ${AT}, ${AT}, 'ltc1old', 1000000, 1000000, 6, 6, 1);
    insert into ltc_output (account_id, environment, payment_id, txid, vout, litoshi, seen_at, confirmations, state,
        postings)
      values (${TENANT}, '${ROWS.ltcPayment}', '${'f'.repeat(64)}', 0, 1000000, ${AT}, 6, 'credited', 1);
    ${key('createPayment', ROWS.ltcPayment)}
    ${event('payment.pending', ROWS.ltcPayment, 2)} ${event('payment.paid', ROWS.ltcPayment, 3)}
    ${posted(`ltc.confirmed:${'f'.repeat(64)}:0:1`, 'ltc_received', 'ltc_unmatched', 1_000_000)}
    ${posted(`ltc.paid:${ROWS.ltcPayment}`, 'ltc_unmatched', 'merchant_ltc', 1_000_000)}`,
  '0034_returns': `
    insert into simulated_pix_credit (end_to_end_id, txid, amount_cents, arrives_at)
      values ('E7', '${txidOf(ROWS.paidPayment)}', 4990, ${AT});
    insert into simulated_pix_return (id, end_to_end_id, amount_cents, return_end_to_end_id, status)
      values ('E7.0', 'E7', 4990, 'D7', 'completed');
    insert into pix_credit (account_id, environment, end_to_end_id, payment_id, amount_cents, received_at, cause, returned_at)
      values (${TENANT}, 'E7', '${ROWS.paidPayment}', 4990, ${AT}, 'already_paid', ${AT});
    ${posted('pix_credit.returned:E7', 'pix_received', 'refunds_in_transit', 4990)}
    ${posted('pix_credit.sent_back:E7', 'refunds_in_transit', 'pix_received', 4990)}
    insert into payment_return (account_id, environment, return_id, resource, resource_id, amount_cents, cause, rail_id,
        received_at, returned_at)
      values (${TENANT}, '${returnIdOf('E7')}', 'payment', '${ROWS.paidPayment}', 4990, 'already_paid', 'E7', ${AT}, ${AT});`,
  '0035_charges': `
    ${code(ROWS.charge, 4990)} ${code(ROWS.splitCharge, 4990)} ${credited(ROWS.splitCharge, 4990)}
    insert into charge (account_id, environment, charge_id, kind, version, status, amount_cents, fee_cents, br_code,
        created_at, expires_at, paid_at, end_to_end_id, splits)
      values
        (${TENANT}, '${ROWS.charge}', 'single', 2, 'pending', 4990, 0, '00020126',
          ${AT}, ${LATER}, null, null, '[]'),
        (${TENANT}, '${ROWS.splitCharge}', 'split', 3, 'paid', 4990, 0, '00020126',
          ${AT}, ${LATER}, ${AT}, '${creditOf(ROWS.splitCharge)}', '${JSON.stringify([
            {
              subaccountId: ROWS.subaccount,
              amountCents: 1000,
              percent: null,
              refundedCents: 0,
              assignedCents: 0,
            },
          ])}');
    ${key('createCharge', ROWS.charge)} ${key('createCharge', ROWS.splitCharge)} ${task('pix.expire', ROWS.charge)}
    ${event('charge.pending', ROWS.charge, 2)}
    ${event('charge.pending', ROWS.splitCharge, 2)} ${event('charge.paid', ROWS.splitCharge, 3)}
    ${posted(`charge.paid:${ROWS.splitCharge}`, 'pix_received', 'merchant_balance', 3990)}
    ${posted(`charge.split:${ROWS.splitCharge}:0`, 'pix_received', 'merchant_subaccounts', 1000)}
    ${entered('split_in', ROWS.splitCharge, 1000, 16_000)}
    ${observed('charge', 'psc_seen', 'paid')}`,
  // The first cycle is paid by its code; the debit of the second was refused once.
  '0036_subscriptions': `
    ${code(ROWS.subscription, 4990)} update simulated_pix_code set is_recurrence = true
      where txid = '${txidOf(ROWS.subscription)}';
    ${credited(ROWS.cyclePayment, 4990, ROWS.subscription)}
    insert into pix_subscription (account_id, environment, subscription_id, version, status, amount_cents, fee_cents,
        every, br_code, next_due_at, created_at, expires_at, authorised_at, failed_in_row)
      values (${TENANT}, '${ROWS.subscription}', 4, 'past_due', 4990, 0,
        'monthly', '00020126', ${LATER}, ${AT}, ${LATER}, ${AT}, 0);
    insert into payment (account_id, environment, payment_id, version, status, method, amount_cents, fee_cents,
        created_at, expires_at, paid_at, end_to_end_id, subscription_id)
      values (${TENANT}, '${ROWS.cyclePayment}', 2, 'paid', 'pix', 4990, 0,
        ${AT}, ${AT}, ${AT}, '${creditOf(ROWS.cyclePayment)}', '${ROWS.subscription}');
    insert into subscription_cycle (account_id, environment, subscription_id, number, due_at, status, amount_cents,
        attempts, next_attempt_at, sent, payment_id, paid_at)
      values
        (${TENANT}, '${ROWS.subscription}', 1, ${DUE[0]}, 'paid', 4990, 1, null, false, '${ROWS.cyclePayment}', ${AT}),
        (${TENANT}, '${ROWS.subscription}', 2, ${DUE[1]}, 'retrying', 4990, 1, ${LATER}, false, null, null);
    insert into simulated_pix_debit (id, txid, amount_cents, due_at, happens_at, outcome, reason, end_to_end_id)
      values ('${txidOf(ROWS.subscription)}.2.1', '${txidOf(ROWS.subscription)}', 4990, ${DUE[1]}, ${DUE[1]}, 'failed', 'balance', 'E9');
    ${key('createSubscription', ROWS.subscription)} ${task('subscription.instruct', ROWS.subscription)}
    ${['pending', 'authorized', 'past_due'].map((news, nth) => event(`subscription.${news}`, ROWS.subscription, nth + 2)).join('')}
    ${event('payment.paid', ROWS.cyclePayment, 2)}
    ${posted(`payment.paid:${ROWS.cyclePayment}`, 'pix_received', 'merchant_balance', 4990)}
    ${observed('subscription', 'psa_sub_seen', 'active')}`,
  '0037_deliveries': `
    insert into delivery (account_id, environment, delivery_id, product_id, kind, content, delivered_count,
        remaining_count, created_at)
      values (${TENANT}, '${ROWS.text}', '${ROWS.product}', 'text', 'Obrigado', 1, null, ${AT}),
        (${TENANT}, '${ROWS.codes}', '${ROWS.product}', 'codes', null, 1, 1, ${AT});
    insert into delivery_code (account_id, environment, product_id, code_hash, delivery_id, code, delivered)
      values (${TENANT}, '${ROWS.product}', '${hashSecret('AAA')}', '${ROWS.codes}', 'AAA', true),
        (${TENANT}, '${ROWS.product}', '${hashSecret('BBB')}', '${ROWS.codes}', 'BBB', false);
    insert into delivered_content (account_id, environment, resource, resource_id, position, product_id, delivery_id,
        kind, status, code_hash, paid_at, delivered_at)
      values
        (${TENANT}, 'payment', '${ROWS.paidPayment}', 0, '${ROWS.product}', '${ROWS.text}',
          'text', 'delivered', null, ${AT}, ${AT}),
        (${TENANT}, 'payment', '${ROWS.paidPayment}', 1, '${ROWS.product}', '${ROWS.codes}',
          'codes', 'delivered', '${hashSecret('AAA')}', ${AT}, ${AT});
    ${[ROWS.text, ROWS.codes].map((id) => `${key('createDelivery', id)} ${delivered(id)}`).join('')}`,
  '0038_store': `
    insert into store_product (number, account_id, environment, store_product_id, name, price, available)
      values (1, ${TENANT}, '${ROWS.storeProduct}', 'Caneca', '1.234,56', true);`,
  // A server of this version records a dispute with its task; the next step gives one to older disputes.
  '0039_disputes': `
    insert into dispute (account_id, environment, id, amount_cents, status, resource, resource_id, evidence_due_at,
        created_at)
      values (${TENANT}, '${ROWS.paymentDispute}', 1000, 'open', 'payment', '${ROWS.paidPayment}', ${LATER}, ${AT});
    update payment set disputed_cents = 1000 where payment_id = '${ROWS.paidPayment}';
    ${event('dispute.open', ROWS.paymentDispute, 1)} ${task('dispute.evidence_due', ROWS.paymentDispute)}
    ${posted(`dispute.opened:${ROWS.paymentDispute}`, 'dispute_claims', 'dispute_hold', 1000)}
    ${observed('dispute', 'dsp_seen', 'open')}
    insert into dispute_shortfall (account_id, environment, resource, resource_id, claims)
      values (${TENANT}, 'payment', '${ROWS.paidPayment}', '[]');`,
  '0049_webhook_log': `
    insert into webhook_redelivery (redelivery_id, account_id, environment, filter, to_current_url, upto, place, total,
        done, created_at)
      values ('whr_65f0c0ffee65f0c0ffee65f0', ${TENANT}, '{}', false, 1, 0, 1, 0, ${AT});`,
  '0054_dispute_files': `
    insert into dispute_file (file_id, account_id, environment, dispute_id, size_bytes, key_id, sealed)
      values ('dsf_65f0c0ffee65f0c0ffee65f0', ${TENANT}, '${ROWS.paymentDispute}', 1, '0011223344556677',
        '\\x${'00'.repeat(29)}');`,
  '0053_verify': `
    insert into verify_checkpoint (account_id, environment, number, version, sums) values (${TENANT}, 0, 0, '{}');
    insert into verified_law (law, findings, verified_at) values ('log-head', 0, ${AT});`,
  '0056_erasure': `
    insert into erasure (erasure_id, account_id, person_hash, requested_by, started_at)
      select 'era_65f0c0ffee65f0c0ffee65f0', account_id, repeat('0', 64), 'ticket 4711', ${AT}
      from (values (${TENANT})) tenant (account_id, environment);`,
  '0061_console': `
    insert into console_session (session_id, secret_hash, account_id, environment, key_id, created_at, expires_at)
      values ('ses_65f0c0ffee65f0c0ffee65f0', repeat('1', 64), ${TENANT}, 'key_1', ${AT}, ${LATER});`,
  '0064_observed_entries': `
    insert into observed_entry
      (account_id, environment, number, entries, is_entry, seen_to, occurred_at, balance_delta, subaccounts_delta, pending_delta,
        dispute_hold_delta, ltc_delta, receivable_delta, unexplained, wallet, known)
      values (${TENANT}, 1, 0, false, 0, ${AT}, 0, 0, 0, 0, 0, 0, 0, '{}', '{}');`,
  '0063_payout_batches': `
    insert into payout_batch (batch_id, account_id, environment, payout_rows, rows_hash, created_at)
      values ('pob_65f0c0ffee65f0c0ffee65f0', ${TENANT}, '[]', repeat('1', 64), ${AT});`,
};

/** A mirrored resource of another service. */
function observed(resource: string, id: string, status: string): string {
  return `
    insert into observed (account_id, environment, resource, id, version, status, final, snapshot, observed_at)
      values (${TENANT}, '${resource}', '${id}', 1, '${status}', true, '{"version": 1}', ${AT});`;
}

function delivered(deliveryId: string): string {
  return event('delivery.delivered', deliveryId, 1, {
    deliveryId,
    productId: ROWS.product,
    resource: { type: 'payment', id: ROWS.paidPayment },
    callbackUrl: null,
  });
}
