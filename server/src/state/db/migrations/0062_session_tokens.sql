-- The dashboard tokens of a session of the console name it, and end with it. A server of the version before mints none of them,
-- and refuses those that have ended as any other token that was revoked.
alter table token add column if not exists session_id text;
-- next
-- The list of before. No version that was released has it.
alter table console_session drop column if exists token_ids;
