import type { CardPaymentStatus } from '../../server/src/money-in/card-payments/model.ts';
import type { PaymentStatus } from '../../server/src/money-in/receiving/model.ts';
import type { CycleStatus, SubscriptionStatus } from '../../server/src/money-in/subscriptions/model.ts';
import { LAWS } from '../../server/src/programs/verify/laws/all.ts';
import { CHARGE_LAWS } from '../../server/src/programs/verify/laws/charges.ts';
import { PIX_LAWS } from '../../server/src/programs/verify/laws/pix.ts';
import { TRANSFERS } from '../../server/src/programs/verify/laws/records.ts';
import { queriesOf } from '../support/laws.ts';
import type { ChildServer } from './child.ts';
import { rulesOfLtc } from './ltc-rules.ts';
import { RULES_OF_SUBSCRIPTIONS } from './subscription-rules.ts';

/** The ledgers at one moment, and each rule that they break, in words. */
export interface Audit {
  payments: AuditedPayment[];
  pixPayments: AuditedPixPayment[];
  subscriptions: AuditedSubscription[];
  payouts: AuditedPayout[];
  subaccountPayouts: AuditedPayout[];
  subaccounts: AuditedSubaccount[];
  violations: string[];
}

export interface AuditedPayment {
  orderCode: string;
  /** The idempotency key with which it was created. */
  key: string | null;
  status: CardPaymentStatus;
  version: number;
  amountCents: number;
  hasOpenCharge: boolean;
}

/** A payment by PIX or LTC, or a charge. */
export interface AuditedPixPayment {
  paymentId: string;
  /** The idempotency key with which it was created. */
  key: string | null;
  status: PaymentStatus;
  version: number;
  amountCents: number;
  /** The bank's names of the credits that are recorded, and the number of those that were sent back. */
  credits: string[];
  returned: number;
  /** The texts that were submitted as evidence in its disputes. */
  evidence: string[];
  /** The merchant's transactions of Litecoin, sorted. */
  outputs: string[];
}

/** A recurring PIX, with the states of its cycles in their order. */
export interface AuditedSubscription {
  subscriptionId: string;
  /** The idempotency key with which it was created. */
  key: string | null;
  status: SubscriptionStatus;
  version: number;
  amountCents: number;
  cycles: CycleStatus[];
  /** The number of credits that were sent back. */
  returned: number;
}

/** A payout of the main account, or of a subaccount. */
export interface AuditedPayout {
  /** A `withdrawalId` or a `payoutId`. */
  id: string;
  key: string | null;
  /** The destination of a payout, or the subaccount that sends it. */
  whose: string;
  /** `reversed` for a failed payout whose amount was returned. */
  status: string;
  version: number;
  amountCents: number;
}

export interface AuditedSubaccount {
  id: string;
  externalId: string;
  balanceCents: number;
  /** The sum of all transfers to it. */
  givenCents: number;
}

/** Reads the audit. `now` is the server's time. */
export async function audit(server: Pick<ChildServer, 'ask'>, now: Date): Promise<Audit> {
  const broken = { ...lawsOfTheBooks(`'${now.toISOString()}'::timestamptz`), ...lawsOfKeys() };
  const [, payments, pixPayments, subscriptions, payouts, subaccountPayouts, subaccounts, ...found] =
    await server.ask('query', [
      // The lock excludes writers, and waits for a transaction that a killed server has left in its database.
      'lock table stream in exclusive mode',
      PAYMENTS,
      PIX_PAYMENTS,
      SUBSCRIPTIONS,
      PAYOUTS,
      SUBACCOUNT_PAYOUTS,
      SUBACCOUNTS,
      ...Object.values(broken),
    ]);
  const violations = Object.keys(broken).flatMap((rule, index) =>
    found[index]!.length === 0
      ? []
      : [`${rule}: ${found[index]!.map((row) => JSON.stringify(row)).join(', ')}`],
  );
  return {
    payments: payments as AuditedPayment[],
    pixPayments: pixPayments as AuditedPixPayment[],
    subscriptions: subscriptions as AuditedSubscription[],
    payouts: payouts as AuditedPayout[],
    subaccountPayouts: subaccountPayouts as AuditedPayout[],
    subaccounts: subaccounts as AuditedSubaccount[],
    violations,
  };
}

const PAYMENTS = `
  select order_code as "orderCode", key, status, version, amount_cents as "amountCents",
    open_charge_id is not null as "hasOpenCharge"
  from card_payment left join idempotency on resource_id = order_code`;

