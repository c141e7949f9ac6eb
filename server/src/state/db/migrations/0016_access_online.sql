-- Paused tokens, which are few.
drop index concurrently if exists token_paused;
-- next
create index concurrently token_paused on token (account_id, environment, paused_at) where paused_at is not null;
