-- The open payments of an order, and the newest of those that have expired or were returned: the payment of the order, and its refund,
-- mark these. They take the place of those without returned ones.
drop index concurrently if exists card_payment_unpaid_of_number;
-- next
create index concurrently card_payment_unpaid_of_number on card_payment (account_id, environment, external_id, status, number)
  where (status in ('pending', 'expired') or returned) and external_id is not null;
-- next
drop index concurrently if exists card_payment_open_of_number;
-- next
drop index concurrently if exists card_payment_unpaid_of_attempt;
-- next
create index concurrently card_payment_unpaid_of_attempt on card_payment (account_id, environment, checkout_attempt, status, number)
  where (status in ('pending', 'expired') or returned) and checkout_attempt is not null;
-- next
drop index concurrently if exists card_payment_open_of_attempt;
-- next
drop index concurrently if exists payment_unpaid_of_number;
-- next
create index concurrently payment_unpaid_of_number on payment (account_id, environment, external_id, status, number)
  where (status in ('pending', 'expired') or returned) and external_id is not null;
-- next
drop index concurrently if exists payment_open_of_number;
-- next
drop index concurrently if exists payment_unpaid_of_attempt;
-- next
create index concurrently payment_unpaid_of_attempt on payment (account_id, environment, checkout_attempt, status, number)
  where (status in ('pending', 'expired') or returned) and checkout_attempt is not null;
-- next
drop index concurrently if exists payment_open_of_attempt;
