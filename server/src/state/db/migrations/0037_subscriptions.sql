-- Recurring PIX: subscriptions, with their cycles.

create table pix_subscription (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  subscription_id text primary key check (subscription_id ~ '^psa_sub_[0-9a-f]{32}$'),
  version integer not null check (version >= 1),
  status text not null check (status in ('pending', 'active', 'past_due', 'canceled', 'completed', 'expired')),
  -- Each cycle's.
  amount_cents bigint not null check (amount_cents > 0),
  fee_cents bigint not null check (fee_cents >= 0 and fee_cents <= amount_cents),
  every text not null check (every in ('weekly', 'monthly', 'quarterly', 'semiannual', 'yearly')),
  ends_after_cycles integer check (ends_after_cycles >= 1),
  description text,
  customer jsonb,
  metadata text,
  success_url text,
  cancel_url text,
  -- PIX Copia e Cola; null until the bank has given it.
  br_code text,
  next_due_at timestamptz,
  cancel_reason text check (cancel_reason in ('merchant', 'payer', 'unpaid')),
  canceled_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  authorised_at timestamptz,
  failed_in_row integer not null default 0 check (failed_in_row >= 0),
  -- The last credits that were sent back, as the subscription shows them; all of them are in pix_credit.
  returned_credits jsonb not null default '[]',
  constraint canceled_subscription_has_its_reason check (
    (status = 'canceled') = (cancel_reason is not null) and (status = 'canceled') = (canceled_at is not null)
  ),
  constraint live_subscription_was_authorised check (
    status not in ('active', 'past_due', 'completed') or authorised_at is not null
  ),
  constraint unauthorised_subscription_has_no_due_day check (authorised_at is not null or next_due_at is null)
);
create unique index pix_subscription_newest on pix_subscription (account_id, environment, number);
create index pix_subscription_by_status on pix_subscription (account_id, environment, status, number);

create table subscription_cycle (
  account_id text not null,
  environment environment not null,
  subscription_id text not null references pix_subscription,
  number integer not null check (number >= 1),
  due_at timestamptz not null,
  status text not null check (status in ('scheduled', 'retrying', 'paid', 'failed', 'canceled')),
  amount_cents bigint not null check (amount_cents > 0),
  -- Those that were made.
  attempts integer not null check (attempts between 0 and 4),
  next_attempt_at timestamptz,
  -- Whether the payer's bank has the instruction of the next attempt.
  sent boolean not null,
  payment_id text,
  paid_at timestamptz,
  failure_reason text,
  primary key (subscription_id, number),
  constraint open_cycle_has_its_attempt check ((status in ('scheduled', 'retrying')) = (next_attempt_at is not null)),
  constraint paid_cycle_has_its_payment check (
    (status = 'paid') = (payment_id is not null) and (status = 'paid') = (paid_at is not null)
  ),
  constraint only_open_cycle_is_sent check (not sent or status in ('scheduled', 'retrying'))
);

-- The subscription whose cycle a payment pays.
alter table payment add column subscription_id text;

-- ── In front of another service ────────────────────────────────────────────────────────────────

-- Whatever the check allows today is allowed on, and subscriptions too.
do $$
declare
  allowed text;
begin
  select string_agg(distinct quote_literal(m[1]), ', ') into allowed
  from pg_constraint, regexp_matches(pg_get_constraintdef(oid), '''([a-z_]+)''', 'g') m
  where conname = 'observed_resource_check' and conrelid = 'observed'::regclass;
  alter table observed drop constraint observed_resource_check;
  -- Not valid: every row that is there names another resource, and to read them all would keep writers waiting.
  execute format(
    'alter table observed add constraint observed_resource_check check (resource in (%s, ''subscription'')) not valid',
    allowed
  );
end $$;

-- ── Its totals, as those of the other lists ─────────────────────────────────────────────────────

-- The lists that are counted today, and subscriptions too.
do $$
declare
  lists text;
  event record;
begin
  select string_agg(format('(%L, %L, %L, %L, %L)', list, parent, instant, kind, status), ', ') into lists
  from (
    select list, parent, instant, kind, status from counted_lists()
    union all
    select 'pix_subscription', null, null, null, 'status'
  ) counted;
  execute format(
    'create or replace function counted_lists() returns table (list text, parent text, instant text, kind text, status text)
     language sql immutable as %L',
    'values ' || lists
  );
  for event in
    select * from (values
      ('insert', 'new table as added', 'added', list_rows_query('pix_subscription', 'added', 1)),
      ('delete', 'old table as removed', 'removed', list_rows_query('pix_subscription', 'removed', -1)),
      ('update', 'new table as added old table as removed', 'added',
        list_rows_query('pix_subscription', 'added', 1) || ' union all '
          || list_rows_query('pix_subscription', 'removed', -1))
    ) e (name, rows, source, changes)
  loop
    execute format(
      'create function %I() returns trigger language plpgsql as %L',
      'count_pix_subscription_' || event.name,
      format(
        'begin if exists (select from %I) then %s; end if; return null; end',
        event.source, add_to_counts_statement(event.changes)
      )
    );
    execute format(
      'create trigger %I after %s on pix_subscription referencing %s for each statement execute function %I()',
      'pix_subscription_counts_' || event.name, event.name, event.rows, 'count_pix_subscription_' || event.name
    );
  end loop;
end $$;
create trigger pix_subscription_counts_truncate
  after truncate on pix_subscription for each statement execute function forget_counts();

-- ── The simulated bank's own books ──────────────────────────────────────────────────────────────

alter table simulated_pix_code
  add column is_recurrence boolean not null default false,
  -- The attempts of each cycle that the payer's bank refuses, for the payers that do so by themselves.
  add column refused_attempts text check (refused_attempts in ('first', 'all')),
  -- When the recurrence was ended, and by whom.
  add column ended_at timestamptz,
  add column ended_by text check (ended_by in ('merchant', 'payer'));

create table simulated_pix_debit (
  id text primary key,
  txid text not null references simulated_pix_code,
  amount_cents bigint not null check (amount_cents > 0),
  due_at timestamptz not null,
  -- When the payer is debited, or refused; not reported before.
  happens_at timestamptz not null,
  outcome text not null check (outcome in ('paid', 'failed', 'canceled')),
  reason text,
  end_to_end_id text not null unique
);
create index simulated_pix_debit_of_code on simulated_pix_debit (txid, happens_at);

-- The attempt that has brought it; null where the payer has paid the code itself.
alter table simulated_pix_credit add column debit_id text;
