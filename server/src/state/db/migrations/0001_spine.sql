-- Accounts, credentials, the event log, the ledger, due tasks and card payments.
-- Money is bigint cents. Time is given by the program's clock, never by now().

create domain environment as text check (value in ('live', 'sandbox'));

-- ── Who ─────────────────────────────────────────────────────────────────────────────────────────

create table account (
  id text primary key,
  name text not null,
  card_payments_enabled boolean not null,
  card_release_days integer not null check (card_release_days >= 0),
  created_at timestamptz not null
);

create table api_key (
  id text primary key,
  account_id text not null references account,
  environment environment not null,
  secret_hash text not null unique,
  permissions text[] not null,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index api_key_of_account on api_key (account_id);

create table token (
  id text primary key,
  kind text not null check (kind in ('checkout', 'payment', 'dashboard')),
  secret_hash text not null unique,
  account_id text not null references account,
  environment environment not null,
  minted_by text references api_key,
  "grant" jsonb not null,
  allowed_origins text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz
);

-- What cursors are made with, the same on every instance and over restarts: one row, made by the first start.
create table cursor_key (
  one boolean primary key default true check (one),
  key bytea not null check (length(key) = 16)
);

-- ── What happened ───────────────────────────────────────────────────────────────────────────────

-- The narrow row whose lock every change of a tenant takes first and holds to its commit. So versions
-- become visible in order and without gaps, which no global sequence gives.
create table stream (
  account_id text not null references account,
  environment environment not null,
  version bigint not null default 0,
  primary key (account_id, environment)
);

create table event (
  account_id text not null,
  environment environment not null,
  version bigint not null,
  kind text not null,
  resource text not null,
  resource_id text not null,
  previous_status text,
  occurred_at timestamptz not null,
  -- The resource as it was at this change.
  snapshot jsonb not null,
  primary key (account_id, environment, version),
  foreign key (account_id, environment) references stream
);
create index event_of_resource on event (account_id, environment, resource, resource_id, version);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;

create trigger event_is_append_only before update or delete or truncate on event
  for each statement execute function refuse_change();

-- ── Money ───────────────────────────────────────────────────────────────────────────────────────

-- Balances, one row a tenant and name. What the merchant owns is never negative, but for the receivable: what
-- it owes after a refund of money that it had already withdrawn. The acquirer's account is the other
-- side: minus what the acquirer holds for the merchant.
create table ledger_account (
  account_id text not null,
  environment environment not null,
  name text not null,
  balance_cents bigint not null default 0,
  primary key (account_id, environment, name),
  constraint ledger_account_known check (
    name in ('merchant_balance', 'merchant_pending', 'merchant_receivable', 'acquirer')
  ),
  constraint ledger_account_sign check (
    case when name in ('merchant_receivable', 'acquirer') then balance_cents <= 0 else balance_cents >= 0 end
  ),
  -- What the program's numbers hold exactly: 2⁵³ − 1.
  constraint ledger_account_exact check (balance_cents between -9007199254740991 and 9007199254740991)
);

-- One line of one ledger transaction, which happens at most once.
create table posting (
  account_id text not null,
  environment environment not null,
  transaction_id text not null,
  ledger_account text not null,
  amount_cents bigint not null check (amount_cents <> 0),
  occurred_at timestamptz not null,
  primary key (account_id, environment, transaction_id, ledger_account)
);

-- Balances follow from postings here and nowhere else, and a transaction comes whole in one statement.
-- A statement trigger with a transition table costs one call a statement; a deferred constraint costs one
-- a row, at the commit, where an error can no longer be told from an unknown outcome.
--
-- A session keeps the plans that it made at its first call. Made for a large group while the ledger was small, they
-- scanned every posting there is for each later one (18 ms at 120,000 rows, and growing): so nothing is ever scanned
-- or hashed here, only looked up.
create function apply_postings() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if exists (
    select from posted group by account_id, environment, transaction_id having sum(amount_cents) <> 0
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
  set balance_cents = a.balance_cents + p.amount_cents
  from (
    select account_id, environment, ledger_account, sum(amount_cents)::bigint as amount_cents
    from posted group by account_id, environment, ledger_account
  ) p
  where a.account_id = p.account_id and a.environment = p.environment and a.name = p.ledger_account;
  return null;
end $$;

create trigger posting_applies after insert on posting
  referencing new table as posted
  for each statement execute function apply_postings();

create trigger posting_is_append_only before update or delete or truncate on posting
  for each statement execute function refuse_change();

create function refuse_unposted_balance() returns trigger language plpgsql as $$
begin
  if pg_trigger_depth() < 2 then
    raise exception 'a balance changes by postings alone' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

create trigger balance_follows_postings before insert or update or delete on ledger_account
  for each row execute function refuse_unposted_balance();

create trigger balance_is_kept before truncate on ledger_account
  for each statement execute function refuse_change();

-- ── What is due ─────────────────────────────────────────────────────────────────────────────────

create table task (
  kind text not null,
  account_id text not null,
  environment environment not null,
  key text not null,
  due_at timestamptz not null,
  attempts integer not null default 0,
  -- Grows each time it is scheduled anew: who did it as it was before has not done it.
  revision integer not null default 0,
  -- Whose turn it is, drawn anew for each, and until when.
  lease uuid,
  leased_until timestamptz,
  primary key (kind, account_id, environment, key),
  constraint lease_has_its_end check ((lease is null) = (leased_until is null))
);
create index task_due on task (due_at);
create index task_leased on task (leased_until) where leased_until is not null;

-- ── Idempotency ─────────────────────────────────────────────────────────────────────────────────

-- Kept for good.
create table idempotency (
  account_id text not null,
  environment environment not null,
  operation text not null,
  key text not null,
  input_hash text not null,
  resource_id text not null,
  primary key (account_id, environment, operation, key)
);

-- ── Card payments ───────────────────────────────────────────────────────────────────────────────

create table card_payment (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  order_code text primary key,
  version integer not null check (version >= 1),
  status text not null check (status in ('pending', 'paid', 'expired', 'refunded', 'failed')),
  amount_cents bigint not null check (amount_cents >= 80),
  description text,
  callback_url text,
  customer jsonb,
  metadata text,
  success_url text,
  cancel_url text,
  -- Payments of one checkout attempt: if two of them are paid, the second is refunded.
  checkout_attempt text,
  -- The charge whose outcome the acquirer still owes us.
  open_charge_id text,
  -- The charge that paid it, for a refund.
  paid_charge_id text,
  declined_charges integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  paid_late boolean not null default false,
  released_at timestamptz,
  refunded_at timestamptz,
  failure_reason text,
  constraint paid_has_its_instant check (status not in ('paid', 'refunded') or paid_at is not null),
  constraint refunded_has_its_instant check ((status = 'refunded') = (refunded_at is not null))
);
create unique index card_payment_newest on card_payment (account_id, environment, number);
create index card_payment_by_status on card_payment (account_id, environment, status, number);
create index card_payment_of_attempt on card_payment (account_id, environment, checkout_attempt)
  where checkout_attempt is not null;

-- The payment that a single-use checkout token started last.
create table checkout_use (
  token_id text primary key references token,
  order_code text not null references card_payment
);

-- ── The simulated acquirer's own books ──────────────────────────────────────────────────────────

-- What a real acquirer would keep on its side: it survives a crash of ours. No card number, ever.
create table simulated_charge (
  id text primary key,
  amount_cents bigint not null,
  status text not null check (status in ('pending', 'approved', 'declined', 'refunded', 'void')),
  decline_reason text,
  final_decline boolean not null default false,
  settles_at timestamptz
);
