import { NEXT as NEXT_OF_CARD } from '../../../money-in/card-payments/model.ts';
import { NEXT as NEXT_OF_DISPUTE } from '../../../money-in/disputes/model.ts';
import { NEXT } from '../../../money-in/pix/model.ts';
import { NEXT as NEXT_OF_SUBSCRIPTION } from '../../../money-in/subscriptions/model.ts';
import { FAMILIES_OF_EVENTS, type Law } from './law.ts';
import { RESOURCES } from './records.ts';

/** The steps of a PIX resource. An event with an unchanged status reports a refund, or a returned credit. */
const STEPS_OF_PIX: (readonly [string, string])[] = [
  ...Object.entries(NEXT).flatMap(([from, next]) => next.map((to) => [from, to] as const)),
  ...Object.keys(NEXT).map((status) => [status, status] as const),
];

function pairs(allowed: Record<string, readonly (readonly [string, string])[]>): string {
  return Object.entries(allowed)
    .flatMap(([resource, steps]) => steps.map(([from, to]) => `${resource}.${from} ${resource}.${to}`))
    .join();
}

export const LOG_LAWS: readonly Law[] = [
  {
    name: 'log-versions',
    scope: ['log'],
    explain: 'versions of a stream have no gap',
    sql: `
      select account_id, environment, version, before from (
        select e.account_id, e.environment, e.version, s.kept_from,
          lag(e.version) over (partition by e.account_id, e.environment order by e.version) as before
        from event e join stream s using (account_id, environment)
      ) e
      where version > kept_from and version <> coalesce(before, kept_from) + 1`,
  },
  {
    name: 'log-head',
    scope: ['account'],
    explain: 'a stream ends at its head',
    sql: `
      select account_id, environment, s.version as head, newest.version as newest
      from stream s left join lateral (
        select max(e.version) as version from event e where e.account_id = s.account_id and e.environment = s.environment
      ) newest on true
      where s.version <> coalesce(newest.version, s.kept_from)`,
  },
  {
    name: 'event-for-each-version',
    scope: FAMILIES_OF_EVENTS,
    explain: 'whatever has versions has one event for each, and no other',
    sql: `
      select r.id, r.resource, r.version, e.events, e.versions
      from (${RESOURCES}) r
        join stream s using (account_id, environment)
        left join (
          select account_id, environment, resource, resource_id as id, count(*) as events,
            -- Those that are later than the one before.
            count(*) filter (where nth > coalesce(nth_before, 0)) as versions, min(nth) as first, max(nth) as last
          from event_step group by 1, 2, 3, 4
        ) e using (account_id, environment, resource, id)
      where e.versions <> e.events or e.events > r.events
        or coalesce(e.events, 0) < r.events and (s.kept_from = 0
          -- Those that are kept are the newest.
          or e.last <> r.version or e.first <> r.version - e.events + 1)`,
  },
  {
    name: 'event-shows-state',
    scope: FAMILIES_OF_EVENTS,
    explain: 'its newest event shows its state',
    sql: `
      select r.id, r.resource, r.kind, e.kind as reported from (${RESOURCES}) r join event_step e
        on e.account_id = r.account_id and e.environment = r.environment and e.resource = r.resource
        and e.resource_id = r.id and e.nth = r.version
      where e.kind <> r.kind`,
  },
  {
    name: 'event-shows-figures',
    scope: FAMILIES_OF_EVENTS,
    explain: 'its newest event shows its status and its amounts',
    sql: `
      select r.id, r.resource, r.version, figure.key as member, figure.value #>> '{}' as kept, e.snapshot ->> figure.key as reported
      from (${RESOURCES}) r join event e
        on e.account_id = r.account_id and e.environment = r.environment and e.resource = r.resource
        and e.resource_id = r.id and (e.snapshot ->> 'version')::int = r.version and not e.snapshot @> r.figures
      cross join lateral jsonb_each(r.figures) figure
      -- An event of an earlier version lacks the members that came later.
      where e.snapshot ? figure.key and e.snapshot -> figure.key <> figure.value`,
  },
  {
    name: 'status-steps',
    scope: FAMILIES_OF_EVENTS,
    explain: 'a status goes forward, one step an event',
    sql: `
    select account_id, resource_id, version, before, kind from event_step
    where resource in ('card_payment', 'payment', 'charge', 'refund', 'dispute', 'payout', 'subaccount_payout') and (
      before || ' ' || kind <> all ('{${pairs({
        // An event with an unchanged status reports the order of an unpaid or returned payment, or the refunds of a
        // paid one.
        card_payment: [
          ...Object.entries(NEXT_OF_CARD).flatMap(([from, next]) => next.map((to) => [from, to] as const)),
          ...(['pending', 'expired', 'failed', 'paid'] as const).map((status) => [status, status] as const),
        ],
        payment: STEPS_OF_PIX,
        charge: STEPS_OF_PIX,
        // An event with an unchanged status reports more evidence, or a larger amount.
        dispute: [
          ...Object.entries(NEXT_OF_DISPUTE).flatMap(([from, next]) => next.map((to) => [from, to] as const)),
          ...(['open', 'under_review', 'lost'] as const).map((status) => [status, status] as const),
        ],
        refund: [
          ['processing', 'completed'],
          ['processing', 'failed'],
        ],
        payout: [
          ['pending', 'processing'],
          ['pending', 'completed'],
          ['pending', 'denied'],
          ['processing', 'completed'],
          ['processing', 'denied'],
          ['completed', 'returned'],
        ],
        subaccount_payout: [
          ['processing', 'processing'],
          ['processing', 'completed'],
          ['processing', 'failed'],
          ['failed', 'reversed'],
          ['completed', 'reversed'],
        ],
      })}}'::text[])
      or (before is null and nth = 1 and resource not in ('payment', 'charge')
        and kind not in ('card_payment.pending', 'payout.pending', 'refund.processing', 'dispute.open', 'subaccount_payout.processing'))
      or (before is not null or nth = case when resource in ('payment', 'charge') then 2 else 1 end)
        and previous_status is distinct from case split_part(before, '.', 2) when 'reversed' then 'failed' else split_part(before, '.', 2) end)`,
  },
  {
    name: 'subscription-steps',
    scope: ['pix_subscription'],
    explain: 'a subscription goes forward, one step an event',
    sql: `
    select account_id, resource_id, version, before, status, previous_status from (
      select account_id, resource_id, version, snapshot ->> 'status' as status, previous_status, snapshot ->> 'version' as nth,
        lag(snapshot ->> 'status') over (partition by account_id, environment, resource_id order by version) as before
      from event where resource = 'subscription'
    ) step
    -- The first version has no code yet, and no event.
    where before is null and nth = '2' and previous_status <> 'pending'
      or before is not null and (previous_status is distinct from before or before <> status
      and (before, status) not in (${Object.entries(NEXT_OF_SUBSCRIPTION)
        .flatMap(([from, next]) => next.map((to) => `('${from}', '${to}')`))
        .join()}))`,
  },
  {
    name: 'versions-follow-events',
    scope: FAMILIES_OF_EVENTS,
    explain: 'versions of one thing follow its events',
    sql: `
    select account_id, resource_id, nth as version, nth_before as before
    from event_step join stream s using (account_id, environment)
    where resource in ('card_payment', 'payment', 'charge', 'subscription', 'refund', 'dispute', 'payout', 'subaccount_payout')
      and (nth <> nth_before + 1
        -- The first version of what a PIX code pays has no code yet, and no event.
        or nth_before is null and s.kept_from = 0
          and nth <> case when resource in ('payment', 'charge', 'subscription') then 2 else 1 end)`,
  },
  {
    name: 'webhook-steps',
    scope: ['webhook_delivery'],
    explain: 'each change of the status of a webhook continues the one before',
    sql: `
      select account_id, resource_id, step.version, before, previous_status from (
        select account_id, environment, resource_id, version, previous_status, (snapshot ->> 'attempts')::int as attempts,
          lag(split_part(kind, '.', 2)) over (partition by account_id, environment, resource_id order by version) as before
        from event where resource = 'webhook_delivery'
      ) step join stream s using (account_id, environment)
      where before is not null and previous_status is distinct from before
        -- A webhook that is older than its events has attempts with the first of these.
        or before is null and attempts > 0 and previous_status is null
        or before is null and attempts = 0 and s.kept_from = 0 and previous_status is not null`,
  },
  {
    name: 'webhook-attempts',
    scope: ['webhook_delivery'],
    explain: 'each attempt at a webhook is written down',
    sql: `
      select d.webhook_id, d.attempts, count(a.number) from webhook_delivery d left join webhook_attempt a using (webhook_id)
      group by d.webhook_id, d.attempts having d.attempts <> count(a.number)`,
  },
  {
    name: 'webhook-status',
    scope: ['webhook_delivery'],
    explain:
      'a webhook is delivered where an attempt has succeeded, and exhausted where the last one has not',
    sql: `
      select d.webhook_id, d.status, d.attempts from webhook_delivery d
      where case d.status
        when 'delivered' then not exists (
          select from webhook_attempt a where a.webhook_id = d.webhook_id and a.error is null
        )
        when 'exhausted' then not exists (
          select from webhook_attempt a where a.webhook_id = d.webhook_id and a.number = d.attempts and a.error is not null
        )
        else false end`,
  },
];
