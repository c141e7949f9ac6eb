-- Disputes of one status, in the order of their numbers.
drop index concurrently if exists dispute_by_status;
-- next
create index concurrently dispute_by_status on dispute (account_id, environment, status, number);
-- next
drop index concurrently if exists dispute_of_resource;
-- next
create index concurrently dispute_of_resource on dispute (account_id, environment, resource, resource_id, number)
  where resource is not null;
-- next
-- Disputes by their instants.
drop index concurrently if exists dispute_created;
-- next
create index concurrently dispute_created on dispute (account_id, environment, created_at, number);
-- next
drop index concurrently if exists dispute_created_by_status;
-- next
create index concurrently dispute_created_by_status
  on dispute (account_id, environment, status, created_at, number);
-- next
drop index concurrently if exists dispute_closed;
-- next
create index concurrently dispute_closed on dispute (account_id, environment, closed_at, number)
  where closed_at is not null;
-- next
-- What there was before gets what it lacks.
update dispute set
  resource = case when order_code is not null then 'card_payment' end,
  resource_id = order_code,
  evidence_due_at = created_at + interval '5 days'
where evidence_due_at is null;
-- next
-- Those that are open wait for the end of the time.
insert into task (kind, account_id, environment, key, due_at)
select 'dispute.evidence_due', account_id, environment, id, evidence_due_at from dispute where status = 'open'
on conflict do nothing;
-- next
-- A card payment that was disputed before: the version before refunds the whole of one, or nothing. Only those without an amount
-- are written, so that it can be run again.
update card_payment p set disputed_cents = least(d.amount_cents, p.amount_cents)
from (
  select order_code, sum(amount_cents) as amount_cents
  from dispute where order_code is not null and status <> 'won' group by 1
) d
where p.order_code = d.order_code and p.status = 'paid' and p.disputed_cents = 0;
-- next
drop index concurrently if exists dispute_of_amount;
-- next
create index concurrently dispute_of_amount on dispute (account_id, environment, amount_cents, number);
