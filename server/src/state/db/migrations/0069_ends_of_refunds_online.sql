-- What there was before gets what it lacks: the log has the instants.
update refund r set failed_at = e.occurred_at
from event e
where r.status = 'failed' and r.failed_at is null
  and e.account_id = r.account_id and e.environment = r.environment
  and e.resource = 'refund' and e.resource_id = r.refund_id and e.kind = 'refund.failed';
-- next
-- A lost dispute that was forgiven gets the instant of its decision back.
update dispute d set closed_at = e.occurred_at
from event e
where d.status = 'forgiven' and e.account_id = d.account_id and e.environment = d.environment
  and e.resource = 'dispute' and e.resource_id = d.id and e.kind = 'dispute.lost' and e.previous_status is distinct from 'lost'
  and d.closed_at <> e.occurred_at;
-- next
-- Refunds that have failed do not count any more.
update card_payment p set refund_count = r.requested
from (
  select resource_id, count(*) filter (where not automatic and status <> 'failed') as requested
  from refund where resource = 'card_payment' group by 1 having bool_or(not automatic and status = 'failed')
) r
where p.order_code = r.resource_id and p.refund_count <> r.requested;
-- next
update payment p set refund_count = r.requested
from (
  select resource_id, count(*) filter (where not automatic and status <> 'failed') as requested
  from refund where resource = 'payment' group by 1 having bool_or(not automatic and status = 'failed')
) r
where p.payment_id = r.resource_id and p.refund_count <> r.requested;
-- next
update charge c set refund_count = r.requested
from (
  select resource_id, count(*) filter (where not automatic and status <> 'failed') as requested
  from refund where resource = 'charge' group by 1 having bool_or(not automatic and status = 'failed')
) r
where c.charge_id = r.resource_id and c.refund_count <> r.requested;
-- next
-- Refunds and disputes by their instants. Refunds of some types and statuses are read as so many lists, and merged.
drop index concurrently if exists refund_created;
-- next
create index concurrently refund_created on refund (account_id, environment, created_at, number);
-- next
drop index concurrently if exists refund_created_by_type_and_status;
-- next
create index concurrently refund_created_by_type_and_status
  on refund (account_id, environment, resource, status, created_at, number);
-- next
drop index concurrently if exists refund_completed;
-- next
create index concurrently refund_completed on refund (account_id, environment, completed_at, number)
  where completed_at is not null;
-- next
drop index concurrently if exists refund_failed;
-- next
create index concurrently refund_failed on refund (account_id, environment, failed_at, number)
  where failed_at is not null;
-- next
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
-- The same of another service.
update observed set created_at = (snapshot ->> 'createdAt')::timestamptz
where resource in ('refund', 'dispute') and created_at is null and snapshot ->> 'createdAt' is not null;
-- next
drop index concurrently if exists observed_refund_by_completion;
-- next
create index concurrently observed_refund_by_completion
  on observed (account_id, environment, resource, (snapshot ->> 'completedAt'), number)
  where resource = 'refund' and snapshot ->> 'completedAt' is not null;
-- next
drop index concurrently if exists observed_refund_by_failure;
-- next
create index concurrently observed_refund_by_failure
  on observed (account_id, environment, resource, (snapshot ->> 'failedAt'), number)
  where resource = 'refund' and snapshot ->> 'failedAt' is not null;
-- next
drop index concurrently if exists observed_dispute_by_decision;
-- next
create index concurrently observed_dispute_by_decision
  on observed (account_id, environment, resource, (snapshot ->> 'closedAt'), number)
  where resource = 'dispute' and snapshot ->> 'closedAt' is not null;
