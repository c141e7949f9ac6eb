-- Card payments of another service by their creation, which is in their state alone.
drop index concurrently if exists observed_by_creation;
-- next
create index concurrently observed_by_creation
  on observed (account_id, environment, resource, (snapshot ->> 'createdAt'), number)
  where resource = 'card_payment' and snapshot ->> 'createdAt' is not null;
