-- Webhooks that another service sends to us, and those of them that are passed on to a payment's own callbackUrl.

-- What has come already: written by the transaction that does what the event asks for. Kept for 30 days.
create table received_webhook (
  account_id text not null,
  environment environment not null,
  -- The X-Webhook-Id header; the body's hash where there is none.
  webhook_id text not null,
  -- SHA-256 in hex. The id is not signed: the same body under another id is the same event.
  body_hash text not null,
  received_at timestamptz not null,
  primary key (account_id, environment, webhook_id),
  unique (account_id, environment, body_hash),
  foreign key (account_id, environment) references stream
);
create index received_webhook_oldest on received_webhook (account_id, environment, received_at);

-- A delivery announces an event of our log, signed with the endpoint's secret; or passes on what came, headers and all,
-- and then needs neither.
alter table webhook_delivery
  add column headers jsonb,
  alter column event_version drop not null,
  drop constraint webhook_delivery_account_id_environment_fkey,
  add foreign key (account_id, environment) references stream,
  add constraint announced_or_passed_on check ((event_version is null) = (headers is not null));

-- Whatever waits for an earlier one of its resource: by the order of commits, which both kinds have.
drop index webhook_delivery_waiting;
create index webhook_delivery_waiting on webhook_delivery
  (account_id, environment, resource, resource_id, url, number) where status = 'pending';
