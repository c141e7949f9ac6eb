-- A statement and the payouts of a subaccount, newest first. These indexes began with the subaccount. Without statistics, and
-- with those of many short lists, PostgreSQL took one that begins with the tenant, and sorted the whole list for a page.
drop index concurrently if exists statement_entry_of_subaccount;
-- next
create unique index concurrently statement_entry_of_subaccount
  on statement_entry (account_id, environment, subaccount_id, number);
-- next
drop index concurrently if exists statement_entry_newest;
-- next
drop index concurrently if exists subaccount_payout_of_status;
-- next
create index concurrently subaccount_payout_of_status
  on subaccount_payout (account_id, environment, subaccount_id, status, number);
-- next
drop index concurrently if exists subaccount_payout_by_status;
-- next
drop index concurrently if exists subaccount_payout_of_subaccount;
-- next
create unique index concurrently subaccount_payout_of_subaccount
  on subaccount_payout (account_id, environment, subaccount_id, number);
-- next
drop index concurrently if exists subaccount_payout_newest;
