-- Payouts of a subaccount by number, bank's identifier, amount and instants; by amount and instants as another service shows
-- them, too. There 0044 has an index of the numbers and identifiers of all payouts; names here have unique ones of their own.
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
drop index concurrently if exists observed_of_subaccount_by_creation;
-- next
create index concurrently observed_of_subaccount_by_creation
  on observed (account_id, environment, resource, parent, (snapshot ->> 'createdAt'), number)
  where resource = 'subaccount_payout' and snapshot ->> 'createdAt' is not null;
-- next
drop index concurrently if exists observed_of_subaccount_by_completion;
-- next
create index concurrently observed_of_subaccount_by_completion
  on observed (account_id, environment, resource, parent, (snapshot ->> 'completedAt'), number)
  where resource = 'subaccount_payout' and snapshot ->> 'completedAt' is not null;
-- next
drop index concurrently if exists observed_of_subaccount_by_reversal;
-- next
create index concurrently observed_of_subaccount_by_reversal
  on observed (account_id, environment, resource, parent, (snapshot ->> 'reversedAt'), number)
  where resource = 'subaccount_payout' and snapshot ->> 'reversedAt' is not null;
-- next
drop index concurrently if exists observed_of_subaccount_by_amount;
-- next
create index concurrently observed_of_subaccount_by_amount
  on observed (account_id, environment, resource, parent, (snapshot ->> 'amountCents'), number)
  where resource = 'subaccount_payout' and snapshot ->> 'amountCents' is not null;
