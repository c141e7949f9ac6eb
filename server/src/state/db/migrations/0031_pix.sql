-- What PIX codes pay: the credits that the bank holds for them, and whose order they have paid.

-- Each credit of the bank, once: accepted where it has no cause, else returned.
create table pix_credit (
  account_id text not null,
  environment environment not null,
  end_to_end_id text not null,
  payment_id text not null,
  amount_cents bigint not null check (amount_cents > 0),
  received_at timestamptz not null,
  cause text check (cause in ('already_paid', 'amount_mismatch', 'canceled', 'not_payable', 'paid_elsewhere')),
  returned_at timestamptz,
  -- The number of times that the bank has refused to send it back.
  failed_returns integer not null default 0,
  primary key (account_id, environment, end_to_end_id),
  constraint accepted_credit_is_not_returned check (cause is not null or returned_at is null)
);

-- The payment that closed each order: an attempt of a checkout, or a number of the merchant's.
create table pix_paid_order (
  account_id text not null,
  environment environment not null,
  kind text not null check (kind in ('attempt', 'external_id')),
  name text not null,
  payment_id text not null,
  paid_at timestamptz not null,
  primary key (account_id, environment, kind, name)
);

-- The last PIX payment of a single-use token.
create table pix_checkout_use (
  token_id text primary key,
  payment_id text not null
);

-- ── The simulated bank's own books ──────────────────────────────────────────────────────────────

create table simulated_pix_code (
  txid text primary key,
  account_id text not null,
  environment environment not null,
  amount_cents bigint not null check (amount_cents > 0),
  -- Null where the bank refused it.
  br_code text,
  refusal text,
  -- The bank does not answer before.
  registered_at timestamptz not null,
  expires_at timestamptz not null,
  -- Each return of a credit is refused.
  refuses_returns boolean not null default false,
  -- What the payer's bank does a minute after a payment by this code, and what the banks decide; null: nothing.
  claims text check (claims in ('undecided', 'won', 'lost')),
  is_recurrence boolean not null default false,
  -- The attempts of each cycle that the payer's bank refuses, for the payers that do so by themselves.
  refused_attempts text check (refused_attempts in ('first', 'all')),
  -- When the recurrence was ended, and by whom.
  ended_at timestamptz,
  ended_by text check (ended_by in ('merchant', 'payer')),
  -- The payer's bank completes each return of a credit after a while.
  delays_returns boolean not null default false
);

create table simulated_pix_credit (
  end_to_end_id text primary key,
  txid text not null references simulated_pix_code,
  amount_cents bigint not null check (amount_cents > 0),
  -- Not shown before.
  arrives_at timestamptz not null,
  -- The attempt that has brought it; null where the payer has paid the code itself.
  debit_id text
);
create index simulated_pix_credit_of_code on simulated_pix_credit (txid, arrives_at);
-- The attempts of a recurrence that are reported, without those that were recalled.
create index simulated_pix_credit_of_debit on simulated_pix_credit (debit_id) where debit_id is not null;

create table simulated_pix_return (
  id text primary key,
  -- Of the credit that is given back.
  end_to_end_id text not null references simulated_pix_credit,
  amount_cents bigint not null check (amount_cents > 0),
  return_end_to_end_id text not null,
  status text not null check (status in ('completed', 'failed')),
  -- The instant from which the bank shows it as completed; null: at once.
  settles_at timestamptz
);
create index simulated_pix_return_of_credit on simulated_pix_return (end_to_end_id);

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
