-- The accounts that payouts, subaccounts, disputes, test payments and LTC need, and what an account settles for itself.

-- A unit of the account's own: cents, and litoshi for what is LTC.
alter table posting rename column amount_cents to amount;
alter table ledger_account rename column balance_cents to balance;

alter table account
  add column payout_fee_pix_cents bigint not null default 0 check (payout_fee_pix_cents >= 0),
  add column payout_fee_pix_turbo_cents bigint not null default 0 check (payout_fee_pix_turbo_cents >= 0),
  add column payout_fee_ltc_cents bigint not null default 0 check (payout_fee_ltc_cents >= 0),
  add column payout_fee_usd_cents bigint not null default 0 check (payout_fee_usd_cents >= 0),
  -- What the integrator keeps of each payout of a subaccount.
  add column subaccount_markup_cents bigint not null default 0 check (subaccount_markup_cents >= 0);

alter table ledger_account drop constraint ledger_account_known;
alter table ledger_account add constraint ledger_account_known check (
  name in (
    'merchant_balance', 'merchant_subaccounts', 'merchant_pending', 'merchant_receivable',
    'payouts_in_transit', 'paid_out', 'platform_fees', 'acquirer', 'received',
    'dispute_hold', 'dispute_claims',
    'merchant_ltc', 'ltc_in_transit', 'ltc_paid_out', 'ltc_received'
  )
);
alter table ledger_account drop constraint ledger_account_sign;
alter table ledger_account add constraint ledger_account_sign check (
  case
    when name in ('merchant_receivable', 'acquirer', 'received', 'dispute_claims', 'ltc_received') then balance <= 0
    else balance >= 0
  end
);

-- ── Subaccounts ─────────────────────────────────────────────────────────────────────────────────

create table subaccount (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null references account,
  environment environment not null,
  id text primary key check (id ~ '^sacc_[0-9a-f]{32}$'),
  name text not null,
  external_id text,
  -- What the postings that name it sum to.
  balance_cents bigint not null default 0 check (balance_cents between 0 and 9007199254740991),
  created_at timestamptz not null,
  unique (account_id, environment, id)
);
create unique index subaccount_newest on subaccount (account_id, environment, number);

alter table posting add column subaccount_id text;
alter table posting add constraint posting_of_subaccount
  foreign key (account_id, environment, subaccount_id) references subaccount (account_id, environment, id);
alter table posting add constraint posting_names_subaccount
  check ((ledger_account = 'merchant_subaccounts') = (subaccount_id is not null));

create trigger subaccount_follows_postings before update of balance_cents on subaccount
  for each row execute function refuse_unposted_balance();

create function refuse_opening_balance() returns trigger language plpgsql as $$
begin
  if new.balance_cents <> 0 then
    raise exception 'a subaccount begins with nothing' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

create trigger subaccount_begins_empty before insert on subaccount
  for each row execute function refuse_opening_balance();

create trigger subaccount_is_kept before delete or truncate on subaccount
  for each statement execute function refuse_change();

-- ── Balances follow from postings ───────────────────────────────────────────────────────────────

create or replace function apply_postings() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  -- In each unit for itself: cents and litoshi never make up for each other.
  if exists (
    select from posted
    group by account_id, environment, transaction_id,
      ledger_account in ('merchant_ltc', 'ltc_in_transit', 'ltc_paid_out', 'ltc_received')
    having sum(amount) <> 0
  ) then
    raise exception 'the postings of a transaction do not sum to zero'
      using errcode = 'check_violation', constraint = 'posting_sums_to_zero';
  end if;

  -- The key tells lines apart; that a transaction comes once, whatever its lines are, is told here.
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
