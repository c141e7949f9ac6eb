-- Content of products by its stock: out of stock, low, and the rest. Each is a list of its own, so that no other list is read by
-- these indexes.
drop index concurrently if exists delivery_ready;
-- next
create unique index concurrently delivery_ready on delivery (account_id, environment, number)
  where deleted_at is null and (remaining_count is null or remaining_count > 5);
-- next
drop index concurrently if exists delivery_low;
-- next
create unique index concurrently delivery_low on delivery (account_id, environment, number)
  where deleted_at is null and remaining_count > 0 and remaining_count <= 5;
-- next
drop index concurrently if exists delivery_empty;
-- next
create unique index concurrently delivery_empty on delivery (account_id, environment, number)
  where deleted_at is null and remaining_count = 0;
