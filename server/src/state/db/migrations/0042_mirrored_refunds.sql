-- Refunds of another service are mirrored: whatever the check allows today is allowed on, and they are too.
do $$
declare
  allowed text;
begin
  select string_agg(distinct quote_literal(m[1]), ', ') into allowed
  from pg_constraint, regexp_matches(pg_get_constraintdef(oid), '''([a-z_]+)''', 'g') m
  where conname = 'observed_resource_check' and conrelid = 'observed'::regclass;
  alter table observed drop constraint observed_resource_check;
  -- Not valid: every row that is there names another resource, and to read them all would keep writers waiting.
  execute format(
    'alter table observed add constraint observed_resource_check check (resource in (%s, ''refund'')) not valid',
    allowed
  );
end $$;
