-- Refunds of card payments, whole and in parts.

alter table ledger_account drop constraint ledger_account_known;
alter table ledger_account add constraint ledger_account_known check (
  name in (
    'merchant_balance', 'merchant_subaccounts', 'merchant_pending', 'merchant_receivable',
    'refunds_in_transit', 'payouts_in_transit', 'paid_out', 'platform_fees', 'acquirer', 'received',
    'dispute_hold', 'dispute_claims',
    'merchant_ltc', 'ltc_in_transit', 'ltc_paid_out', 'ltc_received'
  )
);

-- A payment that the version before has refunded says so by its status alone.
alter table card_payment
  -- Given back, and held by refunds whose end is not known yet.
  add column refunded_cents bigint not null default 0,
  add column refunding_cents bigint not null default 0,
  -- Those that a merchant has requested.
  add column refund_count integer not null default 0,
  -- Not valid: the rows that are there have no refunds, and to read them all would keep writers waiting.
  add constraint refunds_fit check (
    refunded_cents >= 0 and refunding_cents >= 0 and refunded_cents + refunding_cents <= amount_cents
  ) not valid;

create table refund (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  refund_id text primary key check (refund_id ~ '^ref_[0-9a-f]{24}$'),
  version integer not null check (version >= 1),
  status text not null check (status in ('processing', 'completed', 'failed')),
  -- The refunded resource.
  resource text not null check (resource in ('card_payment')),
  resource_id text not null,
  amount_cents bigint not null check (amount_cents > 0),
  reason text,
  -- Begun by the service and not by the merchant: it is repeated until it is completed.
  automatic boolean not null,
  -- The charge at the acquirer that it gives back.
  charge_id text not null,
  end_to_end_id text,
  failure_reason text,
  created_at timestamptz not null,
  completed_at timestamptz,
  constraint completed_refund_has_its_instant check ((status = 'completed') = (completed_at is not null)),
  constraint failed_refund_has_its_reason check ((status = 'failed') = (failure_reason is not null))
);
create unique index refund_newest on refund (account_id, environment, number);
create index refund_by_status on refund (account_id, environment, status, number);
create index refund_of_resource on refund (account_id, environment, resource, resource_id, number);

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
    ('refund', null, null, null, 'status')
$$;

do $$
declare
  event record;
begin
  for event in
    select * from (values
      ('insert', 'new table as added', 'added', list_rows_query('refund', 'added', 1)),
      ('delete', 'old table as removed', 'removed', list_rows_query('refund', 'removed', -1)),
      ('update', 'new table as added old table as removed', 'added',
        list_rows_query('refund', 'added', 1) || ' union all ' || list_rows_query('refund', 'removed', -1))
    ) e (name, rows, source, changes)
  loop
    execute format(
      'create function %I() returns trigger language plpgsql as %L',
      'count_refund_' || event.name,
      format(
        'begin if exists (select from %I) then %s; end if; return null; end',
        event.source, add_to_counts_statement(event.changes)
      )
    );
    execute format(
      'create trigger %I after %s on refund referencing %s for each statement execute function %I()',
      'refund_counts_' || event.name, event.name, event.rows, 'count_refund_' || event.name
    );
  end loop;
end $$;
create trigger refund_counts_truncate after truncate on refund for each statement execute function forget_counts();

-- ── The simulated acquirer's own books ──────────────────────────────────────────────────────────

-- What the card of a charge does with its refunds; null: they are completed at once.
alter table simulated_charge add column refunds text check (refunds in ('later', 'fail'));

create table simulated_refund (
  id text primary key,
  charge_id text not null references simulated_charge,
  amount_cents bigint not null check (amount_cents > 0),
  status text not null check (status in ('pending', 'completed', 'failed')),
  settles_at timestamptz
);
create index simulated_refund_of_charge on simulated_refund (charge_id);
