import { type Law, SOLD } from './law.ts';

export const REFUND_LAWS: readonly Law[] = [
  {
    name: 'refund-posted',
    scope: SOLD,
    explain: 'the postings of a refund are what its state calls for, each once',
    sql: `
      select refund_id, status, posted.transaction_id, posted.amount, amount_cents from (
        select refund_id, status, amount_cents, 'refund.' || step || ':' || refund_id as transaction_id
        from refund r cross join (values ('begun'), ('completed'), ('failed')) line (step)
        where step in ('begun', status)
      ) wanted full join (
        -- What a refund of a split charge takes of a subaccount is a transaction of its own.
        select split_part(transaction_id, ':', 1) || ':' || split_part(transaction_id, ':', 2) as transaction_id,
          sum(abs(amount)) / 2 as amount
        from posting where transaction_id like 'refund.%' group by 1
      ) posted using (transaction_id)
      where posted.amount is distinct from amount_cents`,
  },
  {
    name: 'refund-without-debt',
    scope: SOLD,
    explain: 'a refund that the merchant has requested leaves no debt',
    sql: `
      select refund_id, p.amount from refund r join posting p on p.account_id = r.account_id
        and p.environment = r.environment and p.transaction_id = 'refund.begun:' || refund_id
      where not automatic and ledger_account = 'merchant_receivable'`,
  },
  {
    name: 'disputed-amount',
    scope: SOLD,
    explain: 'a payment shows what is disputed of it, and gives no more than its amount with its refunds',
    sql: `
      select p.id, p.amount_cents, p.refunded_cents, p.refunding_cents, p.disputed_cents, d.disputed from (
        select 'card_payment' as resource, order_code as id, amount_cents, refunded_cents, refunding_cents, disputed_cents
        from card_payment
        union all select 'payment', payment_id, amount_cents, refunded_cents, refunding_cents, disputed_cents from payment
        union all select 'charge', charge_id, amount_cents, refunded_cents, refunding_cents, disputed_cents from charge
      ) p left join (
        select resource, resource_id as id, sum(amount_cents) filter (where status <> 'won') as disputed
        from dispute where resource is not null group by 1, 2
      ) d using (resource, id)
      where p.disputed_cents <> coalesce(d.disputed, 0)
        or p.refunded_cents + p.refunding_cents + p.disputed_cents > p.amount_cents`,
  },
  {
    name: 'dispute-posted',
    scope: [...SOLD, 'dispute'],
    explain: 'the postings of a dispute are what its state calls for, each once',
    sql: `
      select id, status, posted.transaction_id, posted.amount, amount_cents from (
        select id, status, amount_cents, 'dispute.' || step || ':' || id as transaction_id
        from dispute cross join (values ('opened'), ('won'), ('forgiven')) line (step)
        where step in ('opened', status)
      ) wanted full join (
        select regexp_replace(transaction_id, '^dispute\\.raised:([^:]+):.*', 'dispute.opened:\\1') as transaction_id,
          sum(abs(amount)) / 2 as amount
        from posting where transaction_id like 'dispute.%' group by 1
      ) posted using (transaction_id)
      where posted.amount is distinct from amount_cents`,
  },
  {
    name: 'dispute-task',
    scope: [...SOLD, 'dispute'],
    explain: 'an open dispute waits for the end of its time, and no other does',
    sql: `
      select d.id, d.status, t.key from dispute d
      full join (select * from task where kind = 'dispute.evidence_due') t on t.key = d.id
      where (d.status = 'open') is distinct from (t.key is not null)`,
  },
];
