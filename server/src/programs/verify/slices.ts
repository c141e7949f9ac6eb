import type { Family, Slice } from './laws/law.ts';

/** The condition for rows of the tenant that is looked at. */
const OURS = 'account_id = $1 and environment = $2';

/** The tables of the books. In a slice each of them holds what the slice says, or nothing. */
const TABLES = [
  'ledger_account',
  'ledger_transaction',
  'posting',
  'card_payment',
  'payment',
  'charge',
  'pix_subscription',
  'subscription_cycle',
  'pix_credit',
  'ltc_output',
  'refund',
  'payment_return',
  'dispute',
  'dispute_file',
  'payout',
  'subaccount',
  'subaccount_payout',
  'statement_entry',
  'test_payment',
  'webhook_delivery',
  'webhook_attempt',
  'delivered_content',
  'event',
  'list_count',
  'list_amount',
  'task',
  'observed',
  'observed_entry',
  'upstream_intent',
];

/** A slice: the rows of tables, each as a query that may read the tables before it as they are in the slice. */
type Rows = readonly (readonly [table: string, query: string])[];

/** The postings of transactions whose ids a query gives. With a limit each is looked up, whatever the planner expects. */
const postingsOf = (ids: string) => `
  select p.* from (${ids}) named (transaction_id)
  cross join lateral (
    select * from posting where ${OURS} and posting.transaction_id = named.transaction_id limit 100
  ) p`;

const all = (table: string, column: string, ids = 'any($3::text[])') =>
  `select * from ${table} where ${OURS} and ${column} = ${ids}`;

const steps = (names: readonly string[], ids: string) =>
  `select step || id from unnest(array[${names.map((name) => `'${name}:'`)}]) step, (${ids}) named (id)`;

const OWN_IDS = 'select unnest($3::text[])';

/** The events of resources. With a limit each is looked up, whatever the planner expects. */
const eventsOf = (resources: Record<string, string>) =>
  Object.entries(resources)
    .map(
      ([resource, ids]) => `
  select e.* from (${ids}) named (id)
  cross join lateral (
    select * from event where ${OURS} and resource = '${resource}' and resource_id = named.id
    limit 10000
  ) e`,
    )
    .join(' union all ');

/** The tasks of resources, by their kinds, and those of other things by the kind and the ids. */
const tasksOf = (kinds: readonly string[], others: Record<string, string> = {}) =>
  [
    `select * from task where ${OURS} and kind = any('{${kinds}}'::text[]) and key = any($3::text[])`,
    ...Object.entries(others).map(
      ([kind, ids]) => `
  select t.* from (${ids}) named (key)
  cross join lateral (select * from task where ${OURS} and kind = '${kind}' and task.key = named.key limit 1) t`,
    ),
  ].join(' union all ');

/** The rows that belong to each sale: refunds, disputes, delivered content. */
const ofSold = (resource: string): Rows => [
  ['refund', `${all('refund', 'resource_id')} and resource = '${resource}'`],
  ['dispute', `${all('dispute', 'resource_id')} and resource = '${resource}'`],
  ['delivered_content', `${all('delivered_content', 'resource_id')} and resource = '${resource}'`],
];

/** The entries of the journal about refunded and disputed sales, without the transactions that are named already. */
const IDS_OF_POSTED = `
  ${steps(['refund.begun', 'refund.completed', 'refund.failed'], 'select refund_id from refund')}
  union ${steps(['dispute.opened', 'dispute.won', 'dispute.forgiven'], 'select id from dispute')}
  union ${entriesOf('select resource_id from refund union select resource_id from dispute', "and resource in ('refund', 'dispute')")}`;

/** The transactions of the journal's entries with these references. */
function entriesOf(refs: string, only = ''): string {
  return `select l.transaction_id from (${refs}) named (id) cross join lateral (
    select transaction_id from ledger_transaction where ${OURS} and is_entry and ref = named.id ${only} limit 10000
  ) l`;
}

const eventsOfSold = (resource: string) =>
  eventsOf({
    [resource]: OWN_IDS,
    refund: 'select refund_id from refund',
    dispute: 'select id from dispute',
  });

