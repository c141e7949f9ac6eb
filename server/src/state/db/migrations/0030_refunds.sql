-- Refunds, whole and in parts.
create table refund (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  refund_id text primary key check (refund_id ~ '^ref_[0-9a-f]{24}$'),
  version integer not null check (version >= 1),
  status text not null check (status in ('processing', 'completed', 'failed')),
  -- The refunded resource.
  resource text not null check (resource in ('card_payment', 'payment', 'charge')),
  resource_id text not null,
  amount_cents bigint not null check (amount_cents > 0),
  reason text,
  -- Begun by the service and not by the merchant: it is repeated until it is completed.
  automatic boolean not null,
  -- The charge at the acquirer that it gives back.
  charge_id text not null,
  end_to_end_id text,
  failure_reason text,
  created_at timestamptz not null,
  completed_at timestamptz,
  failed_at timestamptz,
  constraint completed_refund_has_its_instant check ((status = 'completed') = (completed_at is not null)),
  constraint failed_refund_has_its_reason check ((status = 'failed') = (failure_reason is not null)),
  constraint only_a_failed_refund_has_its_instant check (failed_at is null or status = 'failed')
);
create unique index refund_newest on refund (account_id, environment, number);
create index refund_of_resource on refund (account_id, environment, resource, resource_id, number);
-- Refunds of some types and statuses are read as so many lists, and merged.
create index refund_by_resource_and_status on refund (account_id, environment, resource, status, number);
create index refund_created on refund (account_id, environment, created_at, number);
create index refund_created_by_type_and_status
  on refund (account_id, environment, resource, status, created_at, number);
create index refund_of_amount on refund (account_id, environment, amount_cents, number);
create index refund_of_end_to_end_id on refund (account_id, environment, end_to_end_id) where end_to_end_id is not null;
create index refund_completed on refund (account_id, environment, completed_at, number)
  where completed_at is not null;
create index refund_failed on refund (account_id, environment, failed_at, number)
  where failed_at is not null;
