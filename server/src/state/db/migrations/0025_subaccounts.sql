-- Beneficiaries of split charges have entries. Checks are not valid: what is there has one of the earlier values, and to read it
-- all would keep writers waiting.
alter table statement_entry
  drop constraint if exists statement_entry_kind_check,
  add constraint statement_entry_kind_check
    check (kind in ('transfer_in', 'payout', 'payout_reversal', 'split_in', 'split_reversal')) not valid,
  drop constraint if exists entry_has_its_sign,
  add constraint entry_has_its_sign
    check (amount_cents <> 0 and (amount_cents < 0) = (kind in ('payout', 'split_reversal'))) not valid;
-- next
alter table subaccount_payout
  -- The merchant's own number, as payouts of the main account have one.
  add column if not exists external_id text,
  drop constraint if exists reversed_failed,
  drop constraint if exists reversed_has_ended,
  add constraint reversed_has_ended check (reversed_at is null or status in ('completed', 'failed')) not valid;
-- next
-- A statement is found by its tenant and its subaccount, also where its entries are checked: the next migration takes the
-- index away that begins with the subaccount.
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
