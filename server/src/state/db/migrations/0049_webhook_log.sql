-- What each attempt has sent and what came back, and by what a delivery is found. A server of the version before writes none of it.
alter table webhook_attempt
  -- {"requestHeaders", "responseHeaders", "responseBody", "isBodyCut"}, without secrets. Null where it is no longer kept.
  add column if not exists exchange jsonb;
-- next
alter table webhook_delivery
  -- Of the last attempt: 0 where nothing was answered; null before the first.
  add column if not exists response_status integer,
  -- The type of the resource that is reported, where another one orders the event.
  add column if not exists subject_type text,
  -- Its id; without a type the id by which the merchant knows the resource itself, if the log has another.
  add column if not exists subject_id text;
-- next
alter table task
  -- The tasks of a tenant that share slots: webhooks to one host. A server of the version before claims them without it.
  add column if not exists slot_group text not null default '';
-- next
-- Deliveries that match a filter and are sent again, one after the other.
create table if not exists webhook_redelivery (
  redelivery_id text primary key,
  account_id text not null,
  environment environment not null,
  filter jsonb not null,
  -- Whether those to the account's URL go to the URL that it has by then.
  to_current_url boolean not null,
  -- The newest delivery that matched.
  upto bigint not null,
  -- The last delivery that was sent again or passed over.
  place bigint not null,
  total integer not null,
  done integer not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  canceled_at timestamptz,
  foreign key (account_id, environment) references stream
);
