-- Payments by PIX, with the credits that the bank holds for them.

alter table ledger_account drop constraint ledger_account_known;
alter table ledger_account add constraint ledger_account_known check (
  name in (
    'merchant_balance', 'merchant_subaccounts', 'merchant_pending', 'merchant_receivable',
    'refunds_in_transit', 'payouts_in_transit', 'paid_out', 'platform_fees', 'acquirer', 'pix_received', 'received',
    'dispute_hold', 'dispute_claims',
    'merchant_ltc', 'ltc_in_transit', 'ltc_paid_out', 'ltc_received'
  )
);
alter table ledger_account drop constraint ledger_account_sign;
alter table ledger_account add constraint ledger_account_sign check (
  case
    when name in ('merchant_receivable', 'acquirer', 'pix_received', 'received', 'dispute_claims', 'ltc_received')
      then balance <= 0
    else balance >= 0
  end
);

alter table account
  add column pix_enabled boolean not null default true,
  -- The part of each PIX payment that the service keeps.
  add column pix_fee_cents bigint not null default 0;

create table payment (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  payment_id text primary key check (payment_id ~ '^psa_[0-9a-f]{32}$'),
  version integer not null check (version >= 1),
  status text not null check (status in ('pending', 'paid', 'expired', 'refunded', 'failed')),
  method text not null check (method in ('pix')),
  amount_cents bigint not null check (amount_cents > 0),
  fee_cents bigint not null check (fee_cents >= 0 and fee_cents <= amount_cents),
  description text,
  callback_url text,
  customer jsonb,
  metadata text,
  external_id text,
  product_id text,
  success_url text,
  cancel_url text,
  checkout_attempt text,
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
  -- The last credits that were sent back, as the payment shows them; all of them are in pix_credit.
  returned_credits jsonb not null default '[]',
  constraint payment_refunds_fit check (
    refunded_cents >= 0 and refunding_cents >= 0 and refunded_cents + refunding_cents <= amount_cents
  ),
  constraint paid_payment_has_its_credit check ((paid_at is null) = (end_to_end_id is null)),
  constraint paid_payment_has_its_instant check (status not in ('paid', 'refunded') or paid_at is not null),
  constraint failed_payment_has_its_reason check ((status = 'failed') = (failure_reason is not null))
);
create unique index payment_newest on payment (account_id, environment, number);
create index payment_by_method_and_status on payment (account_id, environment, method, status, number);
create index payment_created on payment (account_id, environment, created_at, number);
create index payment_created_by_method_and_status on payment (account_id, environment, method, status, created_at, number);

-- Each credit of the bank, once: accepted where it has no cause, else returned.
create table pix_credit (
  account_id text not null,
  environment environment not null,
  end_to_end_id text not null,
  payment_id text not null,
  amount_cents bigint not null check (amount_cents > 0),
  received_at timestamptz not null,
  cause text check (cause in ('already_paid', 'amount_mismatch', 'not_payable', 'paid_elsewhere')),
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

alter table refund drop constraint refund_resource_check;
-- Not valid: every row that is there names a card payment, and to read them all would keep writers waiting.
alter table refund add constraint refund_resource_check check (resource in ('card_payment', 'payment')) not valid;

-- ── In front of another service ────────────────────────────────────────────────────────────────

alter table observed drop constraint observed_resource_check;
-- Not valid: every row that is there names another resource.
alter table observed add constraint observed_resource_check
  check (resource in ('card_payment', 'payment', 'payout', 'subaccount_payout', 'wallet')) not valid;
-- For lists that are filtered by a period; null for a resource without one.
alter table observed add column created_at timestamptz;

-- ── Its totals, as those of the other lists ─────────────────────────────────────────────────────

create or replace function counted_lists() returns table (list text, parent text, instant text, kind text, status text)
language sql immutable as $$
  values
    ('card_payment', null, null, null, 'status'),
    ('payout', null, 'requested_at', 'method', 'status'),
    ('subaccount', null, null, null, null),
    ('statement_entry', 'subaccount_id', null, null, null),
    ('subaccount_payout', 'subaccount_id', null, null, 'status'),
    ('product', null, null, null, null),
    ('webhook_delivery', null, null, null, 'status'),
    ('observed', 'coalesce(parent, '''')', null, 'resource', 'status'),
    -- By the type of the resource that is refunded: some callers see those of one type alone.
    ('refund', null, null, 'resource', 'status'),
    ('payment', null, 'created_at', 'method', 'status')
$$;

-- The triggers of refunds call the new functions; the next migration counts what there was before.
do $$
declare
  each text;
  event record;
begin
  foreach each in array array['refund', 'payment'] loop
    for event in
      select * from (values
        ('insert', 'new table as added', 'added', list_rows_query(each, 'added', 1)),
        ('delete', 'old table as removed', 'removed', list_rows_query(each, 'removed', -1)),
        ('update', 'new table as added old table as removed', 'added',
          list_rows_query(each, 'added', 1) || ' union all ' || list_rows_query(each, 'removed', -1))
      ) e (name, rows, source, changes)
    loop
      execute format(
        'create or replace function %I() returns trigger language plpgsql as %L',
        'count_' || each || '_' || event.name,
        format(
          'begin if exists (select from %I) then %s; end if; return null; end',
          event.source, add_to_counts_statement(event.changes)
        )
      );
      if each = 'payment' then
        execute format(
          'create trigger %I after %s on payment referencing %s for each statement execute function %I()',
          'payment_counts_' || event.name, event.name, event.rows, 'count_payment_' || event.name
        );
      end if;
    end loop;
  end loop;
end $$;
create trigger payment_counts_truncate after truncate on payment for each statement execute function forget_counts();

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
  refuses_returns boolean not null default false
);

create table simulated_pix_credit (
  end_to_end_id text primary key,
  txid text not null references simulated_pix_code,
  amount_cents bigint not null check (amount_cents > 0),
  -- Not shown before.
  arrives_at timestamptz not null
);
create index simulated_pix_credit_of_code on simulated_pix_credit (txid, arrives_at);

create table simulated_pix_return (
  id text primary key,
  -- Of the credit that is given back.
  end_to_end_id text not null references simulated_pix_credit,
  amount_cents bigint not null check (amount_cents > 0),
  return_end_to_end_id text not null,
  status text not null check (status in ('completed', 'failed'))
);
create index simulated_pix_return_of_credit on simulated_pix_return (end_to_end_id);
