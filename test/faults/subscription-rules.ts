const OF_SAO_PAULO = "at time zone 'America/Sao_Paulo'";

/** The rules of recurring PIX, each as a query for rows that break it. */
export const RULES_OF_SUBSCRIPTIONS: Record<string, string> = {
  'a cycle is paid where it has its payment, of its amount, and nowhere else': `
    select c.subscription_id, c.number, c.status, payment_id, p.status as paid from subscription_cycle c
    full join (select * from payment where subscription_id is not null) p using (payment_id)
    where (c.status = 'paid' or p.payment_id is not null) and (
      c.status is distinct from 'paid' or p.paid_at is null
      or p.subscription_id is distinct from c.subscription_id or p.amount_cents <> c.amount_cents)`,

  'cycles are numbered without a gap, and the newest alone is open': `
    select subscription_id, number, status, newest from (
      select *, max(number) over of_subscription as newest, count(*) over of_subscription as many
      from subscription_cycle window of_subscription as (partition by subscription_id)
    ) c where newest <> many or (number < newest and status in ('scheduled', 'retrying'))`,

  'a live subscription has an open cycle, and one that has completed or was not authorised has none': `
    select s.subscription_id, s.status, count(c.number) from pix_subscription s
    left join subscription_cycle c on c.subscription_id = s.subscription_id and c.status in ('scheduled', 'retrying')
    group by s.subscription_id, s.status
    having case when s.status in ('active', 'past_due') then count(c.number) <> 1
      when s.status = 'canceled' then count(c.number) > 1 else count(c.number) > 0 end`,

  'a cycle has at most four attempts': `
    select subscription_id, number, attempts from subscription_cycle where attempts > 4`,

  // The last attempt is seven days after the first: 168 hours, or 169 if the clocks change.
  'the bank debits a cycle at most four times, each on another day of a week': `
    select split_part(id, '.', 1) as cycle, count(*), count(distinct (due_at ${OF_SAO_PAULO})::date) as days,
      max(due_at) - min(due_at) as span
    from simulated_pix_debit where outcome <> 'canceled'
    group by 1 having count(*) > 4 or count(distinct (due_at ${OF_SAO_PAULO})::date) < count(*)
      or max(due_at) - min(due_at) > interval '170 hours'`,

  'due days are counted from the day of the authorisation, and never drift': `
    select subscription_id, every, authorised_at, c.number, due_at from subscription_cycle c
    join pix_subscription using (subscription_id)
    where due_at ${OF_SAO_PAULO} is distinct from date_trunc('day', authorised_at ${OF_SAO_PAULO})
      + (c.number - 1) * case every when 'weekly' then interval '7 days' when 'monthly' then interval '1 month'
        when 'quarterly' then interval '3 months' when 'semiannual' then interval '6 months' else interval '1 year' end`,

  'a cycle goes forward, and one that has ended stays as it is': `
    select resource_id, version, before, cycle from (
      select resource_id, version, cycle, lag(cycle) over (
        partition by account_id, environment, resource_id, cycle -> 'number' order by version
      ) as before
      from (
        select *, snapshot -> 'changedCycle' as cycle from event
        where resource = 'subscription' and jsonb_typeof(snapshot -> 'changedCycle') = 'object'
      ) shown
    ) step
    where (before ->> 'status' in ('paid', 'failed', 'canceled') and cycle <> before)
      or (cycle ->> 'status' = 'scheduled' and before ->> 'status' <> 'scheduled')
      or (cycle ->> 'attempts')::int < (before ->> 'attempts')::int`,

  // A cycle is first debited on its due day or later, so a later due day is the next cycle's.
  'the bank debits a cycle before the next one is due': `
    select debited.cycle, first, last, next.due_at from (
      select txid, split_part(id, '.', 1) as cycle, min(due_at) as first, max(due_at) as last
      from simulated_pix_debit where outcome <> 'canceled' group by 1, 2
    ) debited
    join subscription_cycle next on right(next.subscription_id, 32) = txid and next.due_at > first and next.due_at <= last`,

  'what is to come of a subscription is written down': `
    select wanted.kind, wanted.key from (
      select 'pix.expire' as kind, subscription_id as key from pix_subscription where status = 'pending'
      union all select 'pix.register', subscription_id from pix_subscription where status = 'pending' and br_code is null
      union all select case when sent then 'subscription.look_up' else 'subscription.instruct' end, subscription_id
      from subscription_cycle where status in ('scheduled', 'retrying')
    ) wanted
    where not exists (select from task t where t.kind = wanted.kind and t.key = wanted.key)`,
};
