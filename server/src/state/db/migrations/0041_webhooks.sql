-- A server of the version before leaves these as they are: it sends no optional event, and signs with the new secret alone.
alter table webhook_endpoint
  -- Events that an account has opted into.
  add column if not exists optional_events text[] not null default '{}',
  -- Whether events are sent to the URL. A server of the version before sends them anyway.
  add column if not exists enabled boolean not null default true,
  -- Secrets that were replaced and sign beside the new one until an instant: [{"secret", "until"}], newest first.
  add column if not exists previous_secrets jsonb not null default '[]';
-- next
-- A delivery's place in the life of its resource, for its headers. Null in the rows of the version before.
alter table webhook_delivery
  add column if not exists resource_version integer,
  add column if not exists occurred_at timestamptz;
