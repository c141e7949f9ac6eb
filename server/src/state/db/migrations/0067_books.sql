-- What each group of postings costs, and which statements a checkpoint of `psa verify` is of.

-- As in 0022, with the two checks in one pass over the transactions.
create or replace function apply_postings() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  is_unbalanced boolean;
  is_repeated boolean;
begin
  -- In each unit for itself: cents and litoshi never make up for each other. The key tells lines apart; that a transaction comes
  -- once, whatever its lines are, is checked here.
  select
    bool_or(t.cents <> 0 or t.litoshi <> 0),
    bool_or(t.lines <> (
      select count(*) from posting p
      where p.account_id = t.account_id and p.environment = t.environment and p.transaction_id = t.transaction_id
    ))
  into is_unbalanced, is_repeated
  from (
    select account_id, environment, transaction_id, count(*) as lines,
      sum(case when is_ltc then 0 else amount end) as cents,
      sum(case when is_ltc then amount else 0 end) as litoshi
    from (
      select *, ledger_account in ('merchant_ltc', 'ltc_unmatched', 'ltc_in_transit', 'ltc_paid_out', 'ltc_received') as is_ltc
      from posted
    ) line
    group by account_id, environment, transaction_id
  ) t;
  if is_unbalanced then
    raise exception 'the postings of a transaction do not sum to zero'
      using errcode = 'check_violation', constraint = 'posting_sums_to_zero';
  end if;
  if is_repeated then
    raise exception 'this ledger transaction was posted before'
      using errcode = 'unique_violation', constraint = 'posting_once';
  end if;

  -- Most postings find their accounts: an insert that only meets conflicts costs more than this look.
  if exists (
    select from (select distinct account_id, environment, ledger_account from posted) p
    where not exists (
      select from ledger_account a
      where a.account_id = p.account_id and a.environment = p.environment and a.name = p.ledger_account
    )
  ) then
    insert into ledger_account (account_id, environment, name)
    select distinct account_id, environment, ledger_account from posted
    on conflict do nothing;
  end if;

  update ledger_account a
  set balance = a.balance + p.amount
  from (
    select account_id, environment, ledger_account, sum(amount)::bigint as amount
    from posted group by account_id, environment, ledger_account
  ) p
  where a.account_id = p.account_id and a.environment = p.environment and a.name = p.ledger_account;

  if exists (select from posted where subaccount_id is not null) then
    update subaccount s
    set balance_cents = s.balance_cents + p.amount
    from (
      select subaccount_id, sum(amount)::bigint as amount from posted
      where subaccount_id is not null group by subaccount_id
    ) p
    where s.id = p.subaccount_id;
  end if;
  return null;
end $$;
-- next
-- A checkpoint without it is of other statements than any.
alter table verify_checkpoint add column if not exists laws text;
