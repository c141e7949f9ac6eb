-- Payments by LTC: the outputs that have come to their addresses.

-- Each output of the chain, once.
create table ltc_output (
  account_id text not null,
  environment environment not null,
  payment_id text not null,
  txid text not null check (txid ~ '^[0-9a-f]{64}$'),
  vout integer not null check (vout >= 0),
  litoshi bigint not null check (litoshi > 0),
  seen_at timestamptz not null,
  confirmations integer not null check (confirmations >= 0),
  -- In which account of the ledger its litoshi are; in none while they are seen, or gone after a reorganisation.
  state text not null check (state in ('seen', 'gone', 'unmatched', 'credited')),
  -- The number of times that it was confirmed.
  postings integer not null default 0,
  primary key (txid, vout)
);
create index ltc_output_of_payment on ltc_output (account_id, environment, payment_id);

-- ── The simulated network's own books ───────────────────────────────────────────────────────────

create table simulated_ltc_address (
  -- The id of the payment.
  id text primary key,
  account_id text not null,
  environment environment not null,
  address text not null unique,
  -- Grows with each change of its outputs.
  revision bigint not null default 0
);

create table simulated_ltc_output (
  txid text not null,
  vout integer not null,
  id text not null references simulated_ltc_address,
  litoshi bigint not null check (litoshi > 0),
  seen_at timestamptz not null,
  confirmations integer not null check (confirmations >= 0),
  primary key (txid, vout)
);
create index simulated_ltc_output_of_address on simulated_ltc_output (id, seen_at);
