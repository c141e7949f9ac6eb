import { sql as raw } from 'kysely';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { OwnWallet } from '../../server/src/money-out/wallet/model.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import {
  type Balances,
  type LedgerAccountName,
  NO_BALANCES,
} from '../../server/src/state/ledger/postings.ts';
import { lawsOfTheBooks } from '../faults/audit.ts';
import { ALL_ACCOUNTS, isOwed } from '../support/ledger.ts';
import type { Violation } from './violation.ts';

const TABLES = [
  'posting',
  'ledger_transaction',
  'ledger_account',
  'stream',
  'event',
  'idempotency',
  'task',
  'card_payment',
  'payment',
  'ltc_output',
  'charge',
  'pix_subscription',
  'subscription_cycle',
  'pix_credit',
  'pix_paid_order',
  'refund',
  'payment_return',
  'payout',
  'subaccount',
  'statement_entry',
  'subaccount_payout',
  'dispute',
  'test_payment',
  'webhook_endpoint',
  'webhook_delivery',
  'product',
  'delivery',
  'delivery_code',
  'delivered_content',
  'observed',
  'list_count',
  'list_amount',
];

/** The accounts of the audit. Views under the names of the tables show only their rows. */
const OF_ACCOUNTS = `account_id = any(current_setting('sim.accounts')::text[])`;

/** Creates views for the audit: some accounts' rows, and the ledgers of the rails. */
export async function prepareForAudit({ sql }: Database): Promise<void> {
  const statements = [
    'create schema sim',
    `create table sim.transfers (id text, account_id text, environment text, method text, destination text,
      amount_cents bigint, litoshi bigint, settles_at timestamptz, outcome text)`,
    'create table sim.charges (id text, account_id text, amount_cents bigint, status text, settles_at timestamptz)',
    `create table sim.refunds (id text, account_id text, charge_id text, amount_cents bigint, status text,
      settles_at timestamptz)`,
    `create table sim.pix_credits (end_to_end_id text, account_id text, txid text, amount_cents bigint,
      arrives_at timestamptz)`,
    'create table sim.pix_returns (id text, account_id text, end_to_end_id text, amount_cents bigint, status text)',
    `create table sim.pix_debits (id text, account_id text, txid text, amount_cents bigint, due_at timestamptz,
      outcome text)`,
    'create table sim.ltc_outputs (id text, account_id text, txid text, vout integer, litoshi bigint)',
    'create index on sim.ltc_outputs (account_id)',
    'create index on sim.pix_credits (account_id)',
    'create index on sim.pix_returns (account_id)',
    'create index on sim.pix_debits (account_id)',
    'create index on sim.transfers (account_id)',
    'create index on sim.charges (account_id)',
    'create index on sim.refunds (account_id)',
    // Each history reads its own tasks.
    'create index on task (account_id)',
    ...TABLES.map(
      (table) => `create view sim.${table} as select * from public.${table} where ${OF_ACCOUNTS}`,
    ),
    `create view sim.webhook_attempt as select a.* from public.webhook_attempt a
      join sim.webhook_delivery using (webhook_id)`,
    `create view sim.simulated_transfer as select * from sim.transfers where ${OF_ACCOUNTS}`,
    `create view sim.simulated_refund as select * from sim.refunds where ${OF_ACCOUNTS}`,
    `create view sim.simulated_pix_credit as select * from sim.pix_credits where ${OF_ACCOUNTS}`,
    `create view sim.simulated_pix_return as select * from sim.pix_returns where ${OF_ACCOUNTS}`,
    `create view sim.simulated_pix_debit as select * from sim.pix_debits where ${OF_ACCOUNTS}`,
    `create view sim.simulated_ltc_output as select * from sim.ltc_outputs where ${OF_ACCOUNTS}`,
    `create view sim.simulated_charge as select * from sim.charges where ${OF_ACCOUNTS}`,
  ];
  for (const statement of statements) await raw.raw(statement).execute(sql);
}

