-- Whether these records lack what came after an instant, since the database went back. Without a row they do not. A restore of
-- an older version's backup makes the table, too: db/records.ts.
create table if not exists restored_records (
  one boolean primary key default true check (one),
  behind_since timestamptz,
  behind_until timestamptz,
  cause text check (cause in ('backup', 'timeline', 'operator')),
  -- The timeline of PostgreSQL on which these records were last known to be whole; null until a server has read it.
  timeline integer,
  -- The timeline for which they were marked.
  marked_timeline integer,
  constraint behind_is_whole check (
    (behind_since is null) = (behind_until is null) and (behind_since is null) = (cause is null)
  )
);
