-- Endpoints beside the URL of the account. A server of the version before leaves them as they are, and sends them nothing.
alter table webhook_endpoint
  -- [{"endpointId", "url", "enabled", "events", "secret", "previousSecrets", "createdAt"}], oldest first, at most nine.
  add column if not exists further jsonb not null default '[]',
  -- The first failure at the URL of the account after its last success; null where it does not fail.
  add column if not exists failing_since timestamptz;
-- next
alter table webhook_delivery
  -- Null where it goes to a payment's own callbackUrl, and in the rows of the version before.
  add column if not exists endpoint_id text,
  -- The class of the last answer's status, 5 for 503: 0 where nothing was answered; null before the first attempt.
  add column if not exists response_class integer,
  drop constraint if exists webhook_delivery_status_check,
  add constraint webhook_delivery_status_check
    check (status in ('pending', 'delivered', 'exhausted', 'held', 'canceled')) not valid;
