-- The statement of what a facade has seen. The service's wallet is seen from time to time: each sighting writes the movements that were
-- seen since the one before, and what they do not account for. A server of the version before writes none; the next sighting of this
-- version does.
create table if not exists observed_entry (
  account_id text not null,
  environment environment not null,
  -- Counted from 1 under the lock of the stream. 1 is the first sighting, the opening of all.
  number bigint not null,
  -- Counts the entries in the same way, up to this row and with it.
  entries bigint not null,
  -- Others: a sighting without an entry, money that moved before the opening, a refund that gets another name.
  is_entry boolean not null,
  kind text,
  -- The name by which the merchant knows it.
  ref text,
  resource text,
  resource_id text,
  subaccount_id text,
  -- Null where the service does not show it.
  fee_cents bigint,
  -- When the movement was seen; null for what was seen of the wallet alone.
  seen_at timestamptz,
  -- The version of the log up to which movements have rows.
  seen_to bigint not null,
  -- The instant of the sighting.
  occurred_at timestamptz not null,
  balance_delta bigint not null,
  subaccounts_delta bigint not null,
  pending_delta bigint not null,
  dispute_hold_delta bigint not null,
  ltc_delta bigint not null,
  receivable_delta bigint not null,
  -- The part of the balance that no movement explains.
  unexplained bigint not null,
  -- The wallet after the row, and the last known value of each figure.
  wallet jsonb not null,
  known jsonb not null,
  primary key (account_id, environment, number)
);
create index if not exists observed_entry_at on observed_entry (account_id, environment, occurred_at, number);
create index if not exists observed_entry_of_ref on observed_entry (account_id, environment, ref, number) where ref is not null;
create index if not exists observed_entry_of_resource on observed_entry (account_id, environment, resource_id, number)
  where resource_id is not null;
create index if not exists observed_entry_of_subaccount on observed_entry (account_id, environment, subaccount_id, number)
  where is_entry and subaccount_id is not null;
create index if not exists observed_entry_by_kind on observed_entry (account_id, environment, kind, number) where is_entry;
create index if not exists observed_entry_by_amount
  on observed_entry (account_id, environment, abs(balance_delta + subaccounts_delta), number) where is_entry;
create or replace trigger observed_entry_is_append_only before update or delete or truncate on observed_entry
  for each statement execute function refuse_change();
create statistics if not exists observed_entry_amount on (abs(balance_delta + subaccounts_delta)) from observed_entry;
