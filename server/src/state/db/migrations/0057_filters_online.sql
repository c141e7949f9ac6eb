-- E-mail addresses in whatever case. A server of the version before reads the indexes of addresses as they were given.
drop index concurrently if exists card_payment_of_any_case;
-- next
create index concurrently card_payment_of_any_case
  on card_payment (account_id, environment, lower((customer ->> 'email') collate "C"), number)
  where customer ->> 'email' is not null;
-- next
drop index concurrently if exists payment_of_any_case;
-- next
create index concurrently payment_of_any_case
  on payment (account_id, environment, lower((customer ->> 'email') collate "C"), number)
  where customer ->> 'email' is not null;
-- next
drop index concurrently if exists pix_subscription_of_any_case;
-- next
create index concurrently pix_subscription_of_any_case
  on pix_subscription (account_id, environment, lower((customer ->> 'email') collate "C"), number)
  where customer ->> 'email' is not null;
-- next
drop index concurrently if exists observed_of_any_case;
-- next
create index concurrently observed_of_any_case
  on observed (account_id, environment, resource, lower((snapshot -> 'customer' ->> 'email') collate "C"), number)
  where snapshot -> 'customer' ->> 'email' is not null;
-- next
-- The statement by kinds and by amounts.
drop index concurrently if exists ledger_transaction_by_kind;
-- next
create index concurrently ledger_transaction_by_kind on ledger_transaction (account_id, environment, kind, number)
  where is_entry;
-- next
drop index concurrently if exists ledger_transaction_by_amount;
-- next
create index concurrently ledger_transaction_by_amount
  on ledger_transaction (account_id, environment, abs(balance_delta + subaccounts_delta), number) where is_entry;
-- next
create statistics if not exists ledger_transaction_amount
  on (abs(balance_delta + subaccounts_delta)) from ledger_transaction;
-- next
-- The distribution of each expression of a partial index, which PostgreSQL does not take from the index, as in 0046.
create statistics if not exists card_payment_any_case on (lower((customer ->> 'email') collate "C")) from card_payment;
-- next
create statistics if not exists payment_any_case on (lower((customer ->> 'email') collate "C")) from payment;
-- next
create statistics if not exists pix_subscription_any_case
  on (lower((customer ->> 'email') collate "C")) from pix_subscription;
-- next
create statistics if not exists pix_subscription_email on (customer ->> 'email') from pix_subscription;
-- next
create statistics if not exists pix_subscription_customer on (customer ->> 'externalId') from pix_subscription;
-- next
create statistics if not exists observed_any_case
  on (lower((snapshot -> 'customer' ->> 'email') collate "C")) from observed;
-- next
create statistics if not exists observed_email on (snapshot -> 'customer' ->> 'email') from observed;
-- next
create statistics if not exists observed_customer on (snapshot -> 'customer' ->> 'externalId') from observed;
-- next
create statistics if not exists observed_external_id on (snapshot ->> 'externalId') from observed;
-- next
create statistics if not exists observed_end_to_end_id on (snapshot ->> 'endToEndId') from observed;
-- next
create statistics if not exists observed_amount on ((snapshot ->> 'amountCents')::bigint) from observed;
-- next
create statistics if not exists observed_created_at on (snapshot ->> 'createdAt') from observed;
-- next
create statistics if not exists observed_paid_at on (snapshot ->> 'paidAt') from observed;
-- next
create statistics if not exists observed_refunded_at on (snapshot ->> 'refundedAt') from observed;
-- next
create statistics if not exists observed_completed_at on (snapshot ->> 'completedAt') from observed;
-- next
create statistics if not exists observed_reversed_at on (snapshot ->> 'reversedAt') from observed;
-- next
create statistics if not exists observed_failed_at on (snapshot ->> 'failedAt') from observed;
-- next
create statistics if not exists observed_closed_at on (snapshot ->> 'closedAt') from observed;
