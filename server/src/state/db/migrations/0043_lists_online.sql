-- What there was before it was counted: the difference between what is there and what the counts say, both as one statement
-- sees them. Changes that are made meanwhile are added beside it. Run again, it finds no difference.
do $$
declare
  each text;
begin
  for each in select list from counted_lists() loop
    execute add_to_counts_statement(format(
      '%s union all select account_id, environment, list, parent, seconds, since, kind, status, -count
       from list_count where list = %L',
      list_rows_query(each, each, 1), each
    ));
    commit;
  end loop;
end $$;
-- next
-- The same of amounts.
do $$
declare
  each text;
begin
  for each in select distinct list from lists_with_amounts() loop
    execute add_to_amounts_statement(format(
      '%s union all select account_id, environment, list, instant, seconds, since, kind, status, -count, -cents
       from list_amount where list = %L',
      amount_rows_query(each, each, 1), each
    ));
    commit;
  end loop;
end $$;
-- next
-- Deliveries of webhooks by their instant and their event.
drop index concurrently if exists webhook_delivery_created;
-- next
create index concurrently webhook_delivery_created on webhook_delivery (account_id, environment, created_at, number);
-- next
drop index concurrently if exists webhook_delivery_created_by_status;
-- next
create index concurrently webhook_delivery_created_by_status
  on webhook_delivery (account_id, environment, status, created_at, number);
-- next
drop index concurrently if exists webhook_delivery_of_event;
-- next
create index concurrently webhook_delivery_of_event on webhook_delivery (account_id, environment, event, number);
