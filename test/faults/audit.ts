import type { CardPaymentStatus } from '../../server/src/money-in/card-payments/model.ts';
import type { PaymentStatus } from '../../server/src/money-in/receiving/model.ts';
import type { CycleStatus, SubscriptionStatus } from '../../server/src/money-in/subscriptions/model.ts';
import { RULES_OF_JOURNAL } from '../support/journal.ts';
import { rulesOfTotals } from '../support/totals.ts';
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
 * All resources whose states are events, with the kind of the newest event. A PIX resource without a code has no
 * event yet.
 */
const RESOURCES = `
  select 'card_payment' as resource, order_code as id, version, version as events, 'card_payment.' || status as kind
    from card_payment
  union all select 'payment', payment_id, version, version - 1, 'payment.' || status from payment
  union all select 'charge', charge_id, version, version - 1, 'charge.' || status from charge
  union all select 'subscription', subscription_id, version, version - 1, null from pix_subscription
  union all select 'refund', refund_id, version, version, 'refund.' || status from refund
  union all select 'dispute', id, version, version, 'dispute.' || status from dispute
  union all select 'payout', withdrawal_id, version, version, 'payout.' || status from payout
  union all select 'subaccount_payout', id, version, version,
    'subaccount_payout.' || case when reversed_at is null then status else 'reversed' end from subaccount_payout`;

