-- Disputes of payments, with evidence. Before, a dispute was an amount that is held.
alter table dispute
  add column if not exists version integer not null default 1 check (version >= 1),
  -- Unknown where the bank gave none, or a server of the version before recorded it.
  add column if not exists reason text not null default 'unknown' check (reason in ('fraud', 'operational_error', 'unknown')),
  -- What is disputed; of a card payment `order_code` too, for the version before.
  add column if not exists resource text check (resource in ('card_payment', 'payment', 'charge')),
  add column if not exists resource_id text,
  -- The submissions, oldest first.
  add column if not exists evidence jsonb not null default '[]',
  add column if not exists evidence_due_at timestamptz,
  -- When the merchant accepted a claim, which is lost by it.
  add column if not exists accepted_at timestamptz,
  drop constraint if exists dispute_names_its_resource,
  add constraint dispute_names_its_resource check ((resource is null) = (resource_id is null)),
  -- Not valid, here and below: what is there fulfils it, and to read it all would keep writers waiting.
  drop constraint if exists dispute_status_check,
  add constraint dispute_status_check
    check (status in ('open', 'under_review', 'won', 'lost', 'forgiven')) not valid,
  drop constraint if exists closed_has_its_instant,
  add constraint closed_has_its_instant
    check ((status in ('open', 'under_review')) = (closed_at is null)) not valid;
-- next
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
