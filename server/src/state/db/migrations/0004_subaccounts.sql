-- The statement of a subaccount, and its payouts.

-- One name of the integrator's leads to one subaccount.
create unique index subaccount_external on subaccount (account_id, environment, external_id)
  where external_id is not null;

-- ── The statement ───────────────────────────────────────────────────────────────────────────────

create table statement_entry (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity primary key,
  account_id text not null,
  environment environment not null,
  subaccount_id text not null,
  kind text not null check (kind in ('transfer_in', 'payout', 'payout_reversal')),
  ref_id text not null,
  -- What it did to the balance.
  amount_cents bigint not null,
  balance_after_cents bigint not null check (balance_after_cents >= 0),
  created_at timestamptz not null,
  unique (account_id, environment, kind, ref_id),
  foreign key (account_id, environment, subaccount_id) references subaccount (account_id, environment, id),
  constraint entry_has_its_sign check (amount_cents <> 0 and (amount_cents < 0) = (kind = 'payout'))
);
create unique index statement_entry_newest on statement_entry (subaccount_id, number);

create trigger statement_is_append_only before update or delete or truncate on statement_entry
  for each statement execute function refuse_change();

-- Each entry stands on the one before it, and a statement ends with the balance that the postings have moved, which
-- come first. Once a statement, and only by looking up, as where postings are applied and for the same reasons.
create function check_statements() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if exists (
    select from entered e
    where e.balance_after_cents <> e.amount_cents + coalesce((
      select p.balance_after_cents from statement_entry p
      where p.subaccount_id = e.subaccount_id and p.number < e.number order by p.number desc limit 1
    ), 0)
  ) then
    raise exception 'an entry does not continue its statement'
      using errcode = 'check_violation', constraint = 'statement_continues';
  end if;

  if exists (
    select from (select distinct subaccount_id from entered) e join subaccount s on s.id = e.subaccount_id
    where s.balance_cents <> (
      select p.balance_after_cents from statement_entry p
      where p.subaccount_id = e.subaccount_id order by p.number desc limit 1
    )
  ) then
    raise exception 'a statement does not end with the balance of its subaccount'
      using errcode = 'check_violation', constraint = 'statement_is_the_balance';
  end if;
  return null;
end $$;

create trigger statement_holds after insert on statement_entry
  referencing new table as entered
  for each statement execute function check_statements();

-- ── Payouts of subaccounts ──────────────────────────────────────────────────────────────────────

create table subaccount_payout (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  id text primary key,
  account_id text not null,
  -- There are none in sandbox.
  environment environment not null check (environment = 'live'),
  subaccount_id text not null,
  version integer not null check (version >= 1),
  payout_id text not null check (payout_id ~ '^saq_'),
  status text not null check (status in ('processing', 'completed', 'failed')),
  -- Held by the service for a look at it.
  under_verification boolean not null,
  -- The three that it gets when it is assembled for sending, and when it is refused before any bank.
  withdrawal_id text check (withdrawal_id ~ '^[0-9a-f]{24}$'),
  turbo_code text check (turbo_code ~ '^TURBO-'),
  sub_code text check (sub_code ~ '^SUB-'),
  amount_cents bigint not null,
  -- What the integrator keeps, and the service.
  fee_cents bigint not null check (fee_cents >= 0),
  agreed_fee_cents bigint not null check (agreed_fee_cents >= 0),
  -- In its normal form and whole: it is masked where it is shown.
  pix_key text not null,
  end_to_end_id text,
  recipient_name text,
  recipient_bank_name text,
  failure_reason text,
  created_at timestamptz not null,
  completed_at timestamptz,
  reversed_at timestamptz,
  unique (account_id, environment, payout_id),
  foreign key (account_id, environment, subaccount_id) references subaccount (account_id, environment, id),
  constraint subaccount_payout_pays_something check (amount_cents > fee_cents + agreed_fee_cents),
  constraint assembled_has_its_code check ((withdrawal_id is null) = (turbo_code is null)),
  constraint completed_was_assembled check (status <> 'completed' or withdrawal_id is not null),
  constraint refused_failed check (sub_code is null or status = 'failed'),
  constraint completed_has_its_instant check ((status = 'completed') = (completed_at is not null)),
  constraint failed_has_its_reason check ((status = 'failed') = (failure_reason is not null)),
  constraint reversed_failed check (reversed_at is null or status = 'failed'),
  constraint verified_is_processing check (not under_verification or status = 'processing')
);
-- Most have no code yet, or never get one: those cost these indexes nothing.
create unique index subaccount_payout_withdrawal on subaccount_payout (withdrawal_id) where withdrawal_id is not null;
create unique index subaccount_payout_turbo on subaccount_payout (turbo_code) where turbo_code is not null;
create unique index subaccount_payout_sub on subaccount_payout (sub_code) where sub_code is not null;
create unique index subaccount_payout_newest on subaccount_payout (subaccount_id, number);
create index subaccount_payout_by_status on subaccount_payout (subaccount_id, status, number);
