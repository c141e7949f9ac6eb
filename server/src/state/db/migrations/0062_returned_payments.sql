-- A payment whose money is returned to its payer has failed, and names the payment of its order that was kept.
alter table card_payment
  add column if not exists returned boolean not null default false,
  add column if not exists kept_payment text;
-- next
alter table payment
  add column if not exists returned boolean not null default false,
  add column if not exists kept_payment text;
-- next
-- Not valid: every row that is there has another cause, and to read them all would keep writers waiting.
alter table pix_credit drop constraint if exists pix_credit_cause_check;
alter table pix_credit add constraint pix_credit_cause_check check (
  cause in ('already_paid', 'amount_mismatch', 'canceled', 'not_payable', 'paid_elsewhere')
) not valid;
-- next
-- Money that came for a payment, and is returned to its payer: each once.
create table if not exists payment_return (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  return_id text not null check (return_id ~ '^ret_[0-9a-f]{24}$'),
  -- What the money came for.
  resource text not null check (resource in ('card_payment', 'payment', 'charge', 'subscription')),
  resource_id text not null,
  external_id text,
  amount_cents bigint not null check (amount_cents > 0),
  cause text not null check (
    cause in ('already_paid', 'amount_mismatch', 'canceled', 'not_payable', 'paid_elsewhere')
  ),
  -- The payment of the same order that was kept.
  kept_payment text,
  -- The rail's name of what came: the charge of a card, or the end-to-end id of a PIX.
  rail_id text not null,
  received_at timestamptz not null,
  -- Null while the rail is sending it back.
  returned_at timestamptz,
  -- The number of times that the rail has refused to send it back.
  failed_returns integer not null default 0,
  primary key (account_id, environment, return_id)
);
create unique index if not exists payment_return_newest on payment_return (account_id, environment, number);
create index if not exists payment_return_by_resource on payment_return (account_id, environment, resource, number);
create index if not exists payment_return_of_order on payment_return (account_id, environment, external_id, number)
  where external_id is not null;
-- next
-- The lists that are counted today, and returns too.
do $$
declare
  lists text;
  event record;
begin
  select string_agg(distinct format('(%L, %L, %L, %L, %L)', list, parent, instant, kind, status), ', ') into lists
  from (
    select list, parent, instant, kind, status from counted_lists()
    union all
    select 'payment_return', null, null, 'resource', null
  ) counted;
  execute format(
    'create or replace function counted_lists() returns table (list text, parent text, instant text, kind text, status text)
     language sql immutable as %L',
    'values ' || lists
  );
  for event in
    select * from (values
      ('insert', 'new table as added', 'added', list_rows_query('payment_return', 'added', 1)),
      ('delete', 'old table as removed', 'removed', list_rows_query('payment_return', 'removed', -1)),
      ('update', 'new table as added old table as removed', 'added',
        list_rows_query('payment_return', 'added', 1) || ' union all '
          || list_rows_query('payment_return', 'removed', -1))
    ) e (name, rows, source, changes)
  loop
    execute format(
      'create or replace function %I() returns trigger language plpgsql as %L',
      'count_payment_return_' || event.name,
      format(
        'begin if exists (select from %I) then %s; end if; return null; end',
        event.source, add_to_counts_statement(event.changes)
      )
    );
    execute format(
      'create or replace trigger %I after %s on payment_return referencing %s for each statement execute function %I()',
      'payment_return_counts_' || event.name, event.name, event.rows, 'count_payment_return_' || event.name
    );
  end loop;
end $$;
create or replace trigger payment_return_counts_truncate
  after truncate on payment_return for each statement execute function forget_counts();