const PIX_PAYMENTS = `
  select id as "paymentId", key, status, version, amount_cents as "amountCents", (
    select coalesce(jsonb_agg(end_to_end_id), '[]') from pix_credit c where c.payment_id = id
  ) as credits, (
    select count(*) from pix_credit c where c.payment_id = id and returned_at is not null
  ) as returned, (
    select coalesce(jsonb_agg(submission->>'text'), '[]')
    from dispute d, jsonb_array_elements(d.evidence) submission where d.resource_id = p.id
  ) as evidence, (
    select coalesce(jsonb_agg(txid order by txid), '[]') from ltc_output o
    where o.payment_id = id and o.state = 'credited'
  ) as outputs
  from (
    select payment_id as id, status, version, amount_cents from payment
    union all select charge_id, status, version, amount_cents from charge
  ) p left join idempotency on resource_id = id`;

const SUBSCRIPTIONS = `
  select subscription_id as "subscriptionId", key, status, version, amount_cents as "amountCents", (
    select coalesce(jsonb_agg(c.status order by c.number), '[]') from subscription_cycle c
    where c.subscription_id = s.subscription_id
  ) as cycles, (
    select count(*) from pix_credit c where c.payment_id = s.subscription_id and returned_at is not null
  ) as returned
  from pix_subscription s left join idempotency on resource_id = subscription_id`;

const PAYOUTS = `
  select withdrawal_id as id, key, destination as whose, status, version, amount_cents as "amountCents"
  from payout left join idempotency on resource_id = withdrawal_id`;

const SUBACCOUNT_PAYOUTS = `
  select payout_id as id, key, subaccount_id as whose, version, amount_cents as "amountCents",
    case when reversed_at is null then status else 'reversed' end as status
  from subaccount_payout left join idempotency on resource_id = id`;

const SUBACCOUNTS = `
  select id, external_id as "externalId", balance_cents as "balanceCents", (
    select coalesce(sum(amount_cents), 0)::bigint from statement_entry
    where subaccount_id = subaccount.id and kind = 'transfer_in'
  ) as "givenCents"
  from subaccount`;

/** Operations that run once for a key, and the resources that each use of a key has made. */
const MADE_WITH_A_KEY = `
  select coalesce('startCheckout:' || token_id, 'createCardPayment') as operation, order_code as resource_id
    from card_payment left join checkout_use using (order_code)
  union all select coalesce('startPixCheckout:' || token_id, 'createPayment'), payment_id
    -- That of a cycle is nobody's request.
    from payment left join pix_checkout_use using (payment_id) where subscription_id is null
  union all select 'createCharge', charge_id from charge
  union all select 'refund', refund_id from refund where not automatic
  union all select 'createDelivery', delivery_id from delivery
  union all select 'submitDisputeEvidence', id from dispute cross join lateral jsonb_array_elements(evidence)
  union all select 'requestPayout', withdrawal_id from payout
  union all select 'requestSubaccountPayout', id from subaccount_payout
  union all select 'createSubscription', subscription_id from pix_subscription
  union all select 'transferToSubaccount', ref_id from statement_entry where kind = 'transfer_in'`;

/**
 * Queries for rows that break a rule: the laws of the books, and what is true where nobody but a test has written.
 * `instant`: the service's time, as SQL.
 */
export function lawsOfTheBooks(instant: string): Record<string, string> {
  return {
    ...queriesOf(LAWS),
    ...rules(instant),
    ...rulesOfPix(instant),
    ...rulesOfLtc(),
    ...RULES_OF_SUBSCRIPTIONS,
    ...rulesOfPayouts(instant),
  };
}

/** The rules of histories whose callers each use their own keys. */
function lawsOfKeys(): Record<string, string> {
  return {
    'whatever was asked for with a key was done once, and every key has done one thing': `
      select operation, resource_id, count(*) from idempotency full join (${MADE_WITH_A_KEY}) made
        using (operation, resource_id)
      where operation not in ('credit', 'creditLtc')
      group by operation, resource_id having count(*) <> 1 or count(key) <> 1
        or (operation, resource_id) not in (${MADE_WITH_A_KEY})`,
  };
}