const TASKS_OF_DISPUTES = { 'dispute.evidence_due': 'select id from dispute' };

/** An accepted credit that was sent back was returned first. */
const IDS_OF_CREDITS = `
  ${steps(['pix_credit.returned'], 'select end_to_end_id from pix_credit')}
  union all ${steps(['pix_credit.sent_back'], 'select end_to_end_id from pix_credit where cause is not null')}`;

/** The credits of PIX resources, by the names that these have of them. */
const creditsOf = (table: string, accepted: string) => `
  select c.* from (
    ${accepted} union select credit ->> 'endToEndId' from ${table}, jsonb_array_elements(returned_credits) credit
  ) named (id)
  cross join lateral (select * from pix_credit where ${OURS} and end_to_end_id = named.id limit 1) c`;

const returnsOf = (ids: string) => `
  select r.* from (${ids}) named (id) cross join lateral (
    select * from payment_return where ${OURS} and rail_id = named.id limit 100
  ) r`;

const RETURNS_OF_CREDITS = returnsOf('select end_to_end_id from pix_credit');

const PIX_TASKS = ['pix.expire', 'pix.register'];
const TASKS_OF_CREDITS = { 'pix.return': 'select end_to_end_id from pix_credit' };

const linesOf = (kinds: string, refs: string) => `
  select e.* from (${refs}) named (id), unnest(array[${kinds}]) wanted (kind)
  cross join lateral (
    select * from statement_entry where ${OURS} and kind = wanted.kind and ref_id = named.id limit 1000
  ) e`;

