-- The open payments of an order, and those that have expired last, which the payment of it marks: of the thousands that an order may
-- have, these alone.
drop index concurrently if exists card_payment_open_of_number;
-- next
create index concurrently card_payment_open_of_number on card_payment (account_id, environment, external_id, status, number)
  where status in ('pending', 'expired') and external_id is not null;
-- next
drop index concurrently if exists card_payment_open_of_attempt;
-- next
create index concurrently card_payment_open_of_attempt on card_payment (account_id, environment, checkout_attempt, status, number)
  where status in ('pending', 'expired') and checkout_attempt is not null;
-- next
drop index concurrently if exists payment_open_of_number;
-- next
create index concurrently payment_open_of_number on payment (account_id, environment, external_id, status, number)
  where status in ('pending', 'expired') and external_id is not null;
-- next
drop index concurrently if exists payment_open_of_attempt;
-- next
create index concurrently payment_open_of_attempt on payment (account_id, environment, checkout_attempt, status, number)
  where status in ('pending', 'expired') and checkout_attempt is not null;
