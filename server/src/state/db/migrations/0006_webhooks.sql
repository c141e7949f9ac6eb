-- Webhooks that the service sends: where to, what was to be said, and each attempt to say it.

-- A merchant's own address and secret, one a tenant. The secret signs each attempt, so it is kept as it is.
create table webhook_endpoint (
  account_id text not null references account,
  environment environment not null,
  -- Null until the merchant names one: what goes to a payment's callbackUrl is signed all the same.
  url text,
  secret text not null check (secret like 'whsec\_%'),
  -- Whether the merchant was ever told this secret.
  secret_shown boolean not null,
  primary key (account_id, environment)
);

create table webhook_delivery (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  -- The X-Webhook-Id header.
  webhook_id text primary key,
  account_id text not null,
  environment environment not null,
  -- The event of the log that it announces.
  event_version bigint not null,
  event text not null,
  resource text not null,
  resource_id text not null,
  url text not null,
  -- The same bytes on every attempt.
  body text not null,
  status text not null check (status in ('pending', 'delivered', 'exhausted')),
  -- Made since its creation, each a row of webhook_attempt.
  attempts integer not null default 0,
  -- Failed ones of the series under way: a redelivery begins a new one.
  failures integer not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  foreign key (account_id, environment) references webhook_endpoint,
  constraint webhook_delivery_once unique (account_id, environment, event_version, url),
  constraint pending_has_its_instant check ((status = 'pending') = (next_attempt_at is not null))
);
create unique index webhook_delivery_newest on webhook_delivery (account_id, environment, number);
create index webhook_delivery_by_status on webhook_delivery (account_id, environment, status, number);
create index webhook_delivery_waiting on webhook_delivery
  (account_id, environment, resource, resource_id, url, event_version) where status = 'pending';

create table webhook_attempt (
  webhook_id text not null references webhook_delivery,
  number integer not null check (number >= 1),
  at timestamptz not null,
  response_status integer,
  -- In plain words; null where it was delivered.
  error text,
  duration_ms integer not null check (duration_ms >= 0),
  primary key (webhook_id, number)
);
