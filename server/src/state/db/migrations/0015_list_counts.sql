-- Totals of lists. To count a million rows took half a second, for each page that shows a total.

create table list_count (
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
create function counted_lists() returns table (list text, parent text, instant text, kind text, status text)
language sql immutable as $$
  values
    ('card_payment', null, null, null, 'status'),
    ('payout', null, 'requested_at', 'method', 'status'),
    ('subaccount', null, null, null, null),
    ('statement_entry', 'subaccount_id', null, null, null),
    ('subaccount_payout', 'subaccount_id', null, null, 'status'),
    ('product', null, null, null, null),
    ('webhook_delivery', null, null, null, 'status'),
    ('observed', 'coalesce(parent, '''')', null, 'resource', 'status')
$$;

-- Everything below makes SQL out of these columns, so that it is written once.

-- A query for the rows of `source`, which has the columns of the list's table, with the counts that each belongs to.
create function list_rows_query(list text, source text, change integer) returns text language sql stable as $$
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
create function add_to_counts_statement(changes text) returns text language sql immutable as $$
  select format(
    'insert into list_count as c (account_id, environment, list, parent, seconds, since, kind, status, count)
     select account_id, environment, list, parent, seconds, since, kind, status, sum(change) from (%s) r
     group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(change) <> 0 order by 1, 2, 3, 4, 5, 6, 7, 8
     on conflict (account_id, environment, list, parent, seconds, since, kind, status)
       do update set count = c.count + excluded.count',
    changes
  )
$$;

create function forget_counts() returns trigger language plpgsql as $$
begin
  delete from list_count where list = tg_table_name;
  return null;
end $$;

-- A statement that changes a list changes its counts too, and a crash undoes both. The rows of a tenant change
-- under its lock, so its counts make nobody wait who would not wait anyway.
do $$
declare
  each record;
  event record;
begin
  for each in select * from counted_lists() loop
    for event in
      select * from (values
        ('insert', 'new table as added', 'added', list_rows_query(each.list, 'added', 1)),
        ('delete', 'old table as removed', 'removed', list_rows_query(each.list, 'removed', -1)),
        ('update', 'new table as added old table as removed', 'added',
          list_rows_query(each.list, 'added', 1) || ' union all ' || list_rows_query(each.list, 'removed', -1))
      ) e (name, rows, source, changes)
      -- But for a status, what a row is counted by never changes.
      where name <> 'update' or each.status is not null
    loop
      execute format(
        'create function %I() returns trigger language plpgsql as %L',
        'count_' || each.list || '_' || event.name,
        -- What inserts or updates, as most do, calls both, one of them for nothing.
        format(
          'begin if exists (select from %I) then %s; end if; return null; end',
          event.source, add_to_counts_statement(event.changes)
        )
      );
      execute format(
        'create trigger %I after %s on %I referencing %s for each statement execute function %I()',
        each.list || '_counts_' || event.name, event.name, each.list, event.rows, 'count_' || each.list || '_' || event.name
      );
    end loop;
    execute format(
      'create trigger %I after truncate on %I for each statement execute function forget_counts()',
      each.list || '_counts_truncate', each.list
    );
  end loop;
end $$;