const FAMILIES: Record<Family, Rows> = {
  card_payment: [
    ['card_payment', all('card_payment', 'order_code')],
    ...ofSold('card_payment'),
    ['payment_return', returnsOf('select paid_charge_id from card_payment where paid_charge_id is not null')],
    ['event', eventsOfSold('card_payment')],
    [
      'posting',
      postingsOf(
        `${steps(['card_payment.paid', 'card_payment.released', 'card_payment.returned'], OWN_IDS)} union all (${IDS_OF_POSTED})`,
      ),
    ],
    [
      'task',
      tasksOf(
        ['card_payment.expire', 'card_payment.resolve', 'card_payment.release', 'card_payment.return'],
        TASKS_OF_DISPUTES,
      ),
    ],
  ],
  payment: [
    ['payment', all('payment', 'payment_id')],
    ...ofSold('payment'),
    ['pix_credit', creditsOf('payment', 'select end_to_end_id from payment where end_to_end_id is not null')],
    ['ltc_output', all('ltc_output', 'payment_id')],
    ['payment_return', RETURNS_OF_CREDITS],
    ['event', eventsOfSold('payment')],
    [
      'posting',
      postingsOf(`${entriesOf(OWN_IDS, "and resource = 'payment' and not starts_with(transaction_id, 'ltc.confirmed:')")}
        union all select 'payment.paid:' || payment_id from payment where amount_cents = fee_cents
        union all ${IDS_OF_CREDITS}
        union all select step || txid || ':' || vout || ':' || n
          from ltc_output, generate_series(1, postings) n, unnest(array['ltc.confirmed:', 'ltc.reorganised:']) step
        union all (${IDS_OF_POSTED})`),
    ],
    [
      'task',
      tasksOf([...PIX_TASKS, 'ltc.expire', 'ltc.address'], { ...TASKS_OF_CREDITS, ...TASKS_OF_DISPUTES }),
    ],
  ],
  charge: [
    ['charge', all('charge', 'charge_id')],
    ...ofSold('charge'),
    ['pix_credit', creditsOf('charge', 'select end_to_end_id from charge where end_to_end_id is not null')],
    ['payment_return', RETURNS_OF_CREDITS],
    [
      'statement_entry',
      linesOf(
        `'split_in', 'split_reversal', 'payout', 'payout_reversal'`,
        `${OWN_IDS} union select refund_id from refund`,
      ),
    ],
    ['event', eventsOfSold('charge')],
    [
      'posting',
      postingsOf(`${entriesOf(OWN_IDS, "and resource = 'charge' and not starts_with(transaction_id, 'charge.paid:')")}
        union all ${steps(['charge.paid'], OWN_IDS)}
        union all ${IDS_OF_CREDITS} union all (${IDS_OF_POSTED})`),
    ],
    ['task', tasksOf(PIX_TASKS, { ...TASKS_OF_CREDITS, ...TASKS_OF_DISPUTES })],
  ],
  pix_subscription: [
    ['pix_subscription', all('pix_subscription', 'subscription_id')],
    ['subscription_cycle', `select * from subscription_cycle where subscription_id = any($3::text[])`],
    ['payment', all('payment', 'subscription_id')],
    ['pix_credit', creditsOf('pix_subscription', `select ''`)],
    ['payment_return', RETURNS_OF_CREDITS],
    ['event', eventsOf({ subscription: OWN_IDS, payment: 'select payment_id from payment' })],
    ['posting', postingsOf(IDS_OF_CREDITS)],
    ['task', tasksOf([...PIX_TASKS, 'subscription.look_up', 'subscription.instruct'], TASKS_OF_CREDITS)],
  ],
  dispute: [
    ['dispute', all('dispute', 'id')],
    [
      'dispute_file',
      `select f.* from (
        select file ->> 'fileId' from dispute cross join lateral jsonb_array_elements(files) file
      ) named (id) cross join lateral (
        select account_id, environment, dispute_id, file_id, size_bytes from dispute_file
        where ${OURS} and file_id = named.id limit 1
      ) f`,
    ],
    ['event', eventsOf({ dispute: OWN_IDS })],
    [
      'posting',
      postingsOf(`${steps(['dispute.opened', 'dispute.won', 'dispute.forgiven'], OWN_IDS)}
        union select l.transaction_id from dispute cross join lateral (
          select transaction_id from ledger_transaction where ${OURS} and is_entry
            and ref = coalesce(dispute.resource_id, dispute.id) and resource = 'dispute'
            and ledger_transaction.resource_id = dispute.id limit 1000
        ) l`),
    ],
    ['task', tasksOf(['dispute.evidence_due'])],
  ],
  payout: [
    ['payout', all('payout', 'withdrawal_id')],
    ['event', eventsOf({ payout: OWN_IDS })],
    [
      'posting',
      postingsOf(
        steps(['payout.requested', 'payout.completed', 'payout.denied', 'payout.returned'], OWN_IDS),
      ),
    ],
    ['task', tasksOf(['payout.send'])],
  ],
  subaccount_payout: [
    ['subaccount_payout', all('subaccount_payout', 'id')],
    [
      'statement_entry',
      linesOf(
        `'payout', 'payout_reversal'`,
        'select payout_id from subaccount_payout union select sub_code from subaccount_payout where sub_code is not null',
      ),
    ],
    ['event', eventsOf({ subaccount_payout: OWN_IDS })],
    [
      'posting',
      postingsOf(
        steps(
          ['requested', 'completed', 'reversed', 'returned'].map((step) => `subaccount_payout.${step}`),
          OWN_IDS,
        ),
      ),
    ],
    ['task', tasksOf(['subaccount_payout.send', 'subaccount_payout.reverse'])],
  ],
  subaccount: [
    ['subaccount', all('subaccount', 'id')],
    ['statement_entry', all('statement_entry', 'subaccount_id')],
    ['list_count', `${all('list_count', 'parent')} and list = 'statement_entry'`],
    [
      'posting',
      postingsOf(
        `select transaction_id from ledger_transaction where ${OURS} and is_entry and subaccount_id = any($3::text[])`,
      ),
    ],
  ],
  transfer: [
    ['statement_entry', `${all('statement_entry', 'ref_id')} and kind = 'transfer_in'`],
    ['posting', postingsOf(steps(['subaccount.transfer_in'], OWN_IDS))],
  ],
  test_payment: [
    ['test_payment', all('test_payment', 'id')],
    ['posting', postingsOf(steps(['test_payment.created', 'test_payment.settled'], OWN_IDS))],
  ],
  webhook_delivery: [
    ['webhook_delivery', all('webhook_delivery', 'webhook_id')],
    ['webhook_attempt', 'select * from webhook_attempt where webhook_id = any($3::text[])'],
    ['event', eventsOf({ webhook_delivery: OWN_IDS })],
    ['task', tasksOf(['webhook.deliver', 'webhook.deliver_further'])],
  ],
  // The key of `observed` is the resource and its id.
  observed: [
    [
      'observed',
      `select o.* from unnest($3::text[]) named (key) cross join lateral (
        select * from observed where ${OURS} and resource = split_part(named.key, ':', 1)
          and id = substr(named.key, strpos(named.key, ':') + 1) limit 1
      ) o`,
    ],
    [
      'event',
      `select e.* from observed o cross join lateral (
        select * from event where ${OURS} and event.resource = o.resource and event.resource_id = o.id
        order by event.version desc limit 1
      ) e`,
    ],
  ],
  upstream_intent: [['upstream_intent', all('upstream_intent', 'id')]],
};

