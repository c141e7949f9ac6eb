-- The instant at which a refund failed. A server of the version before records failures without it.
alter table refund
  add column failed_at timestamptz,
  add constraint only_a_failed_refund_has_its_instant check (failed_at is null or status = 'failed') not valid;
