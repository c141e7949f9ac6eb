-- The budget of requests to the service behind the facade, one for each account there and over all instances. Logged,
-- unlike the windows of our own limits: the service counts on while we are down.

create table upstream_account (
  key text primary key,
  -- The latest instant that any instance has said it is. Slots end by this and never by one instance's slower clock.
  last_at timestamptz not null,
  -- Until then nothing is sent, for the service said so.
  blocked_until timestamptz
) with (fillfactor = 50);

create table upstream_slot (
  id uuid primary key,
  account_key text not null references upstream_account (key),
  class text not null check (class in ('money', 'query', 'lookup', 'payer', 'poll')),
  -- Whose share of its class is capped.
  subject text,
  held_until timestamptz not null
) with (fillfactor = 50);
create index upstream_slot_held on upstream_slot (account_key, held_until);