/** Queries for rows that break a rule. `instant`: the service's time, as SQL. */
export function lawsOfTheBooks(instant: string): Record<string, string> {
  return {
    ...rules(instant),
    ...rulesOfPix(instant),
    ...rulesOfDisputes(),
    ...rulesOfLtc(),
    ...rulesOfDeliveries(),
    ...RULES_OF_SUBSCRIPTIONS,
    ...RULES_OF_JOURNAL,
    ...rulesOfPayouts(instant),
    ...rulesOfSubaccounts(),
    ...rulesOfTotals(),
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
    'the postings of each transaction sum to zero': `
      select transaction_id, sum(amount) from posting
      group by account_id, environment, transaction_id, ledger_account like '%ltc%' having sum(amount) <> 0`,

    'each balance is the sum of its entries': `
      select name, balance, entries from
        (select account_id, environment, name, balance from ledger_account) balance
        full join (
          select account_id, environment, ledger_account as name, sum(amount) as entries from posting group by 1, 2, 3
        ) posted using (account_id, environment, name)
      where coalesce(balance, 0) <> coalesce(entries, 0)`,

    'versions of a stream have no gap and end at its head': `
      select account_id, stream.version as head, count(event.version), max(event.version) from stream
        left join event using (account_id, environment)
      group by account_id, environment, stream.version
      having count(event.version) <> stream.version or coalesce(max(event.version), 0) <> stream.version
        or coalesce(min(event.version), 1) <> 1`,

    'whatever has versions has one event for each, and no other': `
      select r.resource, r.id, r.version, count(e.version), count(distinct e.snapshot ->> 'version')
      from (${RESOURCES}) r left join event e on e.resource = r.resource and e.resource_id = r.id
      group by r.resource, r.id, r.version, r.events
      having count(e.version) <> r.events or count(distinct e.snapshot ->> 'version') <> r.events`,

    'its newest event shows its state': `
      select r.resource, r.id, r.kind, e.kind as reported from (${RESOURCES}) r join event e
        on e.resource = r.resource and e.resource_id = r.id and (e.snapshot ->> 'version')::int = r.version
      where e.kind <> r.kind`,

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

    'each attempt at a webhook is written down': `
      select d.webhook_id, d.attempts, count(a.number) from webhook_delivery d left join webhook_attempt a using (webhook_id)
      group by d.webhook_id, d.attempts having d.attempts <> count(a.number)`,

    'each paid payment has its one posting of the sale, or of its return, of its amount': `
      select p.order_code, p.status, posted.transaction_id, posted.amount from
        (select * from card_payment where paid_at is not null or returned) p
        full join (
          select transaction_id, split_part(transaction_id, ':', 2) as order_code, sum(abs(amount)) / 2 as amount
          from posting where transaction_id like 'card\\_payment.paid:%' or transaction_id like 'card\\_payment.returned:%'
          group by 1
        ) posted using (order_code)
      where p.order_code is null or posted.transaction_id is null or posted.amount <> p.amount_cents`,

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

    'a payment shows what its refunds have given back and hold, never more than its amount': `
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

    'a card payment that is returned has failed, is no sale, and names its return': `
      select p.order_code, p.status, p.failure_reason, p.kept_payment, p.paid_at, p.refunding_cents, r.amount_cents, r.cause
      from (select * from card_payment where returned) p
      full join (select * from payment_return where resource = 'card_payment') r on r.resource_id = p.order_code
      where p.order_code is null or r.return_id is null or p.status <> 'failed' or p.paid_at is not null
        or p.refunded_cents + p.refunding_cents > 0 or r.amount_cents <> p.amount_cents
        or r.rail_id <> p.paid_charge_id or p.failure_reason <> r.cause
        or r.kept_payment is distinct from p.kept_payment
        or r.cause <> case when p.canceled_at is null then 'paid_elsewhere' else 'canceled' end
        or (r.cause = 'paid_elsewhere' and p.kept_payment is null)`,

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

    'each return of a PIX is listed as its credit is': `
      select c.end_to_end_id, c.cause, r.cause as listed, c.returned_at, r.returned_at as listed_at from (
        select * from pix_credit where cause is not null
      ) c full join (select * from payment_return where resource <> 'card_payment') r
        on r.account_id = c.account_id and r.environment = c.environment and r.rail_id = c.end_to_end_id
      where r.resource_id is distinct from c.payment_id or r.amount_cents is distinct from c.amount_cents
        or r.cause is distinct from c.cause or r.returned_at is distinct from c.returned_at`,

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

    'the postings of a refund are what its state calls for, each once': `
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

    'a refund that the merchant has requested leaves no debt': `
      select refund_id, p.amount from refund r join posting p on p.account_id = r.account_id
        and p.environment = r.environment and p.transaction_id = 'refund.begun:' || refund_id
      where not automatic and ledger_account = 'merchant_receivable'`,

    'no charge belongs to two payments': `
      select charge, count(*) from (
        select paid_charge_id as charge from card_payment union all select open_charge_id from card_payment
      ) charges where charge is not null group by 1 having count(*) > 1`,

    'what is to come is written down': `
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
  };
}

/** Resources of every family that a PIX code pays; `shares` are the parts of subaccounts. */
const PIX_RESOURCES = `
  select 'payment' as family, account_id, environment, payment_id as id, status, amount_cents, fee_cents, 0 as shares,
    br_code, paid_at, end_to_end_id, refunded_cents, refunding_cents, refund_count
  from payment where method = 'pix'
  union all
  select 'charge', account_id, environment, charge_id, status, amount_cents, fee_cents, (
      select coalesce(sum((split ->> 'amountCents')::bigint), 0)::bigint from jsonb_array_elements(splits) split
    ), br_code, paid_at, end_to_end_id, refunded_cents, refunding_cents, refund_count
  from charge`;

/** The splits of split charges, one a row, each with its index. */
const SPLITS = `
  select account_id, environment, charge_id, status, paid_at, place - 1 as place, split ->> 'subaccountId' as subaccount_id,
    (split ->> 'amountCents')::bigint as amount_cents, (split ->> 'refundedCents')::bigint as refunded_cents,
    (split ->> 'assignedCents')::bigint as assigned_cents
  from charge cross join lateral jsonb_array_elements(splits) with ordinality split (split, place)`;

/** The statement lines for refunds of split charges: the debit, or the credit after a failed refund. */
const SPLIT_REFUNDS = `
  select e.account_id, e.environment, e.subaccount_id, e.kind, e.ref_id, e.amount_cents, r.resource_id as charge_id
  from statement_entry e join refund r on r.refund_id = e.ref_id`;

/** The rules of disputes. */
function rulesOfDisputes(): Record<string, string> {
  return {
    'a payment shows what is disputed of it, and gives no more than its amount with its refunds': `
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

    'the postings of a dispute are what its state calls for, each once': `
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

    'an open dispute waits for the end of its time, and no other does': `
      select d.id, d.status, t.key from dispute d
      full join (select * from task where kind = 'dispute.evidence_due') t on t.key = d.id
      where (d.status = 'open') is distinct from (t.key is not null)`,
  };
}

/** The rules of deliveries to the payers of products. */
export function rulesOfDeliveries(): Record<string, string> {
  const paid = `(
    select 'card_payment' as resource, order_code as resource_id, account_id, environment, product_id, status, paid_at,
      exists (select from posting where transaction_id = 'card_payment.returned:' || order_code) as was_returned
    from card_payment where product_id is not null
    union all select 'payment', payment_id, account_id, environment, product_id, status, paid_at, false
    from payment where product_id is not null
  )`;
  return {
    'each code is given to one payment at most, and is given away once it is': `
      select product_id, code_hash, delivered, count(given.position) from delivery_code
        full join (select * from delivered_content where code_hash is not null) given
          using (account_id, environment, product_id, code_hash)
      group by account_id, environment, product_id, code_hash, delivered
      having count(given.position) <> case when delivered then 1 else 0 end or delivered is null`,

    'a delivery shows the payments that were given it, and the codes that are left': `
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

    'nobody waits for a code while there is one': `
      select waiting.resource_id from delivered_content waiting where waiting.status = 'pending' and exists (
        select from delivery d join delivery_code c using (delivery_id)
        where d.account_id = waiting.account_id and d.environment = waiting.environment
          and d.product_id = waiting.product_id and d.deleted_at is null and not c.delivered
      )`,

    'content is given to paid payments of its product alone, and shown until they are refunded': `
      select given.resource_id, given.status, sale.status as sold from delivered_content given
        left join ${paid} sale using (resource, resource_id, account_id, environment, product_id)
      where sale.paid_at is null or sale.was_returned or (sale.status = 'refunded') <> (given.status = 'revoked')`,

    'each content that is given or waited for has its event, without the content': `
      select given.resource_id, given.position from delivered_content given where not exists (
        select from event e where e.account_id = given.account_id and e.environment = given.environment
          and e.resource = 'delivery' and e.snapshot -> 'resource' ->> 'id' = given.resource_id
          and e.kind in ('delivery.delivered', 'delivery.out_of_stock')
          and (given.delivered_at is null or e.kind = 'delivery.delivered')
      )
      union all select resource_id, 0 from event where resource = 'delivery'
        and snapshot - '{deliveryId,productId,resource,callbackUrl}'::text[] <> '{}'::jsonb`,
  };
}

