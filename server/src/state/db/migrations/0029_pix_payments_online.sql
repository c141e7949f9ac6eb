-- The mirror's payments of a period, of all methods and statuses, and of some.
drop index concurrently if exists observed_created;
-- next
create index concurrently observed_created on observed (account_id, environment, resource, created_at, number)
  where created_at is not null;
-- next
drop index concurrently if exists observed_created_by_parent_and_status;
-- next
create index concurrently observed_created_by_parent_and_status
  on observed (account_id, environment, resource, parent, status, created_at, number) where created_at is not null;
-- next
-- Refunds of one type of resource, in the order of their numbers.
drop index concurrently if exists refund_by_resource_and_status;
-- next
create index concurrently refund_by_resource_and_status on refund (account_id, environment, resource, status, number);
-- next
-- It does what the new one does, for fewer filters.
drop index concurrently if exists refund_by_status;
-- next
-- What there was before it was counted by its resource: the difference between what is there and what the counts say, both as
-- one statement sees them. Run again, it finds no difference.
do $$
begin
  execute add_to_counts_statement(format(
    '%s union all select account_id, environment, list, parent, seconds, since, kind, status, -count
     from list_count where list = %L',
    list_rows_query('refund', 'refund', 1), 'refund'
  ));
  commit;
end $$;
