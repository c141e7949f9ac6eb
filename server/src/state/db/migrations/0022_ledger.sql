alter table ledger_account
  drop constraint if exists ledger_account_known,
  add constraint ledger_account_known check (
    name in (
      'merchant_balance', 'merchant_subaccounts', 'merchant_pending', 'merchant_receivable',
      'refunds_in_transit', 'payouts_in_transit', 'paid_out', 'platform_fees', 'acquirer', 'pix_received', 'received',
      'dispute_hold', 'dispute_claims',
      'merchant_ltc', 'ltc_unmatched', 'ltc_in_transit', 'ltc_paid_out', 'ltc_received'
    )
  ),
  drop constraint if exists ledger_account_sign,
  add constraint ledger_account_sign check (
    case
      when name in ('merchant_receivable', 'acquirer', 'pix_received', 'received', 'dispute_claims', 'ltc_received')
        then balance <= 0
      else balance >= 0
    end
  );

-- As before, with `ltc_unmatched` among the accounts that count in litoshi.
create or replace function apply_postings() returns trigger language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  -- In each unit for itself: cents and litoshi never make up for each other.
  if exists (
    select from posted
    group by account_id, environment, transaction_id,
      ledger_account in ('merchant_ltc', 'ltc_unmatched', 'ltc_in_transit', 'ltc_paid_out', 'ltc_received')
    having sum(amount) <> 0
  ) then
    raise exception 'the postings of a transaction do not sum to zero'
      using errcode = 'check_violation', constraint = 'posting_sums_to_zero';
  end if;

  -- The key tells lines apart; that a transaction comes once, whatever its lines are, is checked here.
  if exists (
    select from (
      select account_id, environment, transaction_id, count(*) as lines from posted
      group by account_id, environment, transaction_id
    ) t
    where t.lines <> (
      select count(*) from posting p
      where p.account_id = t.account_id and p.environment = t.environment and p.transaction_id = t.transaction_id
    )
  ) then
    raise exception 'this ledger transaction was posted before'
      using errcode = 'unique_violation', constraint = 'posting_once';
  end if;

  insert into ledger_account (account_id, environment, name)
  select distinct account_id, environment, ledger_account from posted
  on conflict do nothing;

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
