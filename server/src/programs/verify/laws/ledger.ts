import type { Law } from './law.ts';

export const LEDGER_LAWS: readonly Law[] = [
  {
    name: 'transaction-sums-to-zero',
    scope: ['journal'],
    explain: 'the postings of each transaction sum to zero',
    sql: `
      select account_id, environment, transaction_id, case when cents <> 0 then cents else litoshi end as sum
      from transaction_sum where cents <> 0 or litoshi <> 0`,
  },
  {
    name: 'journal-moves-postings',
    scope: ['journal'],
    explain: 'each ledger transaction has one row of the journal, which moves what its postings do',
    sql: `
    select account_id, environment, transaction_id, number
    from transaction_sum s full join ledger_transaction r using (account_id, environment, transaction_id)
    where (s.balance, s.subaccounts, s.pending, s.dispute_hold, s.ltc, s.receivable)
      is distinct from (balance_delta, subaccounts_delta, pending_delta, dispute_hold_delta, ltc_delta, receivable_delta)
    union all
    select account_id, environment, transaction_id, count(*) from ledger_transaction group by 1, 2, 3 having count(*) > 1`,
  },
  {
    name: 'journal-continues',
    scope: ['journal'],
    explain: 'each row of the journal continues the one before, from nothing',
    sql: `
    select r.account_id, r.environment, r.transaction_id, r.number, r.entries, r.balance, r.subaccounts, r.pending,
      r.dispute_hold, r.ltc, r.receivable
    from ledger_transaction r left join ledger_transaction b
      on b.account_id = r.account_id and b.environment = r.environment and b.number = r.number - 1
    where (r.balance, r.subaccounts, r.pending, r.dispute_hold, r.ltc, r.receivable) <> (
        coalesce(b.balance, 0) + r.balance_delta, coalesce(b.subaccounts, 0) + r.subaccounts_delta,
        coalesce(b.pending, 0) + r.pending_delta, coalesce(b.dispute_hold, 0) + r.dispute_hold_delta,
        coalesce(b.ltc, 0) + r.ltc_delta, coalesce(b.receivable, 0) + r.receivable_delta
      )
      or r.entries <> b.entries + r.is_entry::integer or r.occurred_at < b.occurred_at
      -- The first of all has none before it.
      or b.number is null and exists (
        select from ledger_transaction e where e.account_id = r.account_id and e.environment = r.environment
          and e.number < r.number
      )
      or r.is_entry <> ((r.balance_delta, r.subaccounts_delta, r.pending_delta, r.dispute_hold_delta, r.ltc_delta,
        r.receivable_delta) <> (0, 0, 0, 0, 0, 0))`,
  },
  {
    name: 'journal-ends',
    scope: ['account'],
    explain: 'the newest row of the journal has the balances',
    sql: `
    select account_id, environment, r.transaction_id, r.number, r.balance, now.balance as balance_now, r.subaccounts,
      now.subaccounts as subaccounts_now, r.pending, now.pending as pending_now, r.dispute_hold,
      now.dispute_hold as dispute_hold_now, r.ltc, now.ltc as ltc_now, r.receivable, now.receivable as receivable_now
    from (
      select account_id, environment,
        coalesce(sum(balance) filter (where name = 'merchant_balance'), 0) as balance,
        coalesce(sum(balance) filter (where name = 'merchant_subaccounts'), 0) as subaccounts,
        coalesce(sum(balance) filter (where name = 'merchant_pending'), 0) as pending,
        coalesce(sum(balance) filter (where name = 'dispute_hold'), 0) as dispute_hold,
        coalesce(sum(balance) filter (where name = 'merchant_ltc'), 0) as ltc,
        coalesce(sum(balance) filter (where name = 'merchant_receivable'), 0) as receivable
      from ledger_account group by 1, 2
    ) now left join (
      select distinct on (account_id, environment) * from ledger_transaction order by account_id, environment, number desc
    ) r using (account_id, environment)
    where (coalesce(r.balance, 0), coalesce(r.subaccounts, 0), coalesce(r.pending, 0), coalesce(r.dispute_hold, 0),
        coalesce(r.ltc, 0), coalesce(r.receivable, 0))
      <> (now.balance, now.subaccounts, now.pending, now.dispute_hold, now.ltc, now.receivable)`,
  },
  {
    name: 'journal-fees',
    scope: ['journal'],
    explain: 'each row of the journal shows the fee of its payout, or the one that was posted',
    sql: `
    select l.account_id, l.environment, l.transaction_id, l.number, l.kind, l.fee_cents, named.fee_cents as fee_named
    from ledger_transaction l
    left join transaction_sum t on t.account_id = l.account_id and t.environment = l.environment
      and t.transaction_id = l.transaction_id
    left join payout p on l.resource = 'payout' and p.withdrawal_id = l.resource_id
    left join subaccount_payout s on l.resource = 'subaccount_payout' and s.id = l.resource_id
    cross join lateral (
      select case split_part(l.transaction_id, ':', 1)
        when 'payout.requested' then p.fee_cents
        when 'payout.denied' then -p.fee_cents
        when 'payout.returned' then -p.fee_cents
        when 'subaccount_payout.requested' then s.agreed_fee_cents
        when 'subaccount_payout.reversed' then -s.agreed_fee_cents
        when 'subaccount_payout.returned' then -s.agreed_fee_cents
        when 'payout.completed' then 0
        when 'subaccount_payout.completed' then 0
        else coalesce(t.fees, 0) end as fee_cents
    ) named
    -- Null until the commit in what a server of the version before has posted.
    where l.fee_cents is distinct from named.fee_cents`,
  },
  {
    name: 'journal-names',
    scope: ['names'],
    onRequest: true,
    explain: 'each row of the journal names what its transaction was for, as the records do',
    sql: `
    select account_id, environment, transaction_id, l.kind, l.ref, l.resource, l.resource_id, l.subaccount_id, l.fee_cents
    from ledger_transaction l cross join lateral ledger_entry_of(account_id, environment, transaction_id) named
    where (l.kind, l.ref, l.resource, l.resource_id, l.subaccount_id, l.fee_cents) is distinct from
      (named.kind, named.ref, named.resource, named.resource_id, named.subaccount_id, named.fee_cents)`,
  },
  {
    name: 'balance-is-sum',
    scope: ['balances'],
    explain: 'each balance is the sum of its entries',
    sql: `
      select account_id, environment, name, balance, entries from
        (select account_id, environment, name, balance from ledger_account) balance
        full join (
          select account_id, environment, ledger_account as name, sum(amount) as entries from posting group by 1, 2, 3
        ) posted using (account_id, environment, name)
      where coalesce(balance, 0) <> coalesce(entries, 0)`,
  },
  {
    name: 'subaccounts-control',
    scope: ['account'],
    explain: 'the control account is the sum of all subaccounts',
    sql: `
      select account_id, environment, 'merchant_subaccounts' as name, control, together from (
        select account_id, environment, balance as control from ledger_account where name = 'merchant_subaccounts'
      ) control full join (
        select account_id, environment, sum(balance_cents) as together from subaccount group by 1, 2
      ) subaccounts using (account_id, environment)
      where coalesce(control, 0) <> coalesce(together, 0)`,
  },
  {
    name: 'debt-before-balance',
    scope: ['account'],
    explain: 'an account that owes has no balance',
    sql: `
    select account_id, environment, own.name, owed.balance as owes, own.balance as has from ledger_account owed
      join ledger_account own using (account_id, environment)
    where owed.name = 'merchant_receivable' and own.name = 'merchant_balance'
      and owed.balance < 0 and own.balance > 0`,
  },
  {
    name: 'dispute-holds',
    scope: ['account'],
    explain: 'disputes hold what is open, under review or lost',
    sql: `
    select account_id, environment, 'dispute_hold' as name, held, balance from (
      select account_id, environment, sum(amount_cents) filter (where status in ('open', 'under_review', 'lost')) as held
      from dispute group by 1, 2
    ) d full join (
      select account_id, environment, balance from ledger_account where name = 'dispute_hold'
    ) l using (account_id, environment)
    where coalesce(held, 0) <> coalesce(balance, 0)`,
  },
  {
    name: 'wallet-event',
    scope: ['account'],
    explain: 'the last event of the wallet shows its balances',
    sql: `
    select l.account_id, l.environment, l.name, l.balance, snapshot ->> l.name as reported from ledger_account l
    join lateral (
      select snapshot from event e where e.account_id = l.account_id and e.environment = l.environment
        and e.resource = 'wallet' and e.resource_id = 'wallet' order by version desc limit 1
    ) last on true
    where l.balance <> coalesce((snapshot ->> l.name)::bigint, 0)`,
  },
];
