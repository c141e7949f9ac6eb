const OF_SAO_PAULO = "at time zone 'America/Sao_Paulo'";

/** The rules of the debits of recurring PIX, each as a query for rows that break it. */
export const RULES_OF_SUBSCRIPTIONS: Record<string, string> = {
  'the bank debits a cycle at most four times, each on another day of a week': `
    select split_part(id, '.', 1) as cycle, count(*), count(distinct (due_at ${OF_SAO_PAULO})::date) as days,
      max(due_at) - min(due_at) as span
    from simulated_pix_debit where outcome <> 'canceled'
    group by 1 having count(*) > 4 or count(distinct (due_at ${OF_SAO_PAULO})::date) < count(*)
      or max(due_at) - min(due_at) > interval '170 hours'`,

  'the bank debits a cycle before the next one is due': `
    select debited.cycle, first, last, next.due_at from (
      select txid, split_part(id, '.', 1) as cycle, min(due_at) as first, max(due_at) as last
      from simulated_pix_debit where outcome <> 'canceled' group by 1, 2
    ) debited
    join subscription_cycle next on right(next.subscription_id, 32) = txid and next.due_at > first and next.due_at <= last`,
};
