-- Totals of lists. To count a million rows took half a second, for each page that shows a total.

create table if not exists list_count (
  account_id text not null,
  environment environment not null,
  -- The table.
  list text not null,
  -- The subaccount that the rows belong to; '' where they belong to the tenant alone.
  parent text not null,
  -- The length of the period that is counted, which begins at `since`; 0: all there are.
  seconds integer not null,
  since timestamptz not null,
  -- The method of a payout, the resource of what was observed; '' where a list has no kinds.
  kind text not null,
  status text not null,
  -- No check holds it above 0: between this migration and the next it is what was added since, less what was taken away.
  count bigint not null,
  primary key (account_id, environment, list, parent, seconds, since, kind, status)
) with (fillfactor = 50);

-- The lists, and the columns by which each is counted.
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
    ('payment', null, 'created_at', 'method', 'status'),
    ('charge', null, 'created_at', 'kind', 'status'),
    ('dispute', null, null, null, 'status'),
    ('pix_subscription', null, null, null, 'status'),
    ('payment_return', null, null, 'resource', null)
$$;

-- Everything below makes SQL out of these columns, so that it is written once.

-- A query for the rows of `source`, which has the columns of the list's table, with the counts that each belongs to.
create or replace function list_rows_query(list text, source text, change integer) returns text language sql stable as $$
  select format(
    'select account_id, environment, %L as list, %s as parent, seconds, since, %s as kind, %s as status, %s as change
     from %I cross join lateral (%s) slice (seconds, since)',
    l.list, coalesce(l.parent, ''''''), coalesce(l.kind, ''''''), coalesce(l.status, ''''''), change, source,
    'values (0, timestamptz ''epoch'')' || case when l.instant is null then '' else (
      -- An hour, a day, 32 days.
      select string_agg(
        format(', (%1$s, to_timestamp(floor(extract(epoch from %2$I) / %1$s) * %1$s))', seconds, l.instant), ''
      )
      from (values (3600), (86400), (2764800)) slice (seconds)
    ) end
  )
  from counted_lists() l where l.list = list_rows_query.list
$$;

-- The statement that adds up the changes which a query like that finds. Rows are locked in one order.
create or replace function add_to_counts_statement(changes text) returns text language sql immutable as $$
  select format(
    'insert into list_count as c (account_id, environment, list, parent, seconds, since, kind, status, count)
     select account_id, environment, list, parent, seconds, since, kind, status, sum(change) from (%s) r
     group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(change) <> 0 order by 1, 2, 3, 4, 5, 6, 7, 8
     on conflict (account_id, environment, list, parent, seconds, since, kind, status)
       do update set count = c.count + excluded.count',
    changes
  )
$$;

create or replace function forget_counts() returns trigger language plpgsql as $$
begin
  delete from list_count where list = tg_table_name;
  return null;
end $$;

-- Makes the triggers of a list: a statement that changes the list changes its `sums` too, which are its counts or its amounts, and a
-- crash undoes both. The rows of a tenant change under its lock, so its sums make nobody wait who would not wait anyway. `updated`
-- is null for a list whose rows never change in what they are summed by.
create or replace procedure follow_list(list text, sums text, verb text, inserted text, deleted text, updated text)
language plpgsql as $$
declare
  event record;
begin
  for event in
    select * from (values
      ('insert', 'new table as added', 'added', inserted),
      ('delete', 'old table as removed', 'removed', deleted),
      ('update', 'new table as added old table as removed', 'added', updated)
    ) e (name, rows, source, statement)
    where statement is not null
  loop
    execute format(
      'create or replace function %I() returns trigger language plpgsql as %L',
      verb || '_' || list || '_' || event.name,
      -- What inserts or updates, as most do, calls both, one of them for nothing.
      format('begin if exists (select from %I) then %s; end if; return null; end', event.source, event.statement)
    );
    execute format(
      'create or replace trigger %I after %s on %I referencing %s for each statement execute function %I()',
      list || '_' || sums || '_' || event.name, event.name, list, event.rows, verb || '_' || list || '_' || event.name
    );
  end loop;
  execute format(
    'create or replace trigger %I after truncate on %I for each statement execute function %I()',
    list || '_' || sums || '_truncate', list, 'forget_' || sums
  );
end $$;

-- But for a status, what a row is counted by never changes.
create or replace procedure count_list(counted text) language plpgsql as $$
declare
  added text := list_rows_query(counted, 'added', 1);
  removed text := list_rows_query(counted, 'removed', -1);
  updated text := (
    select add_to_counts_statement(added || ' union all ' || removed)
    from counted_lists() where list = counted and status is not null
  );
begin
  call follow_list(
    counted, 'counts', 'count', add_to_counts_statement(added), add_to_counts_statement(removed), updated
  );
end $$;

-- Amounts of lists, by hours and days. A dashboard added up the rows that it had loaded; to add up a million took a second.

create table if not exists list_amount (
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
create or replace function lists_with_amounts() returns table (list text, instant text, kind text) language sql immutable as $$
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
create or replace function amount_rows_query(list text, source text, change integer) returns text language sql stable as $$
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
create or replace function add_to_amounts_statement(changes text) returns text language sql immutable as $$
  select format(
    'insert into list_amount as a (account_id, environment, list, instant, seconds, since, kind, status, count, cents)
     select account_id, environment, list, instant, seconds, since, kind, status, sum(change), sum(cents) from (%s) r
     group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(change) <> 0 or sum(cents) <> 0 order by 1, 2, 3, 4, 5, 6, 7, 8
     on conflict (account_id, environment, list, instant, seconds, since, kind, status)
       do update set count = a.count + excluded.count, cents = a.cents + excluded.cents',
    changes
  )
$$;

create or replace function forget_amounts() returns trigger language plpgsql as $$
begin
  delete from list_amount where list = tg_table_name;
  return null;
end $$;

create or replace procedure keep_amounts(list text) language plpgsql as $$
declare
  added text := amount_rows_query(list, 'added', 1);
  removed text := amount_rows_query(list, 'removed', -1);
begin
  call follow_list(
    list, 'amounts', 'add', add_to_amounts_statement(added), add_to_amounts_statement(removed),
    add_to_amounts_statement(added || ' union all ' || removed)
  );
end $$;
-- next
call count_list('card_payment');
call keep_amounts('card_payment');
-- next
call count_list('payout');
call keep_amounts('payout');
-- next
call count_list('subaccount');
-- next
call count_list('statement_entry');
-- next
call count_list('subaccount_payout');
call keep_amounts('subaccount_payout');
-- next
call count_list('product');
-- next
call count_list('webhook_delivery');
-- next
call count_list('observed');
-- next
call count_list('dispute');
-- next
-- These tables are new: nobody waits for them.
call count_list('refund');
call keep_amounts('refund');
call count_list('payment');
call keep_amounts('payment');
call count_list('charge');
call keep_amounts('charge');
call count_list('pix_subscription');
call count_list('payment_return');
