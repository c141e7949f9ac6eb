import { type Law, SOLD } from './law.ts';
import { expiredOnce, linesMatch, PIX_RESOURCES } from './records.ts';

export const PIX_LAWS: readonly Law[] = [
  {
    name: 'pix-paid-once',
    scope: ['payment', 'charge'],
    explain: 'a payment was paid by exactly one accepted credit of exactly its amount',
    sql: `
      select id, p.status, p.amount_cents, accepted, a.amount_cents as came from (${PIX_RESOURCES}) p
      full join (
        select payment_id as id, count(*) as accepted, sum(amount_cents) as amount_cents, min(end_to_end_id) as end_to_end_id
        from pix_credit where cause is null group by 1
      ) a using (id)
      where p.family is null or (p.paid_at is null) <> (a.accepted is null)
        or (p.paid_at is not null) <> (p.status in ('paid', 'refunded'))
        or a.accepted <> 1 or a.amount_cents <> p.amount_cents or a.end_to_end_id <> p.end_to_end_id`,
  },
  {
    name: 'payment-posted',
    scope: ['payment'],
    explain: 'the postings of payments by PIX are what their states call for, each once',
    sql: linesMatch(
      'payment.',
      `select account_id, environment, 'payment.' || line.step || ':' || payment_id as transaction_id,
        line.name, line.amount, null as subaccount_id
      from (
        select *, environment = 'sandbox' and subscription_id is null as is_test, status = 'failed' or expired.id is not null as had_ended
        from payment left join (${expiredOnce('payment')}) expired on expired.id = payment_id
        where method = 'pix'
      ) p cross join lateral (values
        ('created', is_test, 'pix_received', -amount_cents), ('created', is_test, 'merchant_pending', amount_cents),
        ('ended', is_test and had_ended, 'merchant_pending', -amount_cents),
        ('ended', is_test and had_ended, 'pix_received', amount_cents),
        ('paid', paid_at is not null, case when is_test and not had_ended then 'merchant_pending' else 'pix_received' end,
          -amount_cents),
        ('paid', paid_at is not null, 'platform_fees', fee_cents),
        ('paid', paid_at is not null, 'merchant_balance', amount_cents - fee_cents)
      ) line (step, is_posted, name, amount)
      where line.is_posted and line.amount <> 0`,
    ),
  },
  {
    name: 'credit-return-posted',
    scope: ['payment', 'charge', 'pix_subscription'],
    explain: 'the postings of credits that are sent back are what their states call for, each once',
    sql: linesMatch(
      'pix_credit.',
      `select account_id, environment, 'pix_credit.' || line.step || ':' || end_to_end_id as transaction_id,
        line.name, line.amount, null as subaccount_id
      from pix_credit cross join lateral (values
        ('returned', 'pix_received', -amount_cents), ('returned', 'refunds_in_transit', amount_cents),
        ('sent_back', 'refunds_in_transit', -amount_cents), ('sent_back', 'pix_received', amount_cents)
      ) line (step, name, amount)
      where cause is not null and (line.step = 'returned' or returned_at is not null)`,
    ),
  },
  {
    name: 'pix-return-listed',
    scope: ['payment', 'charge', 'pix_subscription'],
    explain: 'each return of a PIX is listed as its credit is',
    sql: `
      select c.end_to_end_id, c.cause, r.cause as listed, c.returned_at, r.returned_at as listed_at from (
        select * from pix_credit where cause is not null
      ) c full join (select * from payment_return where resource <> 'card_payment') r
        on r.account_id = c.account_id and r.environment = c.environment and r.rail_id = c.end_to_end_id
      where r.resource_id is distinct from c.payment_id or r.amount_cents is distinct from c.amount_cents
        or r.cause is distinct from c.cause or r.returned_at is distinct from c.returned_at`,
  },
  {
    name: 'pix-refunds',
    scope: ['payment', 'charge'],
    explain: 'a payment by PIX shows what its refunds have given back and hold, never more than its amount',
    sql: `
      select p.id, p.status, p.amount_cents, p.refunded_cents, p.refunding_cents, r.completed, r.processing
      from (${PIX_RESOURCES}) p left join (
        select resource_id, sum(amount_cents) filter (where status = 'completed') as completed,
          sum(amount_cents) filter (where status = 'processing') as processing,
          count(*) filter (where not automatic and status <> 'failed') as requested
        from refund where resource in ('payment', 'charge') group by 1
      ) r on r.resource_id = p.id
      where p.refunded_cents <> coalesce(r.completed, 0) or p.refunding_cents <> coalesce(r.processing, 0)
        or p.refund_count <> coalesce(r.requested, 0)
        or p.refunded_cents + p.refunding_cents > p.amount_cents
        or (p.status = 'refunded') <> (p.refunded_cents = p.amount_cents)`,
  },
  {
    name: 'pix-tasks',
    scope: ['payment', 'charge'],
    explain: 'what is to come of a payment by PIX is written down',
    sql: `
      select wanted.key, wanted.kind from (
        select 'pix.expire' as kind, id as key from (${PIX_RESOURCES}) p where status = 'pending'
        union all select 'pix.register', id from (${PIX_RESOURCES}) p where status = 'pending' and br_code is null
        union all select 'pix.return', end_to_end_id from pix_credit where cause is not null and returned_at is null
      ) wanted
      where not exists (select from task t where t.kind = wanted.kind and t.key = wanted.key)`,
  },
  {
    name: 'canceled-never-paid',
    scope: SOLD,
    explain: 'a canceled payment is never paid',
    sql: `
    select account_id, order_code, status from card_payment p
    where canceled_at is not null and (status <> 'expired' and not returned or exists (
      select from posting where posting.account_id = p.account_id and posting.environment = p.environment
        and transaction_id = 'card_payment.paid:' || p.order_code))
    union all
    select account_id, payment_id, status from payment p
    where canceled_at is not null and (status not in ('expired', 'failed') or paid_at is not null or exists (
      select from posting where posting.account_id = p.account_id and posting.environment = p.environment
        and transaction_id in ('payment.paid:' || p.payment_id, 'ltc.paid:' || p.payment_id)))
    union all
    select account_id, charge_id, status from charge p
    where canceled_at is not null and (status <> 'expired' or paid_at is not null or exists (
      select from posting where posting.account_id = p.account_id and posting.environment = p.environment
        and transaction_id = 'charge.paid:' || p.charge_id))`,
  },
  {
    name: 'test-payment-posted',
    scope: ['test_payment'],
    explain: 'test payments are posted when they come and when they are settled, each once',
    sql: `
    select id, status, value_cents, created.amount as created, settled.amount as settled
    from test_payment t left join (
      select account_id, environment, transaction_id, sum(abs(amount)) / 2 as amount,
        bool_or(ledger_account = 'merchant_pending') as waits
      from posting group by 1, 2, 3
    ) created on created.account_id = t.account_id and created.environment = t.environment
      and created.transaction_id = 'test_payment.created:' || id
    left join (
      select account_id, environment, transaction_id, sum(abs(amount)) / 2 as amount from posting group by 1, 2, 3
    ) settled on settled.account_id = t.account_id and settled.environment = t.environment
      and settled.transaction_id = 'test_payment.settled:' || id
    where created.amount is distinct from value_cents or settled.amount <> value_cents
      or (status = 'paid') <> (settled.amount is not null or not created.waits)`,
  },
];
