-- The payments of a merchant's order that were paid or have an open charge: of the thousands that an order may have, these alone
-- decide whether another takes a card.
drop index concurrently if exists card_payment_of_order;
-- next
create index concurrently card_payment_of_order on card_payment (account_id, environment, external_id)
  where external_id is not null and (paid_at is not null or open_charge_id is not null);
-- next
-- The open payments of an order, and the newest of those that have expired or were returned: the payment of the order, and its
-- refund, mark these.
drop index concurrently if exists card_payment_unpaid_of_number;
-- next
create index concurrently card_payment_unpaid_of_number on card_payment (account_id, environment, external_id, status, number)
  where (status in ('pending', 'expired') or returned) and external_id is not null;
-- next
drop index concurrently if exists card_payment_unpaid_of_attempt;
-- next
create index concurrently card_payment_unpaid_of_attempt on card_payment (account_id, environment, checkout_attempt, status, number)
  where (status in ('pending', 'expired') or returned) and checkout_attempt is not null;
-- next
-- Lists by what a payment is called, whose it is, what it is worth, and its instants: newest first.
drop index concurrently if exists card_payment_of_external_id;
-- next
create index concurrently card_payment_of_external_id
  on card_payment (account_id, environment, external_id, number)
  where external_id is not null;
-- next
drop index concurrently if exists card_payment_of_amount;
-- next
create index concurrently card_payment_of_amount
  on card_payment (account_id, environment, amount_cents, number);
-- next
drop index concurrently if exists card_payment_paid;
-- next
create index concurrently card_payment_paid
  on card_payment (account_id, environment, paid_at, number)
  where paid_at is not null;
-- next
drop index concurrently if exists card_payment_refunded;
-- next
create index concurrently card_payment_refunded
  on card_payment (account_id, environment, refunded_at, number)
  where refunded_at is not null;
-- next
drop index concurrently if exists card_payment_of_email;
-- next
create index concurrently card_payment_of_email
  on card_payment (account_id, environment, (customer ->> 'email'), number)
  where customer ->> 'email' is not null;
-- next
drop index concurrently if exists card_payment_of_customer;
-- next
create index concurrently card_payment_of_customer
  on card_payment (account_id, environment, (customer ->> 'externalId'), number)
  where customer ->> 'externalId' is not null;
-- next
drop index concurrently if exists card_payment_created;
-- next
create index concurrently card_payment_created
  on card_payment (account_id, environment, created_at, number);
-- next
drop index concurrently if exists card_payment_created_by_status;
-- next
create index concurrently card_payment_created_by_status
  on card_payment (account_id, environment, status, created_at, number);
-- next
-- Card payments by the instant at which their money got into the balance.
drop index concurrently if exists card_payment_released;
-- next
create index concurrently card_payment_released
  on card_payment (account_id, environment, released_at, number)
  where released_at is not null;
