-- What was posted before there was a journal, tenant by tenant, in the order of its instants. It begins at nothing and must end
-- where the journal's first row begins, or with the balances: so nothing is missing. Run again, it finds no posting without a row.
do $$
declare
  t record;
begin
  for t in select account_id, environment from stream order by 1, 2 loop
    insert into ledger_transaction
    select
      t.account_id, t.environment,
      1099511627775 - count(*) over () + row_number() over upto,
      1099511627775 - sum(m.is_entry::integer) over () + sum(m.is_entry::integer) over upto,
      m.is_entry, m.transaction_id, n.kind, n.ref, n.resource, n.resource_id, n.subaccount_id, n.fee_cents,
      least(m.occurred_at, (
        select l.occurred_at from ledger_transaction l
        where l.account_id = t.account_id and l.environment = t.environment and l.number = 1099511627776
      )),
      m.balance, m.subaccounts, m.pending, m.dispute_hold, m.ltc, m.receivable,
      sum(m.balance) over upto, sum(m.subaccounts) over upto, sum(m.pending) over upto,
      sum(m.dispute_hold) over upto, sum(m.ltc) over upto, sum(m.receivable) over upto
    from (
      select l.*, (balance, subaccounts, pending, dispute_hold, ltc, receivable) <> (0, 0, 0, 0, 0, 0) as is_entry
      from (
        select
          p.transaction_id, min(p.occurred_at) as occurred_at,
          coalesce(sum(p.amount) filter (where p.ledger_account = 'merchant_balance'), 0)::bigint as balance,
          coalesce(sum(p.amount) filter (where p.ledger_account = 'merchant_subaccounts'), 0)::bigint as subaccounts,
          coalesce(sum(p.amount) filter (where p.ledger_account = 'merchant_pending'), 0)::bigint as pending,
          coalesce(sum(p.amount) filter (where p.ledger_account = 'dispute_hold'), 0)::bigint as dispute_hold,
          coalesce(sum(p.amount) filter (where p.ledger_account = 'merchant_ltc'), 0)::bigint as ltc,
          coalesce(sum(p.amount) filter (where p.ledger_account = 'merchant_receivable'), 0)::bigint as receivable
        from posting p
        where p.account_id = t.account_id and p.environment = t.environment
          and not exists (
            select from ledger_transaction l
            where l.account_id = t.account_id and l.environment = t.environment and l.transaction_id = p.transaction_id
          )
        group by p.transaction_id
      ) l
    ) m cross join lateral ledger_entry_of(t.account_id, t.environment, m.transaction_id) n
    window upto as (order by m.occurred_at, m.transaction_id rows unbounded preceding);

    if exists (
      select from journal_figures(t.account_id, t.environment) a
      left join ledger_transaction first on first.account_id = t.account_id and first.environment = t.environment
        and first.number = 1099511627776
      left join ledger_transaction last on last.account_id = t.account_id and last.environment = t.environment
        and last.number = 1099511627775
      where (
        coalesce(last.balance, 0), coalesce(last.subaccounts, 0), coalesce(last.pending, 0),
        coalesce(last.dispute_hold, 0), coalesce(last.ltc, 0), coalesce(last.receivable, 0)
      ) <> (
        coalesce(first.balance - first.balance_delta, a.balance),
        coalesce(first.subaccounts - first.subaccounts_delta, a.subaccounts),
        coalesce(first.pending - first.pending_delta, a.pending),
        coalesce(first.dispute_hold - first.dispute_hold_delta, a.dispute_hold),
        coalesce(first.ltc - first.ltc_delta, a.ltc),
        coalesce(first.receivable - first.receivable_delta, a.receivable)
      )
    ) then
      raise exception 'the journal of % does not end with its balances', t.account_id;
    end if;
    commit;
  end loop;
end $$;
