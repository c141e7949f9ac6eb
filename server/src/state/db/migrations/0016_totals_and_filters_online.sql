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
-- Payouts of some methods and statuses are read as so many lists, each in order by an index, and merged: by one index in the
-- order of their numbers, by another in the order of the instants at which they were requested.
drop index concurrently if exists payout_by_method_and_status;
-- next
create index concurrently payout_by_method_and_status on payout (account_id, environment, method, status, number);
-- next
drop index concurrently if exists payout_requested;
-- next
create index concurrently payout_requested on payout (account_id, environment, requested_at, number);
-- next
drop index concurrently if exists payout_requested_by_method_and_status;
-- next
create index concurrently payout_requested_by_method_and_status
  on payout (account_id, environment, method, status, requested_at, number);
-- next
-- These two do what the new ones do, for fewer filters.
drop index concurrently if exists payout_by_status;
-- next
drop index concurrently if exists payout_by_request;
-- next
drop index concurrently if exists event_of_topic;
-- next
-- Behind a cursor lay all that had happened to other kinds of resource, where the log was followed for one kind alone.
create index concurrently event_of_topic on event (account_id, environment, resource, version);
-- next
drop index concurrently if exists observed_by_status;
-- next
create index concurrently observed_by_status on observed (account_id, environment, resource, status, number);
-- next
drop index concurrently if exists observed_of_parent_by_status;
-- next
create index concurrently observed_of_parent_by_status
  on observed (account_id, environment, resource, parent, status, number) where parent is not null;
