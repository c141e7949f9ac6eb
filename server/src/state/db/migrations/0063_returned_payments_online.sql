-- Credits of PIX that were sent back before there was a list of them.
insert into payment_return (
  account_id, environment, return_id, resource, resource_id, external_id, amount_cents, cause, rail_id, received_at,
  returned_at, failed_returns
)
select account_id, environment,
  -- As `returnIdOf` derives it.
  'ret_' || left(encode(sha256(convert_to('["return","' || c.end_to_end_id || '"]', 'UTF8')), 'hex'), 24),
  case when starts_with(c.payment_id, 'psa_sub_') then 'subscription' when starts_with(c.payment_id, 'psa_') then 'payment' else 'charge' end,
  c.payment_id, coalesce(p.external_id, g.external_id), c.amount_cents, c.cause, c.end_to_end_id, c.received_at,
  c.returned_at, c.failed_returns
from pix_credit c
  left join payment p using (account_id, environment, payment_id)
  left join lateral (select external_id from charge where charge_id = c.payment_id) g on true
where c.cause is not null
order by c.received_at
on conflict do nothing;
-- next
-- Card payments that were returned: refunded without ever having been paid, as their one posting says. One whose refund is
-- under way keeps its old state.
insert into payment_return (
  account_id, environment, return_id, resource, resource_id, external_id, amount_cents, cause, kept_payment, rail_id,
  received_at, returned_at
)
select p.account_id, p.environment, 'ret_' || substr(r.refund_id, 5), 'card_payment', p.order_code, p.external_id,
  p.amount_cents, case when p.canceled_at is null then 'paid_elsewhere' else 'canceled' end,
  coalesce(
    (
      select order_code from card_payment k
      where k.account_id = p.account_id and k.environment = p.environment and k.order_code <> p.order_code
        and (k.external_id = p.external_id or k.checkout_attempt = p.checkout_attempt) and k.paid_at is not null
        and exists (
          select from posting t where t.account_id = k.account_id and t.environment = k.environment
            and t.transaction_id = 'card_payment.paid:' || k.order_code
        )
      limit 1
    ),
    (
      select payment_id from pix_paid_order o
      where o.account_id = p.account_id and o.environment = p.environment
        and (o.kind = 'external_id' and o.name = p.external_id or o.kind = 'attempt' and o.name = p.checkout_attempt)
      limit 1
    )
  ),
  r.charge_id, p.paid_at, r.completed_at
from card_payment p
  join refund r on r.account_id = p.account_id and r.environment = p.environment and r.resource = 'card_payment'
    and r.resource_id = p.order_code and r.automatic and r.status = 'completed'
where p.status = 'refunded' and p.refunding_cents = 0 and exists (
  select from posting t where t.account_id = p.account_id and t.environment = p.environment
    and t.transaction_id = 'card_payment.returned:' || p.order_code
)
order by p.paid_at
on conflict do nothing;
-- next
update card_payment p
set status = 'failed', failure_reason = r.cause, returned = true, kept_payment = r.kept_payment, paid_at = null,
  paid_late = false, refunded_at = null, refunded_cents = 0
from payment_return r
where r.account_id = p.account_id and r.environment = p.environment and r.resource = 'card_payment'
  and r.resource_id = p.order_code and p.status = 'refunded' and p.refunding_cents = 0;
-- next
-- Their refunds are returns now.
delete from refund f using payment_return r
where f.account_id = r.account_id and f.environment = r.environment and f.resource = 'card_payment'
  and r.resource = 'card_payment' and f.resource_id = r.resource_id and f.automatic and f.status <> 'processing';
