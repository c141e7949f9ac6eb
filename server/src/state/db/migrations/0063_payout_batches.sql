-- Payouts that are confirmed together, and requested one after the other as the hourly limits allow. A server of the version before
-- leaves them as they are.
create table if not exists payout_batch (
  batch_id text primary key check (batch_id ~ '^pob_[0-9a-f]{24}$'),
  account_id text not null,
  environment environment not null,
  -- The API key that has confirmed it, with whose revocation it ends; null of an open console.
  key_id text,
  -- [{"method", "amountCents", "destination", "pixKeyType", "externalId", "outcome"}]: the destination is masked once there is an
  -- outcome, or nothing more is requested.
  payout_rows jsonb not null,
  -- Of the rows as they were confirmed.
  rows_hash text not null,
  -- {"code", "until"} of a wait; null for none.
  waiting jsonb,
  created_at timestamptz not null,
  finished_at timestamptz,
  canceled_at timestamptz,
  cancel_reason text check (cancel_reason in ('merchant', 'key_revoked', 'restored')),
  foreign key (account_id, environment) references stream
);
create index if not exists payout_batch_of_tenant on payout_batch (account_id, environment, created_at desc);
