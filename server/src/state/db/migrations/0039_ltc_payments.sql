-- Payments by LTC, with the outputs that have come to their addresses.

alter table ledger_account drop constraint ledger_account_known;
alter table ledger_account add constraint ledger_account_known check (
  name in (
    'merchant_balance', 'merchant_subaccounts', 'merchant_pending', 'merchant_receivable',
    'refunds_in_transit', 'payouts_in_transit', 'paid_out', 'platform_fees', 'acquirer', 'pix_received', 'received',
    'dispute_hold', 'dispute_claims',
    'merchant_ltc', 'ltc_unmatched', 'ltc_in_transit', 'ltc_paid_out', 'ltc_received'
  )
);

-- As before, with the new account among those that count in litoshi.
create or replace function apply_postings() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  -- In each unit for itself: cents and litoshi never make up for each other.
  if exists (
    select from posted
    group by account_id, environment, transaction_id,
      ledger_account in ('merchant_ltc', 'ltc_unmatched', 'ltc_in_transit', 'ltc_paid_out', 'ltc_received')
    having sum(amount) <> 0
  ) then
    raise exception 'the postings of a transaction do not sum to zero'
      using errcode = 'check_violation', constraint = 'posting_sums_to_zero';
  end if;

  -- The key tells lines apart; that a transaction comes once, whatever its lines are, is checked here.
  if exists (
    select from (
      select account_id, environment, transaction_id, count(*) as lines from posted
      group by account_id, environment, transaction_id
    ) t
    where t.lines <> (
      select count(*) from posting p
      where p.account_id = t.account_id and p.environment = t.environment and p.transaction_id = t.transaction_id
    )
  ) then
    raise exception 'this ledger transaction was posted before'
      using errcode = 'unique_violation', constraint = 'posting_once';
  end if;

  insert into ledger_account (account_id, environment, name)
  select distinct account_id, environment, ledger_account from posted
  on conflict do nothing;

  update ledger_account a
  set balance = a.balance + p.amount
  from (
    select account_id, environment, ledger_account, sum(amount)::bigint as amount
    from posted group by account_id, environment, ledger_account
  ) p
  where a.account_id = p.account_id and a.environment = p.environment and a.name = p.ledger_account;

  if exists (select from posted where subaccount_id is not null) then
    update subaccount s
    set balance_cents = s.balance_cents + p.amount
    from (
      select subaccount_id, sum(amount)::bigint as amount from posted
      where subaccount_id is not null group by subaccount_id
    ) p
    where s.id = p.subaccount_id;
  end if;
  return null;
end $$;

alter table account add column ltc_enabled boolean not null default true;

-- Not valid, here and below: every row that is there is a payment by PIX, and to read them all would keep writers waiting.
alter table payment drop constraint payment_method_check;
alter table payment add constraint payment_method_check check (method in ('pix', 'ltc')) not valid;
alter table payment drop constraint paid_payment_has_its_credit;
alter table payment add constraint paid_payment_has_its_credit
  check (case when method = 'ltc' then end_to_end_id is null else (paid_at is null) = (end_to_end_id is null) end) not valid;

alter table payment
  -- Null until the network has given it.
  add column ltc_address text,
  -- The quote.
  add column ltc_litoshi bigint,
  add column ltc_received_litoshi bigint,
  add column ltc_confirmations integer,
  add column ltc_required_confirmations integer,
  -- The newest report of the network that was recorded.
  add column ltc_revision bigint;
alter table payment add constraint ltc_payment_has_its_quote check (
  (method = 'ltc') = (
    ltc_litoshi is not null and ltc_received_litoshi is not null and ltc_confirmations is not null
    and ltc_required_confirmations is not null and ltc_revision is not null
  )
) not valid;
-- A server of the version before would take a refund of LTC from the balance in reais.
alter table payment add constraint ltc_payment_is_not_refunded
  check (method <> 'ltc' or (refunded_cents = 0 and refunding_cents = 0)) not valid;
alter table payment add constraint ltc_payment_is_live check (method <> 'ltc' or environment = 'live') not valid;

-- Each output of the chain, once.
create table ltc_output (
  account_id text not null,
  environment environment not null,
  payment_id text not null,
  txid text not null check (txid ~ '^[0-9a-f]{64}$'),
  vout integer not null check (vout >= 0),
  litoshi bigint not null check (litoshi > 0),
  seen_at timestamptz not null,
  confirmations integer not null check (confirmations >= 0),
  -- In which account of the ledger its litoshi are; in none while they are seen, or gone after a reorganisation.
  state text not null check (state in ('seen', 'gone', 'unmatched', 'credited')),
  -- The number of times that it was confirmed.
  postings integer not null default 0,
  primary key (txid, vout)
);
create index ltc_output_of_payment on ltc_output (account_id, environment, payment_id);

-- ── The simulated network's own books ───────────────────────────────────────────────────────────

create table simulated_ltc_address (
  -- The id of the payment.
  id text primary key,
  account_id text not null,
  environment environment not null,
  address text not null unique,
  -- Grows with each change of its outputs.
  revision bigint not null default 0
);

create table simulated_ltc_output (
  txid text not null,
  vout integer not null,
  id text not null references simulated_ltc_address,
  litoshi bigint not null check (litoshi > 0),
  seen_at timestamptz not null,
  confirmations integer not null check (confirmations >= 0),
  primary key (txid, vout)
);
create index simulated_ltc_output_of_address on simulated_ltc_output (id, seen_at);
