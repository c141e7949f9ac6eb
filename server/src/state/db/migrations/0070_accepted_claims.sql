-- When the merchant accepted a claim, which is lost by it.
alter table dispute add column accepted_at timestamptz;