/** The rules of payments by PIX alone, for a database that has rows of other tests. */
export function rulesOfPix(instant: string): Record<string, string> {
  return {
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

    'a payment was paid by exactly one accepted credit of exactly its amount': `
      select id, p.status, p.amount_cents, accepted, a.amount_cents as came from (${PIX_RESOURCES}) p
      full join (
        select payment_id as id, count(*) as accepted, sum(amount_cents) as amount_cents, min(end_to_end_id) as end_to_end_id
        from pix_credit where cause is null group by 1
      ) a using (id)
      where p.family is null or (p.paid_at is null) <> (a.accepted is null)
        or (p.paid_at is not null) <> (p.status in ('paid', 'refunded'))
        or a.accepted <> 1 or a.amount_cents <> p.amount_cents or a.end_to_end_id <> p.end_to_end_id`,

    'an order that a PIX payment has closed names it': `
      select account_id, environment, kind, name, payment_id, p.id from pix_paid_order
      full join (
        select account_id, environment, payment_id as id, named.kind, named.name from payment
          cross join lateral (values ('attempt', checkout_attempt), ('external_id', external_id)) named (kind, name)
        where paid_at is not null and named.name is not null
      ) p using (account_id, environment, kind, name)
      where payment_id is distinct from p.id`,

    'the postings of payments by PIX are what their states call for, each once': linesMatch(
      'payment.',
      `select account_id, environment, 'payment.' || line.step || ':' || payment_id as transaction_id,
        line.name, line.amount, null as subaccount_id
      from (
        select *, environment = 'sandbox' and subscription_id is null as is_test, status = 'failed' or expired.payment_id is not null as had_ended
        from payment left join (
          select distinct resource_id as payment_id from event where kind = 'payment.expired'
        ) expired using (payment_id)
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

    'the postings of charges are what their states call for, each once': linesMatch(
      'charge.',
      `select account_id, environment, 'charge.' || line.step || ':' || id as transaction_id,
        line.name, line.amount, null as subaccount_id
      from (
        select *, environment = 'sandbox' as is_test, status = 'failed' or expired.id is not null as had_ended,
          amount_cents - fee_cents - shares as own_cents
        from (${PIX_RESOURCES}) p left join (
          select distinct resource_id as id from event where kind = 'charge.expired'
        ) expired using (id)
        where family = 'charge'
      ) p cross join lateral (values
        ('created', is_test, 'pix_received', -amount_cents), ('created', is_test, 'merchant_pending', amount_cents),
        ('ended', is_test and had_ended, 'merchant_pending', -amount_cents),
        ('ended', is_test and had_ended, 'pix_received', amount_cents),
        ('paid', paid_at is not null, case when is_test and not had_ended then 'merchant_pending' else 'pix_received' end,
          -own_cents - fee_cents),
        ('paid', paid_at is not null, 'platform_fees', fee_cents),
        ('paid', paid_at is not null, 'merchant_balance', own_cents)
      ) line (step, is_posted, name, amount)
      where line.is_posted and line.amount <> 0
      union all
      select s.account_id, s.environment, 'charge.split:' || charge_id || ':' || place, line.name, line.amount,
        case line.name when 'merchant_subaccounts' then s.subaccount_id end
      from (
        select *, case when environment = 'sandbox' and charge_id not in (
          select resource_id from event where kind = 'charge.expired'
        ) then 'merchant_pending' else 'pix_received' end as source
        from (${SPLITS}) split where paid_at is not null
      ) s cross join lateral (values
        (source, -amount_cents), ('merchant_subaccounts', amount_cents)
      ) line (name, amount)`,
    ),

    'a share in percent of the net amount is rounded down to a centavo': `
      select charge_id, amount_cents - fee_cents as net, split from charge
        cross join lateral jsonb_array_elements(splits) split
      where split ->> 'percent' is not null and (split ->> 'amountCents')::bigint
        is distinct from floor((amount_cents - fee_cents) * (split ->> 'percent')::numeric / 100)`,

    'shares are never more than the net amount': `
      select id, amount_cents, fee_cents, shares from (${PIX_RESOURCES}) p where shares > amount_cents - fee_cents`,

    'a split charge shows what refunds have taken of each share, which is never more than the share': `
      select s.charge_id, s.subaccount_id, s.amount_cents, s.assigned_cents, s.refunded_cents, taken
      from (${SPLITS}) s left join (
        select charge_id, subaccount_id, -sum(amount_cents)::bigint as taken from (${SPLIT_REFUNDS}) r group by 1, 2
      ) r using (charge_id, subaccount_id)
      where s.refunded_cents <> coalesce(taken, 0) or s.refunded_cents > s.assigned_cents
        or s.assigned_cents > s.amount_cents or (s.status = 'refunded' and s.assigned_cents <> s.amount_cents)`,

    'what a failed refund has taken of a subaccount is given back': `
      select refund_id, status, subaccount_id, taken, given from refund join (
        select ref_id as refund_id, subaccount_id, coalesce(-sum(amount_cents) filter (where amount_cents < 0), 0) as taken,
          coalesce(sum(amount_cents) filter (where amount_cents > 0), 0) as given
        from (${SPLIT_REFUNDS}) r group by 1, 2
      ) r using (refund_id)
      where given <> case status when 'failed' then taken else 0 end`,

    'a charge keeps the parts of the refunds that are under way, and no others': `
      select charge_id, refund_id, r.status from (
        select charge_id, part ->> 'refundId' as refund_id
        from charge cross join lateral jsonb_array_elements(refund_parts) part
      ) kept full join (
        select refund_id, resource_id as charge_id, status from refund
        where resource = 'charge' and status = 'processing' and resource_id like 'psplit\\_%'
      ) r using (charge_id, refund_id)
      where kept.refund_id is null or r.refund_id is null`,

    'the postings of credits that are sent back are what their states call for, each once': linesMatch(
      'pix_credit.',
      `select account_id, environment, 'pix_credit.' || line.step || ':' || end_to_end_id as transaction_id,
        line.name, line.amount, null as subaccount_id
      from pix_credit cross join lateral (values
        ('returned', 'pix_received', -amount_cents), ('returned', 'refunds_in_transit', amount_cents),
        ('sent_back', 'refunds_in_transit', -amount_cents), ('sent_back', 'pix_received', amount_cents)
      ) line (step, name, amount)
      where cause is not null and (line.step = 'returned' or returned_at is not null)`,
    ),

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

    'a payment by PIX shows what its refunds have given back and hold, never more than its amount': `
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

    'what is to come of a payment by PIX is written down': `
      select wanted.kind, wanted.key from (
        select 'pix.expire' as kind, id as key from (${PIX_RESOURCES}) p where status = 'pending'
        union all select 'pix.register', id from (${PIX_RESOURCES}) p where status = 'pending' and br_code is null
        union all select 'pix.return', end_to_end_id from pix_credit where cause is not null and returned_at is null
      ) wanted
      where not exists (select from task t where t.kind = wanted.kind and t.key = wanted.key)`,
  };
}

function rulesOfPayouts(instant: string): Record<string, string> {
  return {
    'the postings of payouts are what their states call for, each once': linesMatch(
      'payout.',
      `select account_id, environment, 'payout.' || line.step || ':' || withdrawal_id as transaction_id,
        line.name, line.amount, null as subaccount_id
      from (
        select *, coalesce(litoshi, amount_cents) as taken, coalesce(litoshi, amount_cents - fee_cents) as arrives,
          case method when 'ltc' then 0 else fee_cents end as fee,
          case method when 'ltc' then 'merchant_ltc' else 'merchant_balance' end as own,
          case method when 'ltc' then 'ltc_in_transit' else 'payouts_in_transit' end as in_transit,
          case method when 'ltc' then 'ltc_paid_out' else 'paid_out' end as gone
        from payout
      ) p cross join lateral (values
        ('requested', own, -taken), ('requested', in_transit, taken),
        ('completed', in_transit, -taken), ('completed', gone, arrives), ('completed', 'platform_fees', fee),
        ('denied', in_transit, -taken), ('denied', own, taken),
        ('returned', gone, -arrives), ('returned', 'platform_fees', -fee), ('returned', own, taken)
      ) line (step, name, amount)
      where (line.step in ('requested', status) or (status = 'returned' and line.step = 'completed'))
        and line.amount <> 0`,
    ),

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

    'whatever payout has no end has a task that goes after it': `
      select p.id, p.status, p.task from (
        select id, status, task from (${TRANSFERS}) transfer where status in ('pending', 'processing')
        union all
        select id, status, 'subaccount_payout.reverse' from subaccount_payout
        where status = 'failed' and reversed_at is null
        union all
        select webhook_id, status, 'webhook.deliver' from webhook_delivery where status = 'pending'
      ) p
      where not exists (select from task where task.kind = p.task and task.key = p.id)`,
  };
}

/** Transfers through the bank, sent or waiting: of the main account and of subaccounts. */
const TRANSFERS = `
  select withdrawal_id as id, method, status, destination, amount_cents - fee_cents as net_cents, 'payout.send' as task
  from payout
  union all
  select id, 'pix', case when status = 'completed' and reversed_at is not null then 'returned' else status end, pix_key,
    amount_cents - fee_cents - agreed_fee_cents, 'subaccount_payout.send'
  from subaccount_payout`;

function rulesOfSubaccounts(): Record<string, string> {
  return {
    'a subaccount has what its postings sum to, and its statement': `
      select id, balance_cents, posted, entered, last from subaccount s
        left join (
          select subaccount_id as id, sum(amount) as posted from posting where subaccount_id is not null group by 1
        ) p using (id)
        left join (
          select subaccount_id as id, sum(amount_cents) as entered,
            (array_agg(balance_after_cents order by number desc))[1] as last
          from statement_entry group by 1
        ) e using (id)
      where balance_cents <> coalesce(posted, 0) or balance_cents <> coalesce(entered, 0)
        or balance_cents <> coalesce(last, 0)`,

    'each line of a statement stands on the ones before it': `
      select * from (
        select subaccount_id, number, balance_after_cents,
          sum(amount_cents) over (partition by subaccount_id order by number) as sum
        from statement_entry
      ) entry where balance_after_cents <> sum`,

    'the control account is the sum of all subaccounts': `
      select account_id, environment, control, together from (
        select account_id, environment, balance as control from ledger_account where name = 'merchant_subaccounts'
      ) control full join (
        select account_id, environment, sum(balance_cents) as together from subaccount group by 1, 2
      ) subaccounts using (account_id, environment)
      where coalesce(control, 0) <> coalesce(together, 0)`,

    'the statements are what payouts, their reversals, split charges and their refunds call for': `
      select subaccount_id, kind, ref_id, amount_cents, expected from (
        select subaccount_id, kind, ref_id, amount_cents from statement_entry
        where kind <> 'transfer_in' and ref_id not in (select refund_id from refund)
      ) entry full join (
        select subaccount_id, 'payout' as kind, payout_id as ref_id, -amount_cents as expected from subaccount_payout
        union all
        select subaccount_id, 'payout_reversal', coalesce(sub_code, payout_id), amount_cents
        from subaccount_payout where reversed_at is not null
        union all
        select subaccount_id, 'split_in', charge_id, amount_cents from (${SPLITS}) split where paid_at is not null
      ) wanted using (subaccount_id, kind, ref_id)
      where amount_cents is distinct from expected`,

    'the postings of subaccounts are what their payouts and transfers call for, each once': linesMatch(
      'subaccount',
      `select account_id, environment, 'subaccount_payout.' || line.step || ':' || id as transaction_id,
        line.name, line.amount, case line.name when 'merchant_subaccounts' then subaccount_id end as subaccount_id
      from subaccount_payout cross join lateral (values
        ('requested', 'merchant_subaccounts', -amount_cents), ('requested', 'payouts_in_transit', amount_cents),
        ('completed', 'payouts_in_transit', -amount_cents),
        ('completed', 'paid_out', amount_cents - fee_cents - agreed_fee_cents),
        ('completed', 'platform_fees', agreed_fee_cents), ('completed', 'merchant_balance', fee_cents),
        ('reversed', 'payouts_in_transit', -amount_cents), ('reversed', 'merchant_subaccounts', amount_cents),
        ('returned', 'paid_out', -(amount_cents - fee_cents - agreed_fee_cents)),
        ('returned', 'platform_fees', -agreed_fee_cents), ('returned', 'merchant_balance', -fee_cents),
        ('returned', 'merchant_subaccounts', amount_cents)
      ) line (step, name, amount)
      where line.amount <> 0
        and (line.step in ('requested', case when reversed_at is null or status = 'completed' then status else 'reversed' end)
          or (line.step = 'returned' and reversed_at is not null and status = 'completed'))
      union all
      select account_id, environment, 'subaccount.transfer_in:' || ref_id, line.name, line.amount, line.subaccount_id
      from statement_entry entry cross join lateral (values
        ('merchant_balance', -amount_cents, null), ('merchant_subaccounts', amount_cents, entry.subaccount_id)
      ) line (name, amount, subaccount_id)
      where kind = 'transfer_in'`,
    ),
  };
}

/**
 * Whether the postings of all transactions with this prefix are exactly these lines. A credit to an account that owes
 * money first settles the debt.
 */
function linesMatch(prefix: string, lines: string): string {
  return `
    select transaction_id, name, posted.amount as posted, wanted.amount as wanted from (
      select account_id, environment, transaction_id, sum(amount) as amount, max(subaccount_id) as subaccount_id,
        case ledger_account when 'merchant_receivable' then 'merchant_balance' else ledger_account end as name
      from posting where starts_with(transaction_id, '${prefix}') group by 1, 2, 3, name
    ) posted full join (${lines}) wanted using (account_id, environment, transaction_id, name)
    where posted.amount is distinct from wanted.amount or posted.subaccount_id is distinct from wanted.subaccount_id`;
}
