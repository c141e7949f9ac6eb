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
  constraint charge_refunds_fit check (
    refunded_cents >= 0 and refunding_cents >= 0 and refunded_cents + refunding_cents <= amount_cents
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

-- Not valid, here and below: what is there has one of the earlier values, and to read it all would keep writers waiting.
alter table refund drop constraint refund_resource_check;
alter table refund add constraint refund_resource_check
  check (resource in ('card_payment', 'payment', 'charge')) not valid;

-- ── The statements of beneficiaries ─────────────────────────────────────────────────────────────

alter table statement_entry drop constraint statement_entry_kind_check;
alter table statement_entry add constraint statement_entry_kind_check
  check (kind in ('transfer_in', 'payout', 'payout_reversal', 'split_in', 'split_reversal')) not valid;
alter table statement_entry drop constraint entry_has_its_sign;
alter table statement_entry add constraint entry_has_its_sign
  check (amount_cents <> 0 and (amount_cents < 0) = (kind in ('payout', 'split_reversal'))) not valid;

-- ── In front of another service ────────────────────────────────────────────────────────────────

alter table observed drop constraint observed_resource_check;
alter table observed add constraint observed_resource_check
  check (resource in ('card_payment', 'charge', 'payment', 'payout', 'subaccount_payout', 'wallet')) not valid;

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
    ('refund', null, null, 'resource', 'status'),
    ('payment', null, 'created_at', 'method', 'status'),
    ('charge', null, 'created_at', 'kind', 'status')
$$;

do $$
declare
  event record;
begin
  for event in
    select * from (values
      ('insert', 'new table as added', 'added', list_rows_query('charge', 'added', 1)),
      ('delete', 'old table as removed', 'removed', list_rows_query('charge', 'removed', -1)),
      ('update', 'new table as added old table as removed', 'added',
        list_rows_query('charge', 'added', 1) || ' union all ' || list_rows_query('charge', 'removed', -1))
    ) e (name, rows, source, changes)
  loop
    execute format(
      'create function %I() returns trigger language plpgsql as %L',
      'count_charge_' || event.name,
      format(
        'begin if exists (select from %I) then %s; end if; return null; end',
        event.source, add_to_counts_statement(event.changes)
      )
    );
    execute format(
      'create trigger %I after %s on charge referencing %s for each statement execute function %I()',
      'charge_counts_' || event.name, event.name, event.rows, 'count_charge_' || event.name
    );
  end loop;
end $$;
create trigger charge_counts_truncate after truncate on charge for each statement execute function forget_counts();
