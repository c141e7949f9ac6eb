-- How far the books of each tenant were last looked through without a finding, and what was found of each law.
create table if not exists verify_checkpoint (
  account_id text not null,
  environment environment not null,
  -- The newest row of the journal and the newest event that were looked at.
  number bigint not null,
  version bigint not null,
  -- The sum of the postings of each ledger account up to that row.
  sums jsonb not null,
  primary key (account_id, environment)
);
-- next
create table if not exists verified_law (
  law text primary key,
  findings integer not null,
  verified_at timestamptz not null
);
