-- The payments of a merchant's order that were paid or have an open charge: of the thousands that an order may have, these alone
-- decide whether another takes a card.
drop index concurrently if exists card_payment_of_order;
-- next
create index concurrently card_payment_of_order on card_payment (account_id, environment, external_id)
  where external_id is not null and (paid_at is not null or open_charge_id is not null);
-- next
-- The same of payments at another service, of which only the status is known.
drop index concurrently if exists observed_of_order;
-- next
create index concurrently observed_of_order on observed (account_id, environment, (snapshot ->> 'externalId'))
  where resource = 'card_payment' and status in ('paid', 'refunded');
