-- What claims lack because refunds under way hold it, and get where one of these fails.
create table dispute_shortfall (
  account_id text not null,
  environment environment not null,
  resource text not null check (resource in ('card_payment', 'payment', 'charge')),
  resource_id text not null,
  -- Oldest first; none where nothing is left to wait for.
  claims jsonb not null,
  primary key (account_id, environment, resource, resource_id)
);
