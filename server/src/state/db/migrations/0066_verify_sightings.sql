-- How far the statement of what a facade has seen was last looked through. A server of the version before looks at none of it.
alter table verify_checkpoint add column if not exists sighting bigint not null default 0;
