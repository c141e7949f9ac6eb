-- Disputes of payments, with evidence. Before, a dispute was an amount that is held.

alter table dispute
  add column version integer not null default 1 check (version >= 1),
  -- Unknown where the bank gave none, or a server of the version before recorded it.
  add column reason text not null default 'unknown' check (reason in ('fraud', 'operational_error', 'unknown')),
  -- What is disputed; of a card payment `order_code` too, for the version before.
  add column resource text check (resource in ('card_payment', 'payment', 'charge')),
  add column resource_id text,
  -- The submissions, oldest first.
  add column evidence jsonb not null default '[]',
  add column evidence_due_at timestamptz,
  add constraint dispute_names_its_resource check ((resource is null) = (resource_id is null));

-- Not valid, here and below: what is there fulfils it, and to read it all would keep writers waiting.
alter table dispute drop constraint dispute_status_check;
alter table dispute add constraint dispute_status_check
  check (status in ('open', 'under_review', 'won', 'lost', 'forgiven')) not valid;
alter table dispute drop constraint closed_has_its_instant;
alter table dispute add constraint closed_has_its_instant
  check ((status in ('open', 'under_review')) = (closed_at is null)) not valid;

-- Claimed back by the payer's bank, without the disputes that were won: no refund takes it.
alter table card_payment
  add column disputed_cents bigint not null default 0,
  add constraint card_payment_disputes_fit check (
    disputed_cents >= 0 and refunded_cents + refunding_cents + disputed_cents <= amount_cents
  ) not valid;
alter table payment
  add column disputed_cents bigint not null default 0,
  add constraint payment_disputes_fit check (
    disputed_cents >= 0 and refunded_cents + refunding_cents + disputed_cents <= amount_cents
  ) not valid;
alter table charge
  add column disputed_cents bigint not null default 0,
  add constraint charge_disputes_fit check (
    disputed_cents >= 0 and refunded_cents + refunding_cents + disputed_cents <= amount_cents
  ) not valid;

-- ── The claims of the simulated bank ────────────────────────────────────────────────────────────

alter table simulated_pix_code
  -- What the payer's bank does a minute after a payment by this code, and what the banks decide; null: nothing.
  add column claims text check (claims in ('undecided', 'won', 'lost'));

-- ── In front of another service ────────────────────────────────────────────────────────────────

alter table observed drop constraint observed_resource_check;
alter table observed add constraint observed_resource_check
  check (resource in ('card_payment', 'charge', 'dispute', 'payment', 'payout', 'subaccount_payout', 'wallet')) not valid;

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
    ('charge', null, 'created_at', 'kind', 'status'),
    ('dispute', null, null, null, 'status')
$$;

do $$
declare
  event record;
begin
  for event in
    select * from (values
      ('insert', 'new table as added', 'added', list_rows_query('dispute', 'added', 1)),
      ('delete', 'old table as removed', 'removed', list_rows_query('dispute', 'removed', -1)),
      ('update', 'new table as added old table as removed', 'added',
        list_rows_query('dispute', 'added', 1) || ' union all ' || list_rows_query('dispute', 'removed', -1))
    ) e (name, rows, source, changes)
  loop
    execute format(
      'create function %I() returns trigger language plpgsql as %L',
      'count_dispute_' || event.name,
      format(
        'begin if exists (select from %I) then %s; end if; return null; end',
        event.source, add_to_counts_statement(event.changes)
      )
    );
    execute format(
      'create trigger %I after %s on dispute referencing %s for each statement execute function %I()',
      'dispute_counts_' || event.name, event.name, event.rows, 'count_dispute_' || event.name
    );
  end loop;
end $$;
create trigger dispute_counts_truncate after truncate on dispute for each statement execute function forget_counts();