function rules(instant: string): Record<string, string> {
  return {
    'what is announced has its one webhook, and nothing else has any': `
      select account_id, event.kind, version, count(webhook_id) from event
        full join (select *, event_version as version from webhook_delivery) delivery
          using (account_id, environment, version)
        left join webhook_endpoint endpoint using (account_id, environment)
      group by account_id, environment, event.resource, event.kind, event.previous_status, version, snapshot, endpoint.url,
        endpoint.optional_events
      having count(webhook_id) <> case
        when endpoint.url is null and snapshot ->> 'callbackUrl' is null then 0
        -- Inside a status an amount has changed, or its order: nobody hears once more that it was paid.
        when event.resource in ('card_payment', 'payment', 'charge')
          and event.kind = event.resource || '.' || event.previous_status then 0
        -- More evidence is no new status.
        when starts_with(event.kind, 'dispute.') and event.kind = 'dispute.' || event.previous_status then 0
        -- return.completed announces it.
        when (snapshot ->> 'returned')::boolean then 0
        -- Its order is paid: nobody takes the goods back for it.
        when event.kind in ('card_payment.expired', 'payment.expired') and snapshot ->> 'keptPayment' is not null then 0
        -- subscription.paid announces it.
        when event.kind = 'payment.paid' and snapshot ->> 'subscriptionId' is not null then 0
        when event.kind in ('card_payment.paid', 'payment.paid', 'charge.paid', 'payout.pending', 'payout.completed', 'payout.denied')
          or event.kind in ('refund.completed', 'refund.failed')
          or (event.kind like 'subaccount\\_payout.%' and snapshot ->> 'code' is not null) then 1
        when case event.kind
          when 'payout.processing' then 'withdrawal.processing'
          when 'payout.returned' then 'withdrawal.returned'
          when 'dispute.open' then 'dispute.opened'
          when 'dispute.under_review' then 'dispute.updated'
          when 'dispute.won' then 'dispute.closed'
          when 'dispute.lost' then 'dispute.closed'
          when 'dispute.forgiven' then 'dispute.closed'
          else event.kind end = any(endpoint.optional_events) then 1
        else 0 end`,

    'what the acquirer has taken is what was paid': `
      select c.id, c.amount_cents, p.order_code, p.status from
        (select * from simulated_charge
          where status = 'approved' or (status = 'pending' and settles_at <= ${instant})) c
        full join (select * from card_payment where paid_charge_id is not null) p on p.paid_charge_id = c.id
      where (c.id is null or p.order_code is null or c.amount_cents <> p.amount_cents)
        and not exists (select from card_payment open where open.open_charge_id = c.id)`,

    'what the acquirer gave back is what was refunded': `
      select s.id, s.amount_cents, r.refund_id, r.status from
        (select * from simulated_refund
          where (status = 'completed' or (status = 'pending' and settles_at <= ${instant}))
            and charge_id not in (select rail_id from payment_return)) s
        full join (select * from refund where resource = 'card_payment') r on r.refund_id = s.id
      where (r.refund_id is null or s.amount_cents <> r.amount_cents or s.charge_id <> r.charge_id
          or (s.id is not null) <> (r.status = 'completed'))
        and not exists (select from task t where t.kind = 'refund.send' and t.key = coalesce(r.refund_id, s.id))`,

    'what the acquirer gave back of a returned payment is all of it, once': `
      select r.return_id, r.resource_id, r.amount_cents, r.returned_at, given.amount_cents as given from (
        select * from payment_return where resource = 'card_payment'
      ) r full join (
        select charge_id, sum(amount_cents) as amount_cents from simulated_refund
        where (status = 'completed' or (status = 'pending' and settles_at <= ${instant}))
          and charge_id in (select rail_id from payment_return)
        group by 1
      ) given on given.charge_id = r.rail_id
      where (r.return_id is null or coalesce(given.amount_cents, 0) <> case when r.returned_at is null then 0 else r.amount_cents end)
        and not exists (select from task t where t.kind = 'card_payment.return' and t.key = r.resource_id)`,

    'a payment that has failed for another one names it, and that one is paid': `
      select p.id, p.status, p.kept_payment, p.returned from (
        select account_id, environment, order_code as id, status, failure_reason, returned, kept_payment, 'card' as method
        from card_payment
        union all select account_id, environment, payment_id, status, failure_reason, returned, kept_payment, method
        from payment
      ) p left join (
        select order_code as id from card_payment where paid_at is not null
        union all select payment_id from payment where paid_at is not null
      ) kept on kept.id = p.kept_payment
      where (p.kept_payment is null) <> (kept.id is null)
        or p.kept_payment is not null and p.status not in ('expired', 'failed') or p.returned and p.status <> 'failed'
        or p.failure_reason = 'paid_elsewhere' and (p.kept_payment is null or p.returned <> (p.method <> 'ltc'))
        or p.returned and p.failure_reason not in ('paid_elsewhere', 'canceled')`,

    'no charge belongs to two payments': `
      select charge, count(*) from (
        select paid_charge_id as charge from card_payment union all select open_charge_id from card_payment
      ) charges where charge is not null group by 1 having count(*) > 1`,
  };
}

