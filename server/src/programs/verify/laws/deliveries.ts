import type { Law } from './law.ts';

/** The sales of products. */
const SALES = `(
    select 'card_payment' as resource, order_code as resource_id, account_id, environment, product_id, status, paid_at,
      exists (select from posting where transaction_id = 'card_payment.returned:' || order_code) as was_returned
    from card_payment where product_id is not null
    union all select 'payment', payment_id, account_id, environment, product_id, status, paid_at, false
    from payment where product_id is not null
  )`;

export const DELIVERY_LAWS: readonly Law[] = [
  {
    name: 'code-given-once',
    scope: [],
    explain: 'each code is given to one payment at most, and is given away once it is',
    sql: `
      select product_id, code_hash, delivered, count(given.position) from delivery_code
        full join (select * from delivered_content where code_hash is not null) given
          using (account_id, environment, product_id, code_hash)
      group by account_id, environment, product_id, code_hash, delivered
      having count(given.position) <> case when delivered then 1 else 0 end or delivered is null`,
  },
  {
    name: 'delivery-counts',
    scope: [],
    explain: 'a delivery shows the payments that were given it, and the codes that are left',
    sql: `
      select d.delivery_id, d.delivered_count, g.given, d.remaining_count, c.remaining from delivery d
        left join lateral (
          select count(*) as given from delivered_content where delivery_id = d.delivery_id and delivered_at is not null
        ) g on true
        left join lateral (
          select count(*) as remaining from delivery_code where delivery_id = d.delivery_id and not delivered
        ) c on true
      where d.delivered_count <> g.given
        or (d.deleted_at is null and d.kind = 'codes' and d.remaining_count <> c.remaining)
        or (d.deleted_at is not null and c.remaining > 0)`,
  },
  {
    name: 'nobody-waits',
    scope: [],
    explain: 'nobody waits for a code while there is one',
    sql: `
      select waiting.resource_id from delivered_content waiting where waiting.status = 'pending' and exists (
        select from delivery d join delivery_code c using (delivery_id)
        where d.account_id = waiting.account_id and d.environment = waiting.environment
          and d.product_id = waiting.product_id and d.deleted_at is null and not c.delivered
      )`,
  },
  {
    name: 'content-of-paid',
    scope: ['card_payment', 'payment'],
    explain: 'content is given to paid payments of its product alone, and shown until they are refunded',
    sql: `
      select given.resource_id, given.status, sale.status as sold from delivered_content given
        left join ${SALES} sale using (resource, resource_id, account_id, environment, product_id)
      where sale.paid_at is null or sale.was_returned or (sale.status = 'refunded') <> (given.status = 'revoked')`,
  },
  {
    name: 'content-status',
    scope: ['card_payment', 'payment'],
    explain: 'content that waits was not delivered, and what is delivered has its instant',
    sql: `
      select resource_id, position, status, delivered_at from delivered_content
      where status = 'pending' and delivered_at is not null or status = 'delivered' and delivered_at is null`,
  },
  {
    name: 'content-event',
    scope: [],
    explain: 'each content that is given or waited for has its event, without the content',
    sql: `
      select given.resource_id, given.position from delivered_content given where not exists (
        select from event e where e.account_id = given.account_id and e.environment = given.environment
          and e.resource = 'delivery' and e.snapshot -> 'resource' ->> 'id' = given.resource_id
          and e.kind in ('delivery.delivered', 'delivery.out_of_stock')
          and (given.delivered_at is null or e.kind = 'delivery.delivered')
      )
      union all select resource_id, 0 from event where resource = 'delivery'
        and snapshot - '{deliveryId,productId,resource,callbackUrl}'::text[] <> '{}'::jsonb`,
  },
];
