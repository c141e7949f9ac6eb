-- An order is paid by a card payment or by a payment, also where the service says a word now that is not known.
drop index concurrently if exists observed_of_paid_order;
-- next
create index concurrently observed_of_paid_order on observed (account_id, environment, (snapshot ->> 'externalId'))
  where resource in ('card_payment', 'payment')
    and (status in ('paid', 'refunded') or status = 'unknown' and snapshot ->> 'lastStatus' in ('paid', 'refunded'));
-- next
drop index concurrently if exists observed_of_order;
