-- What tells keys apart in a list, and windows of limits that hold over every instance.

alter table api_key
  -- What its owner calls it.
  add column name text,
  -- Its last four characters; null for a key from before they were kept. Nothing else of a key is stored but its hash.
  add column hint text check (length(hint) = 4);

-- A window of each limited key, on any instance. Unlogged: it costs no flush to the disk, and what a crash takes with
-- it is at most a minute's counts.
create unlogged table rate_window (
  key text primary key,
  ends_at timestamptz not null,
  -- What was taken in it, and what was asked for beyond its limit.
  used bigint not null check (used >= 0)
) with (fillfactor = 70);
create index rate_window_ended on rate_window (ends_at);
