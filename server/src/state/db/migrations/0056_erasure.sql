-- Erasures of a person's data. They keep none of it: the person is an HMAC, by which the same request is known again. A server of the
-- version before leaves them as they are.
create table if not exists erasure (
  erasure_id text primary key check (erasure_id ~ '^era_[0-9a-f]{24}$'),
  account_id text not null references account,
  person_hash text not null check (person_hash ~ '^[0-9a-f]{64}$'),
  -- Who asked for it, in the operator's words.
  requested_by text not null,
  started_at timestamptz not null,
  -- Null while it is under way, or was interrupted.
  finished_at timestamptz,
  -- The number of changed rows of each table.
  erased jsonb not null default '{}',
  -- What had to stay, and why: [{"resource", "id", "reason"}].
  kept jsonb not null default '[]'
);
-- next
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  -- An erasure changes the texts of a person in events; of each row `event_keeps_its_place` lets nothing else change.
  if tg_table_name = 'event' and tg_op = 'UPDATE' and current_setting('psa.erasing', true) = 'on' then
    return null;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
-- next
create or replace function refuse_other_change() returns trigger language plpgsql as $$
begin
  if (to_jsonb(new) - 'snapshot') <> (to_jsonb(old) - 'snapshot') then
    raise exception 'only the snapshot of an event can be erased' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
-- next
-- The statement gives up before a client would notice the lock for which it waits, and tries again.
do $$
begin
  for attempt in 1..600 loop
    begin
      perform set_config('lock_timeout', '300ms', true);
      create or replace trigger event_keeps_its_place before update on event
        for each row execute function refuse_other_change();
      return;
    exception when lock_not_available or deadlock_detected then
      perform pg_sleep(0.1);
    end;
  end loop;
  raise exception 'the table event is locked';
end $$;
