import type { Law } from './law.ts';

/** Each row of each list, with the columns that its totals count. */
const LISTED = `
  select account_id, environment, 'card_payment' as list, '' as parent, '' as kind, status, null::timestamptz as instant
    from card_payment
  union all select account_id, environment, 'payout', '', method, status, requested_at from payout
  union all select account_id, environment, 'subaccount', '', '', '', null from subaccount
  union all select account_id, environment, 'statement_entry', subaccount_id, '', '', null from statement_entry
  union all select account_id, environment, 'subaccount_payout', subaccount_id, '', status, null from subaccount_payout
  union all select account_id, environment, 'product', '', '', '', null from product
  union all select account_id, environment, 'webhook_delivery', '', '', status, null from webhook_delivery
  union all select account_id, environment, 'refund', '', resource, status, null from refund
  union all select account_id, environment, 'payment_return', '', resource, '', null from payment_return
  union all select account_id, environment, 'dispute', '', '', status, null from dispute
  union all select account_id, environment, 'payment', '', method, status, created_at from payment
  union all select account_id, environment, 'charge', '', kind, status, created_at from charge
  union all select account_id, environment, 'pix_subscription', '', '', status, null from pix_subscription
  union all select account_id, environment, 'observed', coalesce(parent, ''), resource, status, null from observed`;

/** The expected totals. */
export const TOTALS = `
        select account_id, environment, list, parent, seconds, since, kind, status, count(*) as listed
        from (${LISTED}) r cross join lateral (values
          (0, timestamptz 'epoch'), (3600, date_trunc('hour', instant)), (86400, date_trunc('day', instant)),
          (2764800, timestamptz 'epoch' + floor(extract(epoch from instant) / 2764800) * interval '32 days')
        ) period (seconds, since)
        where since is not null
        group by 1, 2, 3, 4, 5, 6, 7, 8`;

/** Each row of each list with stored amounts, once for each of its instants. */
const AMOUNTS = `
  select account_id, environment, 'card_payment' as list, instant, at, '' as kind, status, amount_cents from card_payment
    cross join lateral (values ('created_at', created_at), ('paid_at', paid_at)) i (instant, at)
  union all select account_id, environment, 'payment', instant, at, method, status, amount_cents from payment
    cross join lateral (values ('created_at', created_at), ('paid_at', paid_at)) i (instant, at)
  union all select account_id, environment, 'charge', instant, at, kind, status, amount_cents from charge
    cross join lateral (values ('created_at', created_at), ('paid_at', paid_at)) i (instant, at)
  union all select account_id, environment, 'refund', instant, at, resource, status, amount_cents from refund
    cross join lateral (values ('created_at', created_at), ('completed_at', completed_at)) i (instant, at)
  union all select account_id, environment, 'payout', instant, at, method, status, amount_cents from payout
    cross join lateral (values ('requested_at', requested_at), ('processed_at', processed_at)) i (instant, at)
  union all select account_id, environment, 'subaccount_payout', instant, at, '', status, amount_cents from subaccount_payout
    cross join lateral (values ('created_at', created_at), ('completed_at', completed_at)) i (instant, at)`;

/** The expected amounts. */
export const AMOUNTS_OF_LISTS = `
        select account_id, environment, list, instant, seconds, since, kind, status, count(*) as listed, sum(amount_cents) as listed_cents
        from (${AMOUNTS}) r cross join lateral (values
          (3600, date_trunc('hour', at, 'UTC')), (86400, date_trunc('day', at, 'UTC'))
        ) period (seconds, since)
        where at is not null
        group by 1, 2, 3, 4, 5, 6, 7, 8`;

/** The totals of each instant, of one period: the seconds, and how its beginning follows from the instant. */
const amountsOf = (seconds: number, unit: 'hour' | 'day') => `
  select account_id, environment, list, instant, ${seconds} as seconds, date_trunc('${unit}', at, 'UTC') as since, kind, status,
    count(*) as listed, sum(amount_cents) as listed_cents
  from (${AMOUNTS}) r where at is not null group by 1, 2, 3, 4, 5, 6, 7, 8`;

