-- Amounts of lists, by hours and days. A dashboard added up the rows that it had loaded; to add up a million took a second.

create table list_amount (
  account_id text not null,
  environment environment not null,
  -- The table.
  list text not null,
  -- The column of the instant by whose periods the rows are added up.
  instant text not null,
  -- The length of the period, which begins at `since`: an hour or a day.
  seconds integer not null,
  since timestamptz not null,
  -- The method of a payment or payout, the kind of a charge, the resource of a refund; '' where a list has no kinds.
  kind text not null,
  status text not null,
  -- No check holds these above 0: between this migration and the next they are what was added since, less what was taken away.
  count bigint not null,
  cents bigint not null,
  primary key (account_id, environment, list, instant, seconds, since, kind, status)
) with (fillfactor = 50);

-- The lists, with their instants and the columns by which each is divided.
create function lists_with_amounts() returns table (list text, instant text, kind text) language sql immutable as $$
  values
    ('card_payment', 'created_at', null),
    ('card_payment', 'paid_at', null),
    ('payment', 'created_at', 'method'),
    ('payment', 'paid_at', 'method'),
    ('charge', 'created_at', 'kind'),
    ('charge', 'paid_at', 'kind'),
    ('refund', 'created_at', 'resource'),
    ('refund', 'completed_at', 'resource'),
    ('payout', 'requested_at', 'method'),
    ('payout', 'processed_at', 'method'),
    ('subaccount_payout', 'created_at', null),
    ('subaccount_payout', 'completed_at', null)
$$;

-- A query for the rows of `source`, which has the columns of the list's table, with the amounts that each belongs to.
create function amount_rows_query(list text, source text, change integer) returns text language sql stable as $$
  select string_agg(
    format(
      'select account_id, environment, %L as list, %L as instant, seconds, since, %s as kind, status, %s as change,
         %s * amount_cents as cents
       from %I cross join lateral (values
         (3600, to_timestamp(floor(extract(epoch from %I) / 3600) * 3600)),
         (86400, to_timestamp(floor(extract(epoch from %I) / 86400) * 86400))
       ) slice (seconds, since)
       where %I is not null',
      l.list, l.instant, coalesce(l.kind, ''''''), change, change, source, l.instant, l.instant, l.instant
    ),
    ' union all '
  )
  from lists_with_amounts() l where l.list = amount_rows_query.list
$$;

-- The statement that adds up the changes which a query like that finds. Rows are locked in one order.
create function add_to_amounts_statement(changes text) returns text language sql immutable as $$
  select format(
    'insert into list_amount as a (account_id, environment, list, instant, seconds, since, kind, status, count, cents)
     select account_id, environment, list, instant, seconds, since, kind, status, sum(change), sum(cents) from (%s) r
     group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(change) <> 0 or sum(cents) <> 0 order by 1, 2, 3, 4, 5, 6, 7, 8
     on conflict (account_id, environment, list, instant, seconds, since, kind, status)
       do update set count = a.count + excluded.count, cents = a.cents + excluded.cents',
    changes
  )
$$;

create function forget_amounts() returns trigger language plpgsql as $$
begin
  delete from list_amount where list = tg_table_name;
  return null;
end $$;

-- Makes the triggers of a list, as 0015 does for its counts: a statement that changes rows changes their amounts too.
create procedure keep_amounts(list text) language plpgsql as $$
declare
  event record;
begin
  for event in
    select * from (values
      ('insert', 'new table as added', 'added', amount_rows_query(list, 'added', 1)),
      ('delete', 'old table as removed', 'removed', amount_rows_query(list, 'removed', -1)),
      ('update', 'new table as added old table as removed', 'added',
        amount_rows_query(list, 'added', 1) || ' union all ' || amount_rows_query(list, 'removed', -1))
    ) e (name, rows, source, changes)
  loop
    execute format(
      'create or replace function %I() returns trigger language plpgsql as %L',
      'add_' || list || '_' || event.name,
      -- What inserts or updates, as most do, calls both, one of them for nothing.
      format(
        'begin if exists (select from %I) then %s; end if; return null; end',
        event.source, add_to_amounts_statement(event.changes)
      )
    );
    execute format(
      'create or replace trigger %I after %s on %I referencing %s for each statement execute function %I()',
      list || '_amounts_' || event.name, event.name, list, event.rows, 'add_' || list || '_' || event.name
    );
  end loop;
  execute format(
    'create or replace trigger %I after truncate on %I for each statement execute function forget_amounts()',
    list || '_amounts_truncate', list
  );
end $$;
-- next
call keep_amounts('card_payment');
-- next
call keep_amounts('payment');
-- next
call keep_amounts('charge');
-- next
call keep_amounts('refund');
-- next
call keep_amounts('payout');
-- next
call keep_amounts('subaccount_payout');
