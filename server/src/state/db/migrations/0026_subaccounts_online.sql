-- The beneficiaries of one split charge have an entry of one kind and one reference each.
drop index concurrently if exists statement_entry_of_reference;
-- next
create unique index concurrently statement_entry_of_reference
  on statement_entry (account_id, environment, kind, ref_id, subaccount_id);
-- next
-- Statements by kind, by instant and by amount, which is asked for without its sign.
drop index concurrently if exists statement_entry_by_kind;
-- next
create index concurrently statement_entry_by_kind
  on statement_entry (account_id, environment, subaccount_id, kind, created_at, number);
-- next
drop index concurrently if exists statement_entry_of_amount;
-- next
create index concurrently statement_entry_of_amount
  on statement_entry (account_id, environment, subaccount_id, abs(amount_cents), number);
-- next
-- Payouts of a subaccount by number, bank's identifier, amount and instants.
drop index concurrently if exists subaccount_payout_of_external_id;
-- next
create index concurrently subaccount_payout_of_external_id
  on subaccount_payout (account_id, environment, subaccount_id, external_id, number)
  where external_id is not null;
-- next
drop index concurrently if exists subaccount_payout_of_end_to_end_id;
-- next
create index concurrently subaccount_payout_of_end_to_end_id
  on subaccount_payout (account_id, environment, subaccount_id, end_to_end_id, number)
  where end_to_end_id is not null;
-- next
drop index concurrently if exists subaccount_payout_of_amount;
-- next
create index concurrently subaccount_payout_of_amount
  on subaccount_payout (account_id, environment, subaccount_id, amount_cents, number);
-- next
drop index concurrently if exists subaccount_payout_created;
-- next
create index concurrently subaccount_payout_created
  on subaccount_payout (account_id, environment, subaccount_id, created_at, number);
-- next
drop index concurrently if exists subaccount_payout_created_by_status;
-- next
create index concurrently subaccount_payout_created_by_status
  on subaccount_payout (account_id, environment, subaccount_id, status, created_at, number);
-- next
drop index concurrently if exists subaccount_payout_completed;
-- next
create index concurrently subaccount_payout_completed
  on subaccount_payout (account_id, environment, subaccount_id, completed_at, number)
  where completed_at is not null;
-- next
drop index concurrently if exists subaccount_payout_reversed;
-- next
create index concurrently subaccount_payout_reversed
  on subaccount_payout (account_id, environment, subaccount_id, reversed_at, number)
  where reversed_at is not null;
-- next
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
-- next
-- A payout of a subaccount by its name. The index of its old key begins with the tenant, and its keys are shorter than those of
-- the list: without statistics PostgreSQL may take it for cheaper than the one in the order of the list, and sort all payouts of
-- the tenant.
drop index concurrently if exists subaccount_payout_of_payout_id;
-- next
create unique index concurrently subaccount_payout_of_payout_id
  on subaccount_payout (payout_id, account_id, environment);
-- next
drop index concurrently if exists subaccount_created;
-- next
create index concurrently subaccount_created on subaccount (account_id, environment, created_at, number);
