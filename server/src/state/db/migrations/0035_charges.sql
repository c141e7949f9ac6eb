-- Charges by PIX, also split between subaccounts.
create table charge (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  charge_id text primary key check (charge_id ~ '^(psc|psplit)_[0-9a-f]{32}$'),
  kind text not null check (kind in ('single', 'split')),
  version integer not null check (version >= 1),
  status text not null check (status in ('pending', 'paid', 'expired', 'refunded', 'failed')),
  amount_cents bigint not null check (amount_cents > 0),
  fee_cents bigint not null check (fee_cents >= 0 and fee_cents <= amount_cents),
  description text,
  metadata text,
  -- PIX Copia e Cola; null until the bank has given it.
  br_code text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  paid_late boolean not null default false,
  end_to_end_id text,
  refunded_at timestamptz,
  refunded_cents bigint not null default 0,
  refunding_cents bigint not null default 0,
  refund_count integer not null default 0,
  failure_reason text,
  -- The last credits that were sent back, as the charge shows them; all of them are in pix_credit.
  returned_credits jsonb not null default '[]',
  -- The parts of the beneficiaries, and what refunds have taken of each.
  splits jsonb not null default '[]',
  -- The parts that refunds under way have taken: a failed one gives exactly these back.
  refund_parts jsonb not null default '[]',
  -- Claimed back by the payer's bank, without the disputes that were won: no refund takes it.
  disputed_cents bigint not null default 0,
  -- The merchant's own number.
  external_id text,
  -- The language of the payer's page, as a BCP 47 tag; null: the payer's own.
  language text,
  -- When the merchant canceled a pending one.
  canceled_at timestamptz,
  constraint charge_refunds_fit check (
    refunded_cents >= 0 and refunding_cents >= 0 and refunded_cents + refunding_cents <= amount_cents
  ),
  constraint charge_disputes_fit check (
    disputed_cents >= 0 and refunded_cents + refunding_cents + disputed_cents <= amount_cents
  ),
  constraint charge_is_of_its_kind check (
    (kind = 'split') = (charge_id ~ '^psplit_') and (kind = 'split') = (splits <> '[]')
  ),
  constraint split_charge_has_no_metadata check (kind = 'single' or metadata is null),
  constraint paid_charge_has_its_credit check ((paid_at is null) = (end_to_end_id is null)),
  constraint paid_charge_has_its_instant check (status not in ('paid', 'refunded') or paid_at is not null),
  constraint failed_charge_has_its_reason check ((status = 'failed') = (failure_reason is not null))
);
create unique index charge_newest on charge (account_id, environment, number);
create index charge_by_kind_and_status on charge (account_id, environment, kind, status, number);
create index charge_created on charge (account_id, environment, created_at, number);
create index charge_created_by_kind_and_status on charge (account_id, environment, kind, status, created_at, number);
-- Lists by what a charge is called, what it is worth, and its instants: newest first.
create index charge_of_external_id
  on charge (account_id, environment, external_id, number)
  where external_id is not null;
create index charge_of_amount
  on charge (account_id, environment, amount_cents, number);
create index charge_paid
  on charge (account_id, environment, paid_at, number)
  where paid_at is not null;
create index charge_refunded
  on charge (account_id, environment, refunded_at, number)
  where refunded_at is not null;
create index charge_of_end_to_end_id
  on charge (account_id, environment, end_to_end_id, number)
  where end_to_end_id is not null;
