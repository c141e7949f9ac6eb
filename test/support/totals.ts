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

/** The rules of totals, each with the query for totals that break it. */
export function rulesOfTotals(): Record<string, string> {
  return {
    'each total is the number of its rows, in all and in each hour, day and 32 days': `
      select * from (
        select account_id, environment, list, parent, seconds, since, kind, status, count from list_count where count <> 0
      ) counted full join (${TOTALS}
      ) listed using (account_id, environment, list, parent, seconds, since, kind, status)
      where count is distinct from listed`,
    'each amount is that of its rows, in each hour and day of each of their instants': `
      select * from (
        select account_id, environment, list, instant, seconds, since, kind, status, count, cents from list_amount
        where count <> 0 or cents <> 0
      ) kept full join (${AMOUNTS_OF_LISTS}
      ) listed using (account_id, environment, list, instant, seconds, since, kind, status)
      where count is distinct from listed or cents is distinct from listed_cents`,
  };
}
