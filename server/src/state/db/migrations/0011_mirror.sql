-- In front of another service: what it was seen to say, and what it was asked to do.

-- The newest state of each resource. Kept by whoever observes, under the lock of the stream, with the event that tells it.
create table observed (
  -- Grows within a tenant in the order of commits, for it is drawn under the lock of the stream.
  number bigint generated always as identity,
  account_id text not null,
  environment environment not null,
  resource text not null check (resource in ('card_payment', 'payout', 'subaccount_payout', 'wallet')),
  id text not null,
  version integer not null check (version >= 1),
  status text not null,
  -- No later status can come: the service need not be asked again.
  final boolean not null,
  -- What it belongs to, where it belongs to something: a payout's subaccount.
  parent text,
  -- As in the event that told it.
  snapshot jsonb not null,
  -- When the service last said so.
  observed_at timestamptz not null,
  primary key (account_id, environment, resource, id),
  foreign key (account_id, environment) references stream
);
create unique index observed_newest on observed (account_id, environment, resource, number);
create index observed_of_parent on observed (account_id, environment, resource, parent, number) where parent is not null;
create index observed_open on observed (account_id, environment, resource, number) where not final;

-- Every name by which the service, or a caller, calls a resource.
create table observed_reference (
  account_id text not null,
  environment environment not null,
  resource text not null,
  reference text not null,
  id text not null,
  primary key (account_id, environment, resource, reference),
  foreign key (account_id, environment, resource, id) references observed
);

-- A request that moves money or makes what is paid: here before it is sent, so that no crash forgets it.
create table upstream_intent (
  id text primary key,
  account_id text not null,
  environment environment not null,
  operation text not null,
  -- The caller's idempotency key, or one of ours.
  key text not null,
  input_hash text not null,
  -- refused: certainly not done. absent: its outcome was unknown, and the service has come to say that there is none.
  state text not null check (state in ('sending', 'in_doubt', 'done', 'refused', 'absent')),
  -- What it has made.
  resource_id text,
  -- What it is recognised by where the service has no key for it.
  summary jsonb not null,
  -- Looks since its outcome became unknown.
  looks integer not null default 0,
  created_at timestamptz not null,
  unique (account_id, environment, operation, key),
  foreign key (account_id, environment) references stream,
  constraint done_has_made_something check ((state = 'done') = (resource_id is not null))
);
create index upstream_intent_open on upstream_intent (account_id, environment, operation)
  where state in ('sending', 'in_doubt');

-- Which of several instances polls, and when it was polled last.
create table upstream_poll (
  account_id text not null,
  environment environment not null,
  name text not null,
  polled_at timestamptz not null,
  primary key (account_id, environment, name)
);
