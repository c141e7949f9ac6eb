-- Sessions of the console: browsers that have presented an API key. A browser has the text of its session, and the database the hash.
-- A server of the version before knows none.
create table if not exists console_session (
  session_id text primary key check (session_id ~ '^ses_[0-9a-f]{24}$'),
  secret_hash text not null unique,
  account_id text not null,
  environment environment not null,
  -- The API key with which it ends.
  key_id text not null,
  -- The dashboard tokens that it was given, the newest last: they end with it.
  token_ids text[] not null default '{}',
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Null until it is signed out.
  ended_at timestamptz
);
create index if not exists console_session_by_end
  on console_session (account_id, environment, (least(expires_at, ended_at)));
