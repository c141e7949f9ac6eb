-- Lists by what a resource is called, whose it is, what it is worth, and when it was paid and refunded: newest first.
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
drop index concurrently if exists charge_of_external_id;
-- next
create index concurrently charge_of_external_id
  on charge (account_id, environment, external_id, number)
  where external_id is not null;
-- next
drop index concurrently if exists charge_of_amount;
-- next
create index concurrently charge_of_amount
  on charge (account_id, environment, amount_cents, number);
-- next
drop index concurrently if exists payment_of_external_id;
-- next
create index concurrently payment_of_external_id
  on payment (account_id, environment, external_id, number)
  where external_id is not null;
-- next
drop index concurrently if exists payment_of_amount;
-- next
create index concurrently payment_of_amount
  on payment (account_id, environment, amount_cents, number);
-- next
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
drop index concurrently if exists payout_processed;
-- next
create index concurrently payout_processed
  on payout (account_id, environment, processed_at, number)
  where processed_at is not null;
-- next
drop index concurrently if exists charge_paid;
-- next
create index concurrently charge_paid
  on charge (account_id, environment, paid_at, number)
  where paid_at is not null;
-- next
drop index concurrently if exists charge_refunded;
-- next
create index concurrently charge_refunded
  on charge (account_id, environment, refunded_at, number)
  where refunded_at is not null;
-- next
drop index concurrently if exists payment_paid;
-- next
create index concurrently payment_paid
  on payment (account_id, environment, paid_at, number)
  where paid_at is not null;
-- next
drop index concurrently if exists payment_refunded;
-- next
create index concurrently payment_refunded
  on payment (account_id, environment, refunded_at, number)
  where refunded_at is not null;
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
drop index concurrently if exists payout_of_end_to_end_id;
-- next
create index concurrently payout_of_end_to_end_id
  on payout (account_id, environment, end_to_end_id, number)
  where end_to_end_id is not null;
-- next
drop index concurrently if exists charge_of_end_to_end_id;
-- next
create index concurrently charge_of_end_to_end_id
  on charge (account_id, environment, end_to_end_id, number)
  where end_to_end_id is not null;
-- next
drop index concurrently if exists payment_of_end_to_end_id;
-- next
create index concurrently payment_of_end_to_end_id
  on payment (account_id, environment, end_to_end_id, number)
  where end_to_end_id is not null;
-- next
drop index concurrently if exists payment_of_email;
-- next
create index concurrently payment_of_email
  on payment (account_id, environment, (customer ->> 'email'), number)
  where customer ->> 'email' is not null;
-- next
drop index concurrently if exists payment_of_customer;
-- next
create index concurrently payment_of_customer
  on payment (account_id, environment, (customer ->> 'externalId'), number)
  where customer ->> 'externalId' is not null;
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
  on observed (account_id, environment, resource, (snapshot ->> 'amountCents'), number)
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
