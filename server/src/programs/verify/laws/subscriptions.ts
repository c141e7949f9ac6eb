import type { Law } from './law.ts';

const OF_SAO_PAULO = "at time zone 'America/Sao_Paulo'";

export const SUBSCRIPTION_LAWS: readonly Law[] = [
  {
    name: 'cycle-paid',
    scope: ['pix_subscription'],
    explain: 'a cycle is paid where it has its payment, of its amount, and nowhere else',
    sql: `
    select c.subscription_id, c.number, c.status, payment_id, p.status as paid from subscription_cycle c
    full join (select * from payment where subscription_id is not null) p using (payment_id)
    where (c.status = 'paid' or p.payment_id is not null) and (
      c.status is distinct from 'paid' or p.paid_at is null
      or p.subscription_id is distinct from c.subscription_id or p.amount_cents <> c.amount_cents)`,
  },
  {
    name: 'cycle-numbers',
    scope: ['pix_subscription'],
    explain: 'cycles are numbered without a gap, and the newest alone is open',
    sql: `
    select subscription_id, number, status, newest from (
      select *, max(number) over of_subscription as newest, count(*) over of_subscription as many
      from subscription_cycle window of_subscription as (partition by subscription_id)
    ) c where newest <> many or (number < newest and status in ('scheduled', 'retrying'))`,
  },
  {
    name: 'cycle-open',
    scope: ['pix_subscription'],
    explain:
      'a live subscription has an open cycle, and one that has completed or was not authorised has none',
    sql: `
    select s.subscription_id, s.status, count(c.number) from pix_subscription s
    left join subscription_cycle c on c.subscription_id = s.subscription_id and c.status in ('scheduled', 'retrying')
    group by s.subscription_id, s.status
    having case when s.status in ('active', 'past_due') then count(c.number) <> 1
      when s.status = 'canceled' then count(c.number) > 1 else count(c.number) > 0 end`,
  },
  {
    name: 'cycle-attempts',
    scope: ['pix_subscription'],
    explain: 'a cycle has at most four attempts',
    sql: `
    select subscription_id, number, attempts from subscription_cycle where attempts > 4`,
  },
  {
    name: 'cycle-due-days',
    scope: ['pix_subscription'],
    explain: 'due days are counted from the day of the authorisation, and never drift',
    sql: `
    select subscription_id, every, authorised_at, c.number, due_at from subscription_cycle c
    join pix_subscription using (subscription_id)
    where due_at ${OF_SAO_PAULO} is distinct from date_trunc('day', authorised_at ${OF_SAO_PAULO})
      + (c.number - 1) * case every when 'weekly' then interval '7 days' when 'monthly' then interval '1 month'
        when 'quarterly' then interval '3 months' when 'semiannual' then interval '6 months' else interval '1 year' end`,
  },
  {
    name: 'cycle-steps',
    scope: ['pix_subscription'],
    explain: 'a cycle goes forward, and one that has ended stays as it is',
    sql: `
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
  },
  {
    name: 'cycle-shown',
    scope: ['pix_subscription'],
    explain: 'the newest event of a cycle shows it, and its amount is that of its subscription',
    sql: `
    select c.subscription_id, c.number as cycle, c.status, c.attempts, c.amount_cents, s.amount_cents as agreed_cents,
      shown ->> 'status' as reported, shown ->> 'attempts' as attempts_reported
    from subscription_cycle c join pix_subscription s using (subscription_id)
    left join lateral (
      select e.snapshot -> 'changedCycle' as shown from event e
      where e.account_id = c.account_id and e.environment = c.environment and e.resource = 'subscription'
        and e.resource_id = c.subscription_id and (e.snapshot -> 'changedCycle' ->> 'number')::int = c.number
      order by e.version desc limit 1
    ) e on true
    where c.amount_cents <> s.amount_cents or shown ->> 'status' <> c.status or (shown ->> 'attempts')::int <> c.attempts`,
  },
  {
    name: 'subscription-tasks',
    scope: ['pix_subscription'],
    explain: 'what is to come of a subscription is written down',
    sql: `
    select wanted.key, wanted.kind from (
      select 'pix.expire' as kind, subscription_id as key from pix_subscription where status = 'pending'
      union all select 'pix.register', subscription_id from pix_subscription where status = 'pending' and br_code is null
      union all select case when sent then 'subscription.look_up' else 'subscription.instruct' end, subscription_id
      from subscription_cycle where status in ('scheduled', 'retrying')
    ) wanted
    where not exists (select from task t where t.kind = wanted.kind and t.key = wanted.key)`,
  },
];
