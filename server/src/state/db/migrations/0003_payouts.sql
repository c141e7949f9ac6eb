-- Payouts of the main account, and the simulated bank that sends every payout.

-- ── Payouts (the document calls them withdrawals) ───────────────────────────────────────────────

create table payout (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null references account,
  environment environment not null,
  withdrawal_id text primary key check (withdrawal_id ~ '^[0-9a-f]{24}$'),
  code text not null unique,
  version integer not null check (version >= 1),
  method text not null check (method in ('pix', 'pix_turbo', 'ltc', 'usd')),
  status text not null check (status in ('pending', 'processing', 'completed', 'denied')),
  amount_cents bigint not null,
  fee_cents bigint not null check (fee_cents >= 0),
  -- What an LTC payout takes from the LTC balance, fee included.
  litoshi bigint check (litoshi > 0),
  -- PIX key or address, in its normal form and whole: it is masked where it is shown.
  destination text not null,
  requested_at timestamptz not null,
  processed_at timestamptz,
  denied_reason text,
  -- The bank's identifier of a PIX.
  end_to_end_id text,
  constraint payout_pays_something check (amount_cents > fee_cents),
  constraint ltc_is_counted_in_litoshi check ((method = 'ltc') = (litoshi is not null)),
  constraint processing_is_turbo check (status <> 'processing' or method = 'pix_turbo'),
  constraint processed_has_its_instant check ((status in ('completed', 'denied')) = (processed_at is not null)),
  constraint denied_has_its_reason check ((status = 'denied') = (denied_reason is not null)),
  constraint sandbox_denies_nothing check (environment = 'live' or status <> 'denied')
);
create unique index payout_newest on payout (account_id, environment, number);
create index payout_by_status on payout (account_id, environment, status, number);
create index payout_by_request on payout (account_id, environment, requested_at);
-- The hourly limit looks at the newest turbo payouts.
create index payout_turbo on payout (account_id, environment, number) where method = 'pix_turbo';

-- ── The simulated bank's own books ──────────────────────────────────────────────────────────────

-- What a real bank would keep on its side: it survives a crash of ours. Of the main account and of subaccounts.
create table simulated_transfer (
  number bigint generated always as identity,
  id text primary key,
  account_id text not null,
  environment environment not null,
  method text not null check (method in ('pix', 'pix_turbo', 'ltc', 'usd')),
  destination text not null,
  amount_cents bigint not null,
  litoshi bigint,
  received_at timestamptz not null,
  -- In verification until then; null where it never was, or is no longer.
  held_until timestamptz,
  -- From then on its outcome holds for good.
  settles_at timestamptz not null,
  outcome text not null check (outcome in ('complete', 'deny', 'refuse')),
  reason text,
  end_to_end_id text,
  constraint no_outcome_without_reason check ((outcome = 'complete') = (reason is null))
);
create unique index simulated_transfer_newest on simulated_transfer (number);
