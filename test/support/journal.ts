/** The rules of the journal, in the form of the audits: each query finds what breaks its rule. */
export const RULES_OF_JOURNAL: Record<string, string> = {
  'each ledger transaction has one row of the journal, which moves what its postings do': `
    select account_id, environment, transaction_id, number from (
      select account_id, environment, transaction_id,
        sum(amount) filter (where ledger_account = 'merchant_balance') as balance,
        sum(amount) filter (where ledger_account = 'merchant_subaccounts') as subaccounts,
        sum(amount) filter (where ledger_account = 'merchant_pending') as pending,
        sum(amount) filter (where ledger_account = 'dispute_hold') as dispute_hold,
        sum(amount) filter (where ledger_account = 'merchant_ltc') as ltc,
        sum(amount) filter (where ledger_account = 'merchant_receivable') as receivable
      from posting group by 1, 2, 3
    ) posted full join ledger_transaction r using (account_id, environment, transaction_id)
    where (coalesce(posted.balance, 0), coalesce(posted.subaccounts, 0), coalesce(posted.pending, 0),
        coalesce(posted.dispute_hold, 0), coalesce(posted.ltc, 0), coalesce(posted.receivable, 0))
      is distinct from (balance_delta, subaccounts_delta, pending_delta, dispute_hold_delta, ltc_delta, receivable_delta)
      or posted.transaction_id is null
    union all
    select account_id, environment, transaction_id, count(*) from ledger_transaction group by 1, 2, 3 having count(*) > 1`,

  'each row of the journal continues the one before, from nothing to the balances': `
    select account_id, environment, number, transaction_id from (
      select r.*, lag(r) over tenant as before, lead(number) over tenant as next
      from ledger_transaction r window tenant as (partition by account_id, environment order by number)
    ) r cross join lateral (
      select
        coalesce(sum(l.balance) filter (where name = 'merchant_balance'), 0) as balance,
        coalesce(sum(l.balance) filter (where name = 'merchant_subaccounts'), 0) as subaccounts,
        coalesce(sum(l.balance) filter (where name = 'merchant_pending'), 0) as pending,
        coalesce(sum(l.balance) filter (where name = 'dispute_hold'), 0) as dispute_hold,
        coalesce(sum(l.balance) filter (where name = 'merchant_ltc'), 0) as ltc,
        coalesce(sum(l.balance) filter (where name = 'merchant_receivable'), 0) as receivable
      from ledger_account l where l.account_id = r.account_id and l.environment = r.environment
    ) now
    where (r.balance, r.subaccounts, r.pending, r.dispute_hold, r.ltc, r.receivable) <> (
        coalesce((before).balance, 0) + balance_delta, coalesce((before).subaccounts, 0) + subaccounts_delta,
        coalesce((before).pending, 0) + pending_delta, coalesce((before).dispute_hold, 0) + dispute_hold_delta,
        coalesce((before).ltc, 0) + ltc_delta, coalesce((before).receivable, 0) + receivable_delta
      )
      or number <> (before).number + 1 or entries <> (before).entries + is_entry::integer
      or occurred_at < (before).occurred_at
      or next is null and (r.balance, r.subaccounts, r.pending, r.dispute_hold, r.ltc, r.receivable)
        <> (now.balance, now.subaccounts, now.pending, now.dispute_hold, now.ltc, now.receivable)`,

  'each row of the journal names what its transaction was for, as the records do': `
    select account_id, environment, transaction_id, l.kind, l.ref, l.resource, l.resource_id, l.subaccount_id, l.fee_cents
    from ledger_transaction l cross join lateral ledger_entry_of(account_id, environment, transaction_id) named
    where (l.kind, l.ref, l.resource, l.resource_id, l.subaccount_id, l.fee_cents) is distinct from
      (named.kind, named.ref, named.resource, named.resource_id, named.subaccount_id, named.fee_cents)`,
};
