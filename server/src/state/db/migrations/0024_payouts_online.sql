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
-- Payouts by what they are called, what they are worth, and when they ended: newest first.
drop index concurrently if exists payout_of_external_id;
-- next
create index concurrently payout_of_external_id
  on payout (account_id, environment, external_id, number)
  where external_id is not null;
-- next
drop index concurrently if exists payout_of_amount;
-- next
create index concurrently payout_of_amount
  on payout (account_id, environment, amount_cents, number);
-- next
drop index concurrently if exists payout_processed;
-- next
create index concurrently payout_processed
  on payout (account_id, environment, processed_at, number)
  where processed_at is not null;
-- next
drop index concurrently if exists payout_of_end_to_end_id;
-- next
create index concurrently payout_of_end_to_end_id
  on payout (account_id, environment, end_to_end_id, number)
  where end_to_end_id is not null;
