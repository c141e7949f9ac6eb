-- A payout of a subaccount by its name. This index began with the tenant, and its keys are shorter than those of the list: without
-- statistics PostgreSQL may take it for cheaper than the one in the order of the list, and sort all payouts of the tenant.
drop index concurrently if exists subaccount_payout_of_payout_id;
-- next
create unique index concurrently subaccount_payout_of_payout_id
  on subaccount_payout (payout_id, account_id, environment);
-- next
alter table subaccount_payout drop constraint if exists subaccount_payout_account_id_environment_payout_id_key;
