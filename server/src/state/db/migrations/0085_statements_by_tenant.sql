-- A statement is found by its tenant and its subaccount, also where its entries are checked: no index begins with the
-- subaccount since 0079. Else the newest entries of all statements are read until one of the subaccount comes.
create or replace function check_statements() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if exists (
    select from entered e
    where e.balance_after_cents <> e.amount_cents + coalesce((
      select p.balance_after_cents from statement_entry p
      where p.account_id = e.account_id and p.environment = e.environment and p.subaccount_id = e.subaccount_id
        and p.number < e.number
      order by p.number desc limit 1
    ), 0)
  ) then
    raise exception 'an entry does not continue its statement'
      using errcode = 'check_violation', constraint = 'statement_continues';
  end if;

  if exists (
    select from (select distinct account_id, environment, subaccount_id from entered) e
      join subaccount s on s.id = e.subaccount_id
    where s.balance_cents <> (
      select p.balance_after_cents from statement_entry p
      where p.account_id = e.account_id and p.environment = e.environment and p.subaccount_id = e.subaccount_id
      order by p.number desc limit 1
    )
  ) then
    raise exception 'a statement does not end with the balance of its subaccount'
      using errcode = 'check_violation', constraint = 'statement_is_the_balance';
  end if;
  return null;
end $$;
-- next
-- The number alone leads to nothing: a server of any version reads an entry by its statement. The columns are not null, so that
-- no row is read for it. Run again, it finds the key that is there.
do $$
begin
  if to_regclass('statement_entry_of_subaccount') is not null then
    alter table statement_entry
      drop constraint statement_entry_pkey,
      add constraint statement_entry_pkey primary key using index statement_entry_of_subaccount;
  end if;
end $$;
