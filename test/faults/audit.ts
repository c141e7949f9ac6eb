import type { CardPaymentStatus } from '../../server/src/card-payments/model.ts';
import type { ChildServer } from './child.ts';

/** What the books say at one moment, and every rule that they break, in words. */
export interface Audit {
  payments: AuditedPayment[];
  violations: string[];
}

export interface AuditedPayment {
  orderCode: string;
  /** The idempotency key that it was created with. */
  key: string | null;
  status: CardPaymentStatus;
  version: number;
  amountCents: number;
  hasOpenCharge: boolean;
}

/** `now` is the server's. */
export async function audit(server: ChildServer, now: Date): Promise<Audit> {
  const broken = rules(now);
  const [, payments, ...found] = await server.ask('query', [
    // Holds up whoever writes; a transaction that a killed server has left in its database is waited for.
    'lock table stream in exclusive mode',
    PAYMENTS,
    ...Object.values(broken),
  ]);
  const violations = Object.keys(broken).flatMap((rule, index) =>
    found[index]!.length === 0
      ? []
      : [`${rule}: ${found[index]!.map((row) => JSON.stringify(row)).join(', ')}`],
  );
  return { payments: payments as AuditedPayment[], violations };
}

const PAYMENTS = `
  select order_code as "orderCode", key, status, version, amount_cents as "amountCents",
    open_charge_id is not null as "hasOpenCharge"
  from card_payment left join idempotency on resource_id = order_code`;

/** Each finds the rows that break it. */
function rules(now: Date): Record<string, string> {
  const instant = `'${now.toISOString()}'::timestamptz`;
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

    'a payment has one event for each of its versions, and no other': `
      select p.order_code, p.version, count(e.version), count(distinct e.snapshot ->> 'version') from card_payment p
        left join event e on e.resource = 'card_payment' and e.resource_id = p.order_code
      group by p.order_code
      having count(e.version) <> p.version or count(distinct e.snapshot ->> 'version') <> p.version`,

    'the newest event of a payment shows its state': `
      select p.order_code, p.status, e.kind from card_payment p join event e
        on e.resource_id = p.order_code and (e.snapshot ->> 'version')::int = p.version
      where e.kind <> 'card_payment.' || p.status or e.snapshot ->> 'status' <> p.status`,

    'each announcement of a payment has its one webhook, and nothing else has any': `
      select kind, event.version, webhook_id from event
        full join webhook_delivery on event_version = event.version
          and webhook_delivery.account_id = event.account_id and webhook_delivery.environment = event.environment
      where (coalesce(kind, '') = 'card_payment.paid') <> (webhook_id is not null)`,

    'each attempt at a webhook is written down': `
      select d.webhook_id, d.attempts, count(a.number) from webhook_delivery d left join webhook_attempt a using (webhook_id)
      group by d.webhook_id having d.attempts <> count(a.number)`,

    'every payment was created with one key, and every key created one': `
      select resource_id, order_code, count(*) from idempotency full join card_payment on resource_id = order_code
      group by 1, 2 having count(*) <> 1 or resource_id is null or order_code is null`,

    'each paid payment has its one posting of the sale, of its amount': postingsMatch(
      'paid',
      `status in ('paid', 'refunded')`,
    ),
    'each refund has its one posting': postingsMatch('refunded', `status = 'refunded'`),

    'what the acquirer has taken is what was paid': `
      select c.id, c.amount_cents, p.order_code, p.status from
        (select * from simulated_charge
          where status in ('approved', 'refunded') or (status = 'pending' and settles_at <= ${instant})) c
        full join (select * from card_payment where paid_charge_id is not null) p on p.paid_charge_id = c.id
      where (c.id is null or p.order_code is null or c.amount_cents <> p.amount_cents)
        and not exists (select from card_payment open where open.open_charge_id = c.id)`,

    'what the acquirer gave back is what was refunded': `
      select c.id, c.status as charge, p.order_code, p.status from card_payment p
        join simulated_charge c on c.id = p.paid_charge_id
      where (c.status = 'refunded') <> (p.status = 'refunded')
        and not exists (select from task t where t.kind = 'card_payment.refund' and t.key = p.order_code)`,

    'no charge belongs to two payments': `
      select charge, count(*) from (
        select paid_charge_id as charge from card_payment union all select open_charge_id from card_payment
      ) charges where charge is not null group by 1 having count(*) > 1`,

    'what is to come is written down': `
      select p.order_code, p.status, p.open_charge_id, wanted.kind from card_payment p
        cross join (values ('expire'), ('resolve'), ('release')) wanted (kind)
      where case wanted.kind
          when 'expire' then p.status = 'pending'
          when 'resolve' then p.open_charge_id is not null
          else p.status = 'paid' and p.released_at is null end
        and not exists (
          select from task t where t.kind = 'card_payment.' || wanted.kind and t.key = p.order_code
        )`,
  };
}

function postingsMatch(step: string, condition: string): string {
  return `
    select p.order_code, p.status, posted.transaction_id, posted.amount from
      (select * from card_payment where ${condition}) p
      full join (
        select transaction_id, sum(abs(amount)) / 2 as amount from posting
        where transaction_id like 'card\\_payment.${step}:%' group by 1
      ) posted on posted.transaction_id = 'card_payment.${step}:' || p.order_code
    where p.order_code is null or posted.transaction_id is null or posted.amount <> p.amount_cents`;
}