/** The rules of payments by PIX alone, for a database that has rows of other tests. */
export function rulesOfPix(instant: string): Record<string, string> {
  return {
    ...queriesOf([...PIX_LAWS, ...CHARGE_LAWS]),

    'each credit that the bank holds is accepted or returned, once, and no other is': `
      select coalesce(s.end_to_end_id, c.end_to_end_id) as id, s.amount_cents as sent, c.amount_cents as recorded, c.cause
      from (select * from simulated_pix_credit where arrives_at <= ${instant}) s
      full join pix_credit c using (end_to_end_id)
      where (s.end_to_end_id is null or c.end_to_end_id is null or s.amount_cents <> c.amount_cents
          or (substring(c.payment_id from '[^_]+$') <> s.txid and not exists (
            select from payment p where p.payment_id = c.payment_id and p.subscription_id = 'psa_sub_' || s.txid
          )))
        and not (c.end_to_end_id is null and exists (
          select from task t where (t.kind = 'pix.receive' and t.key = s.txid || ' ' || s.end_to_end_id)
            or (t.kind = 'subscription.look_up' and starts_with(t.key, 'psa_sub_' || s.txid))
        ))`,

    'an order that a PIX payment has closed names it': `
      select account_id, environment, kind, name, payment_id, p.id from pix_paid_order
      full join (
        select account_id, environment, payment_id as id, named.kind, named.name from payment
          cross join lateral (values ('attempt', checkout_attempt), ('external_id', external_id)) named (kind, name)
        where paid_at is not null and named.name is not null
      ) p using (account_id, environment, kind, name)
      where payment_id is distinct from p.id`,

    'what the bank has sent back of PIX is what was refunded or returned': `
      select s.id, s.amount_cents, r.id as recorded, r.is_done from
        (select * from simulated_pix_return where status = 'completed') s
        full join (
          select refund_id as id, charge_id as end_to_end_id, amount_cents, status = 'completed' as is_done,
            'refund.send' as task, refund_id as key
          from refund where resource in ('payment', 'charge')
          union all
          select end_to_end_id || '.' || failed_returns, end_to_end_id, amount_cents, returned_at is not null,
            'pix.return', end_to_end_id
          from pix_credit where cause is not null
        ) r on r.id = s.id
      where (r.id is null or s.amount_cents <> r.amount_cents or s.end_to_end_id <> r.end_to_end_id
          or (s.id is not null) <> r.is_done)
        and not exists (select from task t where t.kind = r.task and t.key = r.key)`,

    'no more of a credit was sent back than came': `
      select end_to_end_id, c.amount_cents, r.sent from simulated_pix_credit c
      join (
        select end_to_end_id, sum(amount_cents) as sent from simulated_pix_return where status = 'completed' group by 1
      ) r using (end_to_end_id)
      where r.sent > c.amount_cents`,
  };
}

function rulesOfPayouts(instant: string): Record<string, string> {
  return {
    'in any hour there are ten payouts at most, five of them turbo': `
      select p.withdrawal_id, count(*) from payout p join payout earlier
        on earlier.account_id = p.account_id and earlier.environment = p.environment
        and earlier.number <= p.number and earlier.requested_at > p.requested_at - interval '1 hour'
      group by p.withdrawal_id, p.method
      having count(*) > 10 or (p.method = 'pix_turbo' and count(*) filter (where earlier.method = 'pix_turbo') > 5)`,

    'what the bank has paid is what has arrived, and what it has not paid has not': `
      select t.id, t.outcome, t.amount_cents, p.id, p.status, p.net_cents from
        (select * from simulated_transfer) t
        full join (${TRANSFERS}) p using (id)
      where case
        -- Not sent yet.
        when t.id is null then p.status not in ('pending', 'processing')
        when p.id is null or t.amount_cents <> p.net_cents or t.destination <> p.destination
          or t.method <> p.method or (t.litoshi is null) <> (p.method <> 'ltc') then true
        when p.status = 'completed' then t.outcome <> 'complete'
        -- It has arrived, and has come back.
        when p.status = 'returned' then t.outcome <> 'return'
        when p.status in ('denied', 'failed') then t.outcome in ('complete', 'return')
        -- It has ended, and that is still to be learnt.
        else (t.settles_at <= ${instant} or t.outcome = 'refuse')
          and not exists (select from task where task.kind = p.task and task.key = p.id)
        end`,
  };
}
