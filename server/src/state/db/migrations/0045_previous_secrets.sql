-- Secrets that were replaced and sign beside the new one until an instant: [{"secret", "until"}], newest first. A server of
-- the version before leaves them as they are, and signs with the new one alone.
alter table webhook_endpoint add column previous_secrets jsonb not null default '[]';
