-- An order is paid by a card payment or by a payment. One that was paid still counts when the service later shows an unknown
-- status. The predicate is that of `selectPaidByExternalIds`, or the index is not used.
drop index concurrently if exists observed_of_paid_order;
-- next
create index concurrently observed_of_paid_order on observed (account_id, environment, (snapshot ->> 'externalId'))
  where resource in ('card_payment', 'payment')
    and (status in ('paid', 'refunded') or status = 'unknown' and snapshot ->> 'lastStatus' in ('paid', 'refunded'));
-- next
drop index concurrently if exists observed_of_order;