/** The newest row of a tenant: of its journal, or of its log. */
const newest = (table: string, number: string) =>
  `(select * from ${table} where ${OURS} order by ${number} desc limit 1)`;

const JOURNAL: Rows = [
  [
    'ledger_transaction',
    `select * from ledger_transaction where ${OURS} and number between $3::bigint - 1 and $4::bigint`,
  ],
  ['posting', postingsOf('select transaction_id from ledger_transaction')],
  ['payout', payoutsOf('payout', 'withdrawal_id')],
  ['subaccount_payout', payoutsOf('subaccount_payout', 'id')],
];

function payoutsOf(table: string, key: string): string {
  return `select p.* from (
      select distinct resource_id from ledger_transaction where resource = '${table}'
    ) named cross join lateral (select * from ${table} where ${OURS} and ${key} = named.resource_id limit 1) p`;
}

/** The tables whose amounts are added up: the column of their kind, and their two instants. */
export const AMOUNTS = {
  card_payment: ['', 'created_at', 'paid_at'],
  payment: [', method', 'created_at', 'paid_at'],
  charge: [', kind', 'created_at', 'paid_at'],
  refund: [', resource', 'created_at', 'completed_at'],
  payout: [', method', 'requested_at', 'processed_at'],
  subaccount_payout: ['', 'created_at', 'completed_at'],
} as const;

/** The lists whose rows are counted because no amounts of days add up to their totals, with the columns that tell rows apart. */
const COUNTED = {
  subaccount: '',
  product: '',
  payment_return: ', resource',
  dispute: ', status',
  pix_subscription: ', status',
  webhook_delivery: ', status',
};

export const COUNTED_LISTS = Object.keys(COUNTED);

function inWindow(column: string): string {
  return `${column} >= $3::timestamptz and ${column} < $4::timestamptz`;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ');
}

