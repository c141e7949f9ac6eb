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
  -- The language of the payer's page, as a BCP 47 tag; null: the payer's own.
  language text,
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
create index pix_subscription_created on pix_subscription (account_id, environment, created_at, number);
create index pix_subscription_created_by_status
  on pix_subscription (account_id, environment, status, created_at, number);
create index pix_subscription_canceled on pix_subscription (account_id, environment, canceled_at, number)
  where canceled_at is not null;
create index pix_subscription_of_amount on pix_subscription (account_id, environment, amount_cents, number);
create index pix_subscription_of_email on pix_subscription (account_id, environment, (customer ->> 'email'), number)
  where customer ->> 'email' is not null;
create index pix_subscription_of_customer
  on pix_subscription (account_id, environment, (customer ->> 'externalId'), number)
  where customer ->> 'externalId' is not null;

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
