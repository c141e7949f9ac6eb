-- A delivery's place in the life of its resource, for its headers. Null in the rows of the version before.
alter table webhook_delivery add column resource_version integer, add column occurred_at timestamptz;