const SLICES: Record<Exclude<Slice, Family>, Rows> = {
  // With the row before the first, which that one continues.
  journal: JOURNAL,
  names: JOURNAL,
  log: [
    [
      'event',
      `select account_id, environment, version from event
      where ${OURS} and version between $3::bigint - 1 and $4::bigint`,
    ],
  ],
  // With the row before the first, which that one continues.
  sightings: [
    [
      'observed_entry',
      `select * from observed_entry where ${OURS} and number between $3::bigint - 1 and $4::bigint`,
    ],
  ],
  account: [
    ['ledger_account', `select * from ledger_account where ${OURS}`],
    ['subaccount', `select account_id, environment, balance_cents from subaccount where ${OURS}`],
    ['dispute', `select account_id, environment, status, amount_cents from dispute where ${OURS}`],
    [
      'event',
      `${newest('event', 'version')} union
      (select * from event where ${OURS} and resource = 'wallet' and resource_id = 'wallet' order by version desc limit 1)`,
    ],
    ['ledger_transaction', newest('ledger_transaction', 'number')],
  ],
  // The sums up to a number, $3, and the postings after it, $4.
  balances: [
    [
      'posting',
      `select $1::text as account_id, $2::text as environment, key as ledger_account, value::bigint as amount
      from jsonb_each_text($3::jsonb)
      union all
      select p.account_id, p.environment, p.ledger_account, p.amount
      from ledger_transaction l cross join lateral (
        select * from posting p where p.account_id = $1 and p.environment = $2 and p.transaction_id = l.transaction_id limit 100
      ) p
      where l.account_id = $1 and l.environment = $2 and l.number > $4::bigint`,
    ],
    ['ledger_account', `select * from ledger_account where ${OURS}`],
  ],
  // Whole days, from $3 until before $4.
  hours: [
    [
      'list_amount',
      `select * from list_amount where ${OURS} and list in (${quoted(Object.keys(AMOUNTS))})
      and instant in ('created_at', 'requested_at', 'paid_at', 'completed_at', 'processed_at') and seconds in (3600, 86400)
      and ${inWindow('since')}`,
    ],
    ...Object.entries(AMOUNTS).map(([table, [columns, begins, ends]]) => {
      const read = `select account_id, environment, status, amount_cents, ${begins}, ${ends}${columns} from ${table} where ${OURS}`;
      // The second part finds nothing that the first one has.
      return [
        table,
        `${read} and ${inWindow(begins)} union all ${read} and ${inWindow(ends)} and not (${inWindow(begins)})`,
      ] as const;
    }),
  ],
  // The rows of the lists without amounts that $3 names: a list that it does not name is not read.
  totals: [
    [
      'list_count',
      `select * from list_count where ${OURS} and (list = any($3::text[]) or list <> all ('{${COUNTED_LISTS}}'))`,
    ],
    ['list_amount', `select * from list_amount where ${OURS} and seconds = 86400`],
    ...Object.entries(COUNTED).map(
      ([table, columns]) =>
        [
          table,
          `select account_id, environment${columns} from ${table} where ${OURS} and '${table}' = any($3::text[])`,
        ] as const,
    ),
  ],
};

/** The parts of a `with` in which each table of the books holds the rows of a slice. */
export function rowsOf(slice: Slice): string[] {
  const rows = { ...FAMILIES, ...SLICES }[slice];
  const defined = new Set(rows.map(([table]) => table));
  return [
    ['stream', `select * from stream where ${OURS}`] as const,
    ...rows,
    ...TABLES.filter((table) => !defined.has(table)).map(
      (table) => [table, `select * from ${table} where false`] as const,
    ),
  ].map(([table, query]) => `${table} as (${query})`);
}

/** The table of a family, its key, and the columns that its resources are ordered by. */
export const KEYS: Record<Family, { table: string; key: string; order: readonly string[]; only?: string }> = {
  card_payment: { table: 'card_payment', key: 'order_code', order: ['number'] },
  payment: { table: 'payment', key: 'payment_id', order: ['number'] },
  charge: { table: 'charge', key: 'charge_id', order: ['number'] },
  pix_subscription: { table: 'pix_subscription', key: 'subscription_id', order: ['number'] },
  dispute: { table: 'dispute', key: 'id', order: ['number'] },
  payout: { table: 'payout', key: 'withdrawal_id', order: ['number'] },
  subaccount_payout: { table: 'subaccount_payout', key: 'id', order: ['subaccount_id', 'number'] },
  subaccount: { table: 'subaccount', key: 'id', order: ['number'] },
  transfer: {
    table: 'statement_entry',
    key: 'ref_id',
    order: ['ref_id', 'subaccount_id'],
    only: "kind = 'transfer_in'",
  },
  test_payment: { table: 'test_payment', key: 'id', order: ['number'] },
  webhook_delivery: { table: 'webhook_delivery', key: 'webhook_id', order: ['number'] },
  observed: { table: 'observed', key: "resource || ':' || id", order: ['resource', 'id'] },
  upstream_intent: { table: 'upstream_intent', key: 'id', order: ['id'] },
};
