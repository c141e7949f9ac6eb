-- Resources by their status, all and those of one parent.
drop index concurrently if exists observed_by_status;
-- next
create index concurrently observed_by_status on observed (account_id, environment, resource, status, number);
-- next
drop index concurrently if exists observed_of_parent_by_status;
-- next
create index concurrently observed_of_parent_by_status
  on observed (account_id, environment, resource, parent, status, number) where parent is not null;
-- next
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
-- Lists by what a resource is called, whose it is, what it is worth, and when it was paid and refunded.
drop index concurrently if exists observed_by_external_id;
-- next
create index concurrently observed_by_external_id
  on observed (account_id, environment, resource, (snapshot ->> 'externalId'), number)
  where snapshot ->> 'externalId' is not null;
-- next
drop index concurrently if exists observed_by_end_to_end_id;
-- next
create index concurrently observed_by_end_to_end_id
  on observed (account_id, environment, resource, (snapshot ->> 'endToEndId'), number)
  where snapshot ->> 'endToEndId' is not null;
-- next
drop index concurrently if exists observed_by_paid_at;
-- next
create index concurrently observed_by_paid_at
  on observed (account_id, environment, resource, (snapshot ->> 'paidAt'), number)
  where snapshot ->> 'paidAt' is not null;
-- next
drop index concurrently if exists observed_by_refunded_at;
-- next
create index concurrently observed_by_refunded_at
  on observed (account_id, environment, resource, (snapshot ->> 'refundedAt'), number)
  where snapshot ->> 'refundedAt' is not null;
-- next
drop index concurrently if exists observed_by_amount;
-- next
create index concurrently observed_by_amount
  on observed (account_id, environment, resource, ((snapshot ->> 'amountCents')::bigint), number)
  where snapshot ->> 'amountCents' is not null;
-- next
drop index concurrently if exists observed_by_email;
-- next
create index concurrently observed_by_email
  on observed (account_id, environment, resource, (snapshot -> 'customer' ->> 'email'), number)
  where snapshot -> 'customer' ->> 'email' is not null;
-- next
drop index concurrently if exists observed_by_customer;
-- next
create index concurrently observed_by_customer
  on observed (account_id, environment, resource, (snapshot -> 'customer' ->> 'externalId'), number)
  where snapshot -> 'customer' ->> 'externalId' is not null;
-- next
-- Card payments by their creation, which is in their state alone.
drop index concurrently if exists observed_by_creation;
-- next
create index concurrently observed_by_creation
  on observed (account_id, environment, resource, (snapshot ->> 'createdAt'), number)
  where resource = 'card_payment' and snapshot ->> 'createdAt' is not null;
-- next
-- Payouts of a subaccount by their amount and their instants.
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
  on observed (account_id, environment, resource, parent, ((snapshot ->> 'amountCents')::bigint), number)
  where resource = 'subaccount_payout' and snapshot ->> 'amountCents' is not null;
-- next
-- An order is paid by a card payment or by a payment. One that was paid still counts when the service later shows an unknown
-- status. The predicate is that of `selectPaidByExternalIds`, or the index is not used.
drop index concurrently if exists observed_of_paid_order;
-- next
create index concurrently observed_of_paid_order on observed (account_id, environment, (snapshot ->> 'externalId'))
  where resource in ('card_payment', 'payment')
    and (status in ('paid', 'refunded') or status = 'unknown' and snapshot ->> 'lastStatus' in ('paid', 'refunded'));
-- next
-- Refunds and disputes by their instants.
drop index concurrently if exists observed_refund_by_completion;
-- next
create index concurrently observed_refund_by_completion
  on observed (account_id, environment, resource, (snapshot ->> 'completedAt'), number)
  where resource = 'refund' and snapshot ->> 'completedAt' is not null;
-- next
drop index concurrently if exists observed_refund_by_failure;
-- next
create index concurrently observed_refund_by_failure
  on observed (account_id, environment, resource, (snapshot ->> 'failedAt'), number)
  where resource = 'refund' and snapshot ->> 'failedAt' is not null;
-- next
drop index concurrently if exists observed_dispute_by_decision;
-- next
create index concurrently observed_dispute_by_decision
  on observed (account_id, environment, resource, (snapshot ->> 'closedAt'), number)
  where resource = 'dispute' and snapshot ->> 'closedAt' is not null;
