-- Events that an account has opted into. A server of the version before leaves them as they are, and sends none.
alter table webhook_endpoint add column optional_events text[] not null default '{}';