/** Every law, each as a query for rows that break it. At the end no work is left. */
const LAWS: Record<string, string> = {
  ...lawsOfTheBooks(`'infinity'::timestamptz`),

  'no account is on the wrong side of zero': `
    select account_id, environment, name, balance from ledger_account
    where case when name in (${ALL_ACCOUNTS.filter(isOwed)
      .map((name) => `'${name}'`)
      .join()}) then balance > 0 else balance < 0 end`,

  'of one attempt, and of one order, one payment is kept, by card or by PIX': `
    select account_id, environment, name, count(*) from (
      select account_id, environment, order_code as id, checkout_attempt, external_id from card_payment
      join (
        select distinct split_part(transaction_id, ':', 2) as order_code from posting
        where starts_with(transaction_id, 'card_payment.paid:')
      ) posted using (order_code)
      union all
      select account_id, environment, payment_id, checkout_attempt, external_id from payment where paid_at is not null
    ) kept cross join lateral (values ('attempt ' || checkout_attempt), ('order ' || external_id)) named (name)
    where name is not null
    group by 1, 2, 3 having count(*) > 1`,

  'each credit of a canceled payment by PIX is sent back, and its LTC waits for the operator': `
    select account_id, id, end_to_end_id, cause from (
      select account_id, payment_id as id from payment where canceled_at is not null
      union all select account_id, charge_id from charge where canceled_at is not null
    ) canceled join pix_credit c using (account_id)
    where c.payment_id = id and cause is null
    union all
    select account_id, payment_id, txid, state from payment p join ltc_output o using (account_id, payment_id)
    where p.canceled_at is not null and o.state = 'credited' and not exists (
      select from posting where posting.account_id = p.account_id and posting.environment = p.environment
        and starts_with(transaction_id, 'ltc.credited:' || p.payment_id || ':'))`,

  'each key has done one thing, and it is there': `
    select account_id, operation, key, resource_id from idempotency
    where (split_part(operation, ':', 1), resource_id) not in (
      select 'createCardPayment', order_code from card_payment
      union all select 'startCheckout', order_code from card_payment
      union all select 'createPayment', payment_id from payment
      union all select 'startPixCheckout', payment_id from payment
      union all select 'createCharge', charge_id from charge
      union all select 'createDelivery', delivery_id from delivery
      union all select 'createSubscription', subscription_id from pix_subscription
      union all select 'requestPayout', withdrawal_id from payout
      union all select 'refund', refund_id from refund where not automatic
      union all select 'requestSubaccountPayout', id from subaccount_payout
      union all select 'transferToSubaccount', ref_id from statement_entry where kind = 'transfer_in'
      union all select 'credit', split_part(transaction_id, ':', 2) from posting where transaction_id like 'credit:%'
    )
    union all
    -- Several requests add codes to one stock.
    select account_id, min(operation), min(key), resource_id from idempotency where operation <> 'createDelivery'
    group by account_id, environment, resource_id having count(*) > 1`,
};

/** The laws of the end: nothing is pending, and all credits are accounted for. */
const LAWS_OF_THE_END: Record<string, string> = {
  'nothing waits any more': `select account_id, kind, key, due_at from task`,
  'nothing is on its way': `
    select account_id, name, balance from ledger_account
    where name in ('payouts_in_transit', 'refunds_in_transit', 'ltc_in_transit') and balance <> 0`,
  'no charge is open': `select order_code, status, open_charge_id from card_payment where open_charge_id is not null`,
};

/** Finds violations of the laws in the tables of these accounts. */
export async function auditBooks(
  database: Database,
  accountIds: readonly string[],
  { atTheEnd }: { atTheEnd: boolean },
): Promise<Violation[]> {
  // The rails' ledgers are stored only at the end.
  const laws = Object.entries(atTheEnd ? { ...LAWS, ...LAWS_OF_THE_END } : LAWS).filter(
    ([, text]) => atTheEnd || !text.includes('simulated_'),
  );
  // Some queries read whole tables of hundreds of histories, which takes longer than a request's deadline.
  return database.maintenance((connections) =>
    connections.transaction(async (sql) => {
      await raw`select set_config('sim.accounts', ${[...accountIds]}::text[]::text, true)`.execute(sql);
      await raw`set local search_path = sim, public`.execute(sql);
      // Each query runs once, so its compilation would take longer than it saves.
      await raw`set local jit = off`.execute(sql);
      // Some compared sets exceed the default memory for hashing, and each row would then be compared with each.
      await raw`set local work_mem = '256MB'`.execute(sql);
      const violations: Violation[] = [];
      for (const [law, text] of laws) {
        const { rows } = await raw.raw(text).execute(sql);
        for (const row of rows.slice(0, 3)) violations.push({ law, what: JSON.stringify(row) });
      }
      return violations;
    }),
  );
}

/**
 * The wallet by the document's section 2.4, from the sums of the entries. If the subaccounts' sum could not be
 * computed it is null, and the wallet does not subtract it.
 */
export async function expectedWallet(
  { sql }: Database,
  { accountId, environment }: Tenant,
  { subaccountsKnown }: { subaccountsKnown: boolean },
): Promise<OwnWallet> {
  const { rows } = await raw<{ name: LedgerAccountName; amount: number }>`
    select ledger_account as name, sum(amount)::bigint as amount from posting
    where account_id = ${accountId} and environment = ${environment} group by ledger_account
  `.execute(sql);
  const sum: Balances = {
    ...NO_BALANCES,
    ...Object.fromEntries(rows.map(({ name, amount }) => [name, amount])),
  };
  const balanceCents = sum.merchant_balance + sum.merchant_subaccounts;
  const committedCents = subaccountsKnown ? sum.merchant_subaccounts : 0;
  const withdrawableCents = Math.max(0, balanceCents - sum.dispute_hold - committedCents);
  return {
    environment,
    balanceCents,
    disputeBlockedCents: sum.dispute_hold,
    withdrawableCents,
    pendingReleaseCents: sum.merchant_pending,
    receivableCents: Math.abs(sum.merchant_receivable),
    subaccountsBalanceCents: subaccountsKnown ? sum.merchant_subaccounts : null,
    assignableCents: subaccountsKnown ? withdrawableCents : null,
    cryptoBalanceLitoshi: sum.merchant_ltc,
  };
}
