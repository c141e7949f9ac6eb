-- When the outcome of a request in doubt was last asked for, and the result, in words.
alter table upstream_intent add column looked_at timestamptz;
alter table upstream_intent add column finding text;
