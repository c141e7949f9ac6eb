-- Card payments by the instant at which their money got into the balance.
drop index concurrently if exists card_payment_released;
-- next
create index concurrently card_payment_released
  on card_payment (account_id, environment, released_at, number)
  where released_at is not null;
