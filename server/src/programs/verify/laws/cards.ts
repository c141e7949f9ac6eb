import type { Law } from './law.ts';

export const CARD_LAWS: readonly Law[] = [
  {
    name: 'card-sale-posted',
    scope: ['card_payment'],
    explain: 'each paid payment has its one posting of the sale, or of its return, of its amount',
    sql: `
      select p.order_code, p.status, posted.transaction_id, posted.amount from
        (select * from card_payment where paid_at is not null or returned) p
        full join (
          select transaction_id, split_part(transaction_id, ':', 2) as order_code, sum(abs(amount)) / 2 as amount
          from posting where transaction_id like 'card\\_payment.paid:%' or transaction_id like 'card\\_payment.returned:%'
          group by 1
        ) posted using (order_code)
      where p.order_code is null or posted.transaction_id is null or posted.amount <> p.amount_cents`,
  },
  {
    name: 'card-pending',
    scope: ['card_payment'],
    explain: 'a sale is pending until its release, without what its refunds have taken',
    sql: `
      select p.order_code, p.status, p.amount_cents, p.refunded_cents, p.refunding_cents, posted.pending
      from card_payment p left join (
        select coalesce(r.resource_id, split_part(t.transaction_id, ':', 2)) as order_code, sum(t.amount) as pending
        from posting t left join refund r on t.transaction_id like 'refund.%' and r.refund_id = split_part(t.transaction_id, ':', 2)
        where t.ledger_account = 'merchant_pending'
          and (t.transaction_id like 'card\\_payment.%' or r.resource = 'card_payment')
        group by 1
      ) posted using (order_code)
      where coalesce(posted.pending, 0) <> case when p.paid_at is null or p.released_at is not null then 0
        else p.amount_cents - p.refunded_cents - p.refunding_cents end`,
  },
  {
    name: 'card-refunds',
    scope: ['card_payment'],
    explain: 'a payment shows what its refunds have given back and hold, never more than its amount',
    sql: `
      select p.order_code, p.status, p.amount_cents, p.refunded_cents, p.refunding_cents, r.completed, r.processing
      from card_payment p left join (
        select resource_id, sum(amount_cents) filter (where status = 'completed') as completed,
          sum(amount_cents) filter (where status = 'processing') as processing,
          count(*) filter (where not automatic and status <> 'failed') as requested
        from refund where resource = 'card_payment' group by 1
      ) r on r.resource_id = p.order_code
      where p.refunded_cents <> coalesce(r.completed, 0) or p.refunding_cents <> coalesce(r.processing, 0)
        or p.refund_count <> coalesce(r.requested, 0)
        or p.refunded_cents + p.refunding_cents > p.amount_cents
        or (p.status = 'refunded') <> (p.refunded_cents = p.amount_cents)`,
  },
  {
    name: 'card-return',
    scope: ['card_payment'],
    explain: 'a card payment that is returned has failed, is no sale, and names its return',
    sql: `
      select p.order_code, p.status, p.failure_reason, p.kept_payment, p.paid_at, p.refunding_cents, r.amount_cents, r.cause
      from (select * from card_payment where returned) p
      full join (select * from payment_return where resource = 'card_payment') r on r.resource_id = p.order_code
      where p.order_code is null or r.return_id is null or p.status <> 'failed' or p.paid_at is not null
        or p.refunded_cents + p.refunding_cents > 0 or r.amount_cents <> p.amount_cents
        or r.rail_id <> p.paid_charge_id or p.failure_reason <> r.cause
        or r.kept_payment is distinct from p.kept_payment
        or r.cause <> case when p.canceled_at is null then 'paid_elsewhere' else 'canceled' end
        or (r.cause = 'paid_elsewhere' and p.kept_payment is null)`,
  },
  {
    name: 'card-tasks',
    scope: ['card_payment'],
    explain: 'what is to come is written down',
    sql: `
      select p.order_code, p.status, p.open_charge_id, wanted.kind from card_payment p
        cross join (values ('expire'), ('resolve'), ('release'), ('return')) wanted (kind)
      where case wanted.kind
          when 'expire' then p.status = 'pending'
          when 'resolve' then p.open_charge_id is not null
          when 'return' then exists (
            select from payment_return r where r.rail_id = p.paid_charge_id and r.returned_at is null
          )
          else p.status = 'paid' and p.released_at is null end
        and not exists (
          select from task t where t.kind = 'card_payment.' || wanted.kind and t.key = p.order_code
        )`,
  },
];
