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

-- Each entry stands on the one before it.
create function continue_statement() returns trigger language plpgsql as $$
begin
  if new.balance_after_cents <> new.amount_cents + coalesce((
    select balance_after_cents from statement_entry
    where subaccount_id = new.subaccount_id order by number desc limit 1
  ), 0) then
    raise exception 'an entry does not continue its statement'
      using errcode = 'check_violation', constraint = 'statement_continues';
  end if;
  return new;
end $$;

create trigger statement_continues before insert on statement_entry
  for each row execute function continue_statement();

-- At the end of the transaction, when the postings have moved the balance: the statement ends with it.
create function compare_statement() returns trigger language plpgsql as $$
begin
  if (select balance_cents from subaccount where id = new.subaccount_id) <> (
    select balance_after_cents from statement_entry
    where subaccount_id = new.subaccount_id order by number desc limit 1
  ) then
    raise exception 'a statement does not end with the balance of its subaccount'
      using errcode = 'check_violation', constraint = 'statement_is_the_balance';
  end if;
  return null;
end $$;

create constraint trigger statement_is_the_balance after insert on statement_entry
  deferrable initially deferred for each row execute function compare_statement();

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
  withdrawal_id text unique check (withdrawal_id ~ '^[0-9a-f]{24}$'),
  turbo_code text unique check (turbo_code ~ '^TURBO-'),
  sub_code text unique check (sub_code ~ '^SUB-'),
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
create unique index subaccount_payout_newest on subaccount_payout (subaccount_id, number);
create index subaccount_payout_by_status on subaccount_payout (subaccount_id, status, number);
