/**
 * Tables that laws read beside those of the books, made of them: each is made once for all laws of a statement. They are narrow,
 * because what they are made of is sorted and hashed, which costs most with whole snapshots.
 */
const DERIVED: Readonly<Record<string, string>> = {
  /** The sums of the postings of each transaction, in each unit, for each figure of the journal, and the fees. */
  transaction_sum: `
    select account_id, environment, transaction_id,
      coalesce(sum(amount) filter (where ledger_account not like '%ltc%'), 0) as cents,
      coalesce(sum(amount) filter (where ledger_account like '%ltc%'), 0) as litoshi,
      coalesce(sum(amount) filter (where ledger_account = 'merchant_balance'), 0) as balance,
      coalesce(sum(amount) filter (where ledger_account = 'merchant_subaccounts'), 0) as subaccounts,
      coalesce(sum(amount) filter (where ledger_account = 'merchant_pending'), 0) as pending,
      coalesce(sum(amount) filter (where ledger_account = 'dispute_hold'), 0) as dispute_hold,
      coalesce(sum(amount) filter (where ledger_account = 'merchant_ltc'), 0) as ltc,
      coalesce(sum(amount) filter (where ledger_account = 'merchant_receivable'), 0) as receivable,
      coalesce(sum(amount) filter (where ledger_account = 'platform_fees'), 0) as fees
    from posting group by 1, 2, 3`,
  /** Each event with the version of its resource, and with the event before it of the same resource. */
  event_step: `
    select *, lag(kind) over of_resource as before, lag(nth) over of_resource as nth_before
    from (
      select account_id, environment, resource, resource_id, version, kind, previous_status,
        (snapshot ->> 'version')::int as nth
      from event offset 0
    ) e
    -- Any order of the texts will do, and that of their bytes is sorted in two thirds of the time.
    window of_resource as (
      partition by resource_id collate "C", resource collate "C", account_id collate "C", environment collate "C"
      order by version
    )`,
};

/** The derived tables that a query reads, as parts of a `with`. */
export function derivedFor(query: string): string[] {
  return Object.entries(DERIVED)
    .filter(([name]) => query.includes(name))
    .map(([name, text]) => `${name} as (${text})`);
}
