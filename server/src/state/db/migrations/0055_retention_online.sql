-- What goes by its age. A server of the version before removes nothing.

-- The columns. The statement gives up before a client would notice the lock for which it waits, and tries again.
do $$
begin
  for attempt in 1..600 loop
    begin
      perform set_config('lock_timeout', '300ms', true);
      alter table stream
        -- From here the log is whole: what follows a cursor below is not. The event itself stays, to compare its mark.
        add column if not exists kept_from bigint not null default 0,
        -- What goes below `kept_from` has gone below this version.
        add column if not exists removed_to bigint not null default 0,
        drop constraint if exists log_is_whole_to_its_end,
        add constraint log_is_whole_to_its_end check (removed_to <= kept_from and kept_from <= version);
      alter table database_mode
        -- Whether nothing goes until an operator says so: of a database with events from before this migration.
        add column if not exists keeps_all boolean not null default false;
      update database_mode set keeps_all = true where exists (select from event);
      return;
    exception when lock_not_available or deadlock_detected then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise exception 'the table stream is locked';
end $$;
-- next
create or replace function refuse_removal() returns trigger language plpgsql as $$
begin
  if exists (
    select from removed r left join stream s on s.account_id = r.account_id and s.environment = r.environment
    where r.version >= coalesce(s.kept_from, 0)
  ) then
    raise exception '% is append-only from where it is kept', tg_table_name using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
-- next
-- An event that a cursor can still be followed by stays: the log is declared to begin later, in a commit before.
do $$
begin
  for attempt in 1..600 loop
    begin
      perform set_config('lock_timeout', '300ms', true);
      create or replace trigger event_goes_by_age after delete on event
        referencing old table as removed for each statement execute function refuse_removal();
      create or replace trigger event_is_append_only before update or truncate on event
        for each statement execute function refuse_change();
      return;
    exception when lock_not_available or deadlock_detected then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise exception 'the table event is locked';
end $$;
-- next
-- What is old enough is found in the order of its age.
drop index concurrently if exists webhook_attempt_kept;
-- next
create index concurrently webhook_attempt_kept on webhook_attempt (at) where exchange is not null;
-- next
drop index concurrently if exists token_by_end;
-- next
-- The first token of an order stays: the order's later ones are compared with it.
create index concurrently token_by_end on token (account_id, environment, (least(expires_at, revoked_at)))
  where (expires_at is not null or revoked_at is not null)
    and (kind <> 'checkout' or "grant" ->> 'externalId' is null or "grant" ->> 'orderTokenId' is not null);
