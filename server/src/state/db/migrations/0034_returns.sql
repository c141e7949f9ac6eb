-- Money that came for a payment, and is returned to its payer: each once.
create table payment_return (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  return_id text not null check (return_id ~ '^ret_[0-9a-f]{24}$'),
  -- What the money came for.
  resource text not null check (resource in ('card_payment', 'payment', 'charge', 'subscription')),
  resource_id text not null,
  external_id text,
  amount_cents bigint not null check (amount_cents > 0),
  cause text not null check (
    cause in ('already_paid', 'amount_mismatch', 'canceled', 'not_payable', 'paid_elsewhere')
  ),
  -- The payment of the same order that was kept.
  kept_payment text,
  -- The rail's name of what came: the charge of a card, or the end-to-end id of a PIX.
  rail_id text not null,
  received_at timestamptz not null,
  -- Null while the rail is sending it back.
  returned_at timestamptz,
  -- The number of times that the rail has refused to send it back.
  failed_returns integer not null default 0,
  primary key (account_id, environment, return_id)
);
create unique index payment_return_newest on payment_return (account_id, environment, number);
create index payment_return_by_resource on payment_return (account_id, environment, resource, number);
create index payment_return_received on payment_return (account_id, environment, received_at, number);
create index payment_return_received_by_resource
  on payment_return (account_id, environment, resource, received_at, number);
create index payment_return_returned on payment_return (account_id, environment, returned_at, number)
  where returned_at is not null;
create index payment_return_of_amount on payment_return (account_id, environment, amount_cents, number);
create index payment_return_of_rail on payment_return (account_id, environment, rail_id);
create index payment_return_by_cause on payment_return (account_id, environment, cause, number);
create index payment_return_of_order on payment_return (account_id, environment, external_id, number)
  where external_id is not null;
