-- A checkout token that starts no payment, or only slowly, until an instant or until it is resumed.
alter table token
  add column paused_at timestamptz,
  -- Null: until it is resumed.
  add column paused_until timestamptz,
  add column pause_reason text,
  add constraint pause_has_its_reason check (
    (paused_at is null) = (pause_reason is null) and (paused_at is not null or paused_until is null)
  ),
  add constraint pause_reason_known check (pause_reason in ('merchant', 'declines'));