export const TOTAL_LAWS: readonly Law[] = [
  {
    name: 'list-counts',
    scope: [],
    explain: 'each total is the number of its rows, in all and in each hour, day and 32 days',
    sql: `
      select * from (
        select account_id, environment, list, parent, seconds, since, kind, status, count from list_count where count <> 0
      ) counted full join (${TOTALS}
      ) listed using (account_id, environment, list, parent, seconds, since, kind, status)
      where count is distinct from listed`,
  },
  {
    name: 'list-amounts',
    scope: [],
    explain: 'each amount is that of its rows, in each hour and day of each of their instants',
    sql: `
      select * from (
        select account_id, environment, list, instant, seconds, since, kind, status, count, cents from list_amount
        where count <> 0 or cents <> 0
      ) kept full join (${AMOUNTS_OF_LISTS}
      ) listed using (account_id, environment, list, instant, seconds, since, kind, status)
      where count is distinct from listed or cents is distinct from listed_cents`,
  },
  {
    name: 'amounts-of-hours',
    scope: ['hours'],
    explain: 'each amount of an hour is that of its rows',
    sql: `
      select list, since, instant, kind, status, count, cents, listed, listed_cents from (
        select account_id, environment, list, instant, seconds, since, kind, status, count, cents from list_amount
        where seconds = 3600 and (count <> 0 or cents <> 0)
      ) kept full join (${amountsOf(3600, 'hour')}
      ) listed using (account_id, environment, list, instant, seconds, since, kind, status)
      where count is distinct from listed or cents is distinct from listed_cents`,
  },
  {
    name: 'amounts-of-days',
    scope: ['hours'],
    explain: 'each amount of a day is that of its hours',
    sql: `
      select list, since, instant, kind, status, d.count, d.cents, h.count as hours_count, h.cents as hours_cents from (
        select * from list_amount where seconds = 86400 and (count <> 0 or cents <> 0)
      ) d full join (
        select account_id, environment, list, instant, date_trunc('day', since, 'UTC') as since, kind, status,
          sum(count) as count, sum(cents) as cents
        from list_amount where seconds = 3600 group by 1, 2, 3, 4, 5, 6, 7 having sum(count) <> 0 or sum(cents) <> 0
      ) h using (account_id, environment, list, instant, since, kind, status)
      where d.count is distinct from h.count or d.cents is distinct from h.cents`,
  },
  {
    name: 'counts-of-lists',
    scope: ['totals'],
    explain: 'each total of a list with amounts is that of its days',
    sql: `
      select list, kind, status, c.count, d.count as days_count from (
        select account_id, environment, list, kind, status, sum(count) as count from list_count
        where seconds = 0 and count <> 0
          and list in ('card_payment', 'payment', 'charge', 'refund', 'payout', 'subaccount_payout')
        group by 1, 2, 3, 4, 5
      ) c full join (
        select account_id, environment, list, kind, status, sum(count) as count from list_amount
        where seconds = 86400 and instant in ('created_at', 'requested_at')
        group by 1, 2, 3, 4, 5 having sum(count) <> 0
      ) d using (account_id, environment, list, kind, status)
      where c.count is distinct from d.count`,
  },
  {
    name: 'counts-of-periods',
    scope: ['totals'],
    explain: 'each total of a day, of 32 days or of all is that of the hours in it',
    sql: `
      select list, parent, kind, status, seconds, since, p.count, h.count as hours_count from (
        select * from list_count where count <> 0 and list in ('payment', 'charge', 'payout')
      ) p full join (
        select account_id, environment, list, parent, kind, status, period.seconds, period.since, sum(count) as count
        from list_count h cross join lateral (values
          (0, timestamptz 'epoch'), (3600, h.since), (86400, date_trunc('day', h.since, 'UTC')),
          (2764800, timestamptz 'epoch' + floor(extract(epoch from h.since) / 2764800) * interval '32 days')
        ) period (seconds, since)
        where h.seconds = 3600 group by 1, 2, 3, 4, 5, 6, 7, 8 having sum(count) <> 0
      ) h using (account_id, environment, list, parent, kind, status, seconds, since)
      where p.count is distinct from h.count`,
  },
  {
    name: 'counts-of-rows',
    scope: ['totals'],
    explain: 'each total of a list without amounts is the number of its rows',
    sql: `
      select list, kind, status, count, listed from (
        select account_id, environment, list, kind, status, count from list_count
        where seconds = 0 and count <> 0 and list in ('subaccount', 'product', 'payment_return', 'dispute', 'pix_subscription',
          'webhook_delivery')
      ) counted full join (
        select account_id, environment, list, kind, status, count(*) as listed from (
          select account_id, environment, 'subaccount' as list, '' as kind, '' as status from subaccount
          union all select account_id, environment, 'product', '', '' from product
          union all select account_id, environment, 'payment_return', resource, '' from payment_return
          union all select account_id, environment, 'dispute', '', status from dispute
          union all select account_id, environment, 'pix_subscription', '', status from pix_subscription
          union all select account_id, environment, 'webhook_delivery', '', status from webhook_delivery
        ) r group by 1, 2, 3, 4, 5
      ) rows using (account_id, environment, list, kind, status)
      where count is distinct from listed`,
  },
];
