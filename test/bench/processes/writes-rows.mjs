// The rows of each kind of command, in tables that stay as they are when the server's change: what a program writes that
// has the server's promises (a key is used once, books that balance, a log, due work) and nothing else. The lists' totals
// are left out. The floor and the peer write them, each in its way.
import { Agent, request } from 'node:http';

/** @typedef {{ accountId: string, subaccountId: string, key: string, id: string, at: Date, versions: number[] }} One a command: `id` of what it makes, `versions` of its events */
/** @typedef {keyof typeof STEPS} Step */

const IN = 'account_id text, environment text, ';
const OF_TENANT = '(account_id, environment';

/** The tables, with the keys and lists of the server's. */
export const SCHEMA = `
  create table stream (${IN} version bigint not null, primary key ${OF_TENANT}));
  create table event (${IN} version bigint, kind text not null, resource text not null, resource_id text not null,
    previous_status text, occurred_at timestamptz not null, snapshot jsonb not null, primary key ${OF_TENANT}, version));
  create index on event ${OF_TENANT}, resource, resource_id, version);
  create table ledger_account (${IN} name text, balance_cents bigint not null, primary key ${OF_TENANT}, name));
  create table posting (${IN} transaction_id text, ledger_account text, amount_cents bigint not null,
    occurred_at timestamptz not null, primary key ${OF_TENANT}, transaction_id, ledger_account));
  create table task (kind text, ${IN} key text, due_at timestamptz not null, primary key (kind, account_id, environment, key));
  create index on task (due_at);
  create table idempotency (${IN} operation text, key text, input_hash text not null, resource_id text not null,
    primary key ${OF_TENANT}, operation, key));
  create table card_payment (number bigint generated always as identity, ${IN} order_code text primary key,
    status text not null, amount_cents bigint not null, description text, created_at timestamptz not null,
    expires_at timestamptz not null);
  create index on card_payment ${OF_TENANT}, number);
  create index on card_payment ${OF_TENANT}, status, number);
  create table payment (number bigint generated always as identity, ${IN} payment_id text primary key,
    status text not null, amount_cents bigint not null, br_code text, created_at timestamptz not null,
    expires_at timestamptz not null, paid_at timestamptz);
  create index on payment ${OF_TENANT}, number);
  create index on payment ${OF_TENANT}, status, number);
  create table pix_credit (${IN} end_to_end_id text, payment_id text not null, amount_cents bigint not null,
    credited_at timestamptz not null, primary key ${OF_TENANT}, end_to_end_id));
  create table subaccount (id text primary key, balance_cents bigint not null);
  create table statement_entry (subaccount_id text, number bigint generated always as identity, kind text not null,
    ref_id text not null, amount_cents bigint not null, created_at timestamptz not null, primary key (subaccount_id, number));
  create table subaccount_payout (number bigint generated always as identity, ${IN} subaccount_id text not null,
    payout_id text not null, status text not null, amount_cents bigint not null, pix_key text not null,
    withdrawal_id text, created_at timestamptz not null, completed_at timestamptz, primary key ${OF_TENANT}, payout_id));
  create index on subaccount_payout (subaccount_id, number);
  create index on subaccount_payout (subaccount_id, status, number);
  create table webhook_delivery (number bigint generated always as identity, ${IN} webhook_id text primary key,
    event_version bigint not null, url text not null, body text not null, status text not null,
    created_at timestamptz not null);
  create index on webhook_delivery ${OF_TENANT}, number);
  create index on webhook_delivery ${OF_TENANT}, status, number);
  create table webhook_attempt (webhook_id text, number integer, at timestamptz not null, response_status integer,
    primary key (webhook_id, number));`;

const AMOUNT_CENTS = 1_000;
const MINUTE_MS = 60_000;
const SNAPSHOT_BYTES = 420;

/** A resource as the log keeps it. @param {string} id @param {string} status */
function snapshot(id, status) {
  const resource = {
    id,
    status,
    version: 1,
    amountCents: AMOUNT_CENTS,
    currency: 'BRL',
    description: 'Caneca',
  };
  const missing = SNAPSHOT_BYTES - JSON.stringify(resource).length;
  return JSON.stringify({ ...resource, more: 'x'.repeat(Math.max(0, missing)) });
}

/** An insert of arrays, one for each column. @param {string} table @param {Record<string, string>} columns */
function insert(table, columns) {
  const types = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return `/* floor_${table} */ insert into ${table} (${Object.keys(columns)}) select * from unnest(${types})`;
}

const OF = { account_id: 'text', environment: 'text' };

/** The statements, in the order of a transaction. Each takes one array for each column. */
export const STATEMENTS = {
  card: insert('card_payment', {
    ...{ ...OF, order_code: 'text', status: 'text', amount_cents: 'bigint', description: 'text' },
    ...{ created_at: 'timestamptz', expires_at: 'timestamptz' },
  }),
  payment: insert('payment', {
    ...{ ...OF, payment_id: 'text', status: 'text', amount_cents: 'bigint' },
    ...{ created_at: 'timestamptz', expires_at: 'timestamptz' },
  }),
  code: `/* floor_code */ update payment set br_code = u.code from unnest($1::text[], $2::text[]) u (id, code)
    where payment_id = u.id`,
  paid: `/* floor_paid */ update payment set status = 'paid', paid_at = u.at
    from unnest($1::text[], $2::timestamptz[]) u (id, at) where payment_id = u.id`,
  credit: insert('pix_credit', {
    ...{
      ...OF,
      end_to_end_id: 'text',
      payment_id: 'text',
      amount_cents: 'bigint',
      credited_at: 'timestamptz',
    },
  }),
  payout: insert('subaccount_payout', {
    ...{ ...OF, subaccount_id: 'text', payout_id: 'text', status: 'text', amount_cents: 'bigint' },
    ...{ pix_key: 'text', created_at: 'timestamptz' },
  }),
  completed: `/* floor_completed */ update subaccount_payout p
    set status = 'completed', withdrawal_id = u.withdrawal, completed_at = u.at
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) u (account, environment, id, withdrawal, at)
    where p.account_id = u.account and p.environment = u.environment and p.payout_id = u.id`,
  subaccount: `/* floor_subaccount */ insert into subaccount as s (id, balance_cents)
    select id, sum(cents) from unnest($1::text[], $2::bigint[]) u (id, cents) group by id order by id
    on conflict (id) do update set balance_cents = s.balance_cents + excluded.balance_cents`,
  entry: insert('statement_entry', {
    ...{
      subaccount_id: 'text',
      kind: 'text',
      ref_id: 'text',
      amount_cents: 'bigint',
      created_at: 'timestamptz',
    },
  }),
  posting: insert('posting', {
    ...{
      ...OF,
      transaction_id: 'text',
      ledger_account: 'text',
      amount_cents: 'bigint',
      occurred_at: 'timestamptz',
    },
  }),
  balance: `/* floor_balance */ insert into ledger_account as a (account_id, environment, name, balance_cents)
    select account, environment, name, sum(cents)
    from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) u (account, environment, name, cents)
    group by account, environment, name order by account, environment, name
    on conflict (account_id, environment, name) do update set balance_cents = a.balance_cents + excluded.balance_cents`,
  idempotency: insert('idempotency', {
    ...{ ...OF, operation: 'text', key: 'text', input_hash: 'text', resource_id: 'text' },
  }),
  delivery: insert('webhook_delivery', {
    ...{ ...OF, webhook_id: 'text', event_version: 'bigint', url: 'text', body: 'text', status: 'text' },
    created_at: 'timestamptz',
  }),
  delivered: `/* floor_delivered */ update webhook_delivery set status = 'delivered'
    from unnest($1::text[]) u (id) where webhook_id = u.id`,
  attempt: insert('webhook_attempt', {
    ...{ webhook_id: 'text', number: 'integer', at: 'timestamptz', response_status: 'integer' },
  }),
  event: insert('event', {
    ...{
      ...OF,
      version: 'bigint',
      kind: 'text',
      resource: 'text',
      resource_id: 'text',
      occurred_at: 'timestamptz',
    },
    snapshot: 'jsonb',
  }),
  stream: `/* floor_stream */ insert into stream as s (account_id, environment, version)
    select account, environment, max(version) from unnest($1::text[], $2::text[], $3::bigint[]) u (account, environment, version)
    group by account, environment order by account, environment
    on conflict (account_id, environment) do update set version = greatest(s.version, excluded.version)`,
  done: `/* floor_done */ delete from task t
    using unnest($1::text[], $2::text[], $3::text[], $4::text[]) u (kind, account, environment, key)
    where t.kind = u.kind and t.account_id = u.account and t.environment = u.environment and t.key = u.key`,
  task: insert('task', { kind: 'text', ...OF, key: 'text', due_at: 'timestamptz' }),
};

/** @typedef {keyof typeof STATEMENTS} Statement */
/** @typedef {Partial<Record<Statement, unknown[][]>>} Rows */

/** @param {One} one */
const tenantOf = ({ accountId }) => [accountId, 'live'];
/** @param {One} one @param {number} minutes */
const later = ({ at }, minutes) => new Date(at.getTime() + minutes * MINUTE_MS);

/** The events of a step, with the position of the log. @param {One} one @param {[kind: string, resource: string, id: string][]} events @returns {Rows} */
function logged(one, events) {
  const rows = events.map(([kind, resource, id], index) => [
    ...[...tenantOf(one), one.versions[index], kind, resource, id, one.at],
    snapshot(id, kind),
  ]);
  return { event: rows, stream: [[...tenantOf(one), one.versions[events.length - 1]]] };
}

/** @param {One} one @param {string} transaction @param {[account: string, cents: number][]} lines @returns {Rows} */
function posted(one, transaction, lines) {
  return {
    posting: lines.map(([name, cents]) => [...tenantOf(one), transaction, name, cents, one.at]),
    balance: lines.map(([name, cents]) => [...tenantOf(one), name, cents]),
  };
}

/** @param {One} one @param {string} operation @returns {Rows} */
function once(one, operation) {
  return { idempotency: [[...tenantOf(one), operation, one.key, 'f'.repeat(64), one.id]] };
}

/** A webhook that is written, and its delivery. @param {One} one @param {string} url @param {number} version @returns {Rows} */
function announced(one, url, version) {
  const body = snapshot(one.id, 'webhook');
  return { delivery: [[...tenantOf(one), `wh_${one.id}`, version, url, body, 'pending', one.at]] };
}

/** The rows of each commit of each kind of command, with the number of its events. */
const STEPS = {
  card: {
    events: 1,
    /** @param {One} one @returns {Rows} */
    rows: (one) => ({
      card: [[...tenantOf(one), one.id, 'pending', AMOUNT_CENTS, 'Caneca', one.at, later(one, 30)]],
      ...once(one, 'createCardPayment'),
      ...logged(one, [['card_payment.pending', 'card_payment', one.id]]),
      task: [['card_payment.expire', ...tenantOf(one), one.id, later(one, 30)]],
    }),
  },
  sale: {
    events: 1,
    /** @param {One} one @returns {Rows} */
    rows: (one) => ({
      ...posted(one, `sale:${one.id}`, [
        ['acquirer', -AMOUNT_CENTS],
        ['merchant_pending', AMOUNT_CENTS],
      ]),
      ...logged(one, [['wallet.changed', 'wallet', 'wallet']]),
    }),
  },
  transfer: {
    events: 2,
    /** @param {One} one @returns {Rows} */
    rows: (one) => ({
      subaccount: [[one.subaccountId, AMOUNT_CENTS]],
      entry: [[one.subaccountId, 'transfer_in', one.id, AMOUNT_CENTS, one.at]],
      ...posted(one, `transfer:${one.id}`, [
        ['merchant_balance', -AMOUNT_CENTS],
        ['merchant_subaccounts', AMOUNT_CENTS],
      ]),
      ...once(one, 'transferToSubaccount'),
      ...logged(one, [
        ['subaccount.credited', 'subaccount', one.subaccountId],
        ['wallet.changed', 'wallet', 'wallet'],
      ]),
    }),
  },
  debit: {
    events: 2,
    /** @param {One} one @returns {Rows} */
    rows: (one) => ({
      payout: [
        [...tenantOf(one), one.subaccountId, one.id, 'processing', AMOUNT_CENTS, 'ana@example.com', one.at],
      ],
      subaccount: [[one.subaccountId, -AMOUNT_CENTS]],
      entry: [[one.subaccountId, 'payout', one.id, -AMOUNT_CENTS, one.at]],
      ...posted(one, `requested:${one.id}`, [
        ['merchant_subaccounts', -AMOUNT_CENTS],
        ['payouts_in_transit', AMOUNT_CENTS],
      ]),
      ...once(one, 'requestSubaccountPayout'),
      ...logged(one, [
        ['payout.processing', 'subaccount_payout', one.id],
        ['wallet.changed', 'wallet', 'wallet'],
      ]),
      task: [['payout.send', ...tenantOf(one), one.id, later(one, 1)]],
    }),
  },
  outcome: {
    events: 3,
    /** @param {One} one @param {string} url @returns {Rows} */
    rows: (one, url) => ({
      completed: [[...tenantOf(one), one.id, one.key.slice(0, 24), one.at]],
      ...posted(one, `completed:${one.id}`, [
        ['payouts_in_transit', -AMOUNT_CENTS],
        ['paid_out', AMOUNT_CENTS - 100],
        ['platform_fees', 100],
      ]),
      ...announced(one, url, /** @type {number} */ (one.versions[0])),
      ...logged(one, [
        ['payout.completed', 'subaccount_payout', one.id],
        ['wallet.changed', 'wallet', 'wallet'],
        ['webhook_delivery.pending', 'webhook_delivery', one.id],
      ]),
      done: [['payout.send', ...tenantOf(one), one.id]],
      task: [['webhook.deliver', ...tenantOf(one), one.id, one.at]],
    }),
  },
  delivered: {
    events: 1,
    /** @param {One} one @returns {Rows} */
    rows: (one) => ({
      delivered: [[`wh_${one.id}`]],
      attempt: [[`wh_${one.id}`, 1, one.at, 200]],
      ...logged(one, [['webhook_delivery.delivered', 'webhook_delivery', one.id]]),
      done: [['webhook.deliver', ...tenantOf(one), one.id]],
    }),
  },
  payment: {
    events: 1,
    /** @param {One} one @returns {Rows} */
    rows: (one) => ({
      payment: [[...tenantOf(one), one.id, 'pending', AMOUNT_CENTS, one.at, later(one, 30)]],
      ...once(one, 'createPayment'),
      ...logged(one, [['payment.pending', 'payment', one.id]]),
      task: [['payment.register', ...tenantOf(one), one.id, later(one, 1)]],
    }),
  },
  code: {
    events: 1,
    /** @param {One} one @returns {Rows} */
    rows: (one) => ({
      code: [[one.id, `00020126580014br.gov.bcb.pix${one.id}`]],
      ...logged(one, [['payment.registered', 'payment', one.id]]),
      done: [['payment.register', ...tenantOf(one), one.id]],
      task: [['payment.expire', ...tenantOf(one), one.id, later(one, 30)]],
    }),
  },
  paid: {
    events: 3,
    /** @param {One} one @param {string} url @returns {Rows} */
    rows: (one, url) => ({
      paid: [[one.id, one.at]],
      credit: [[...tenantOf(one), `E${one.id}`, one.id, AMOUNT_CENTS, one.at]],
      ...posted(one, `paid:${one.id}`, [
        ['pix_received', -AMOUNT_CENTS],
        ['merchant_balance', AMOUNT_CENTS],
      ]),
      ...announced(one, url, /** @type {number} */ (one.versions[0])),
      ...logged(one, [
        ['payment.paid', 'payment', one.id],
        ['wallet.changed', 'wallet', 'wallet'],
        ['webhook_delivery.pending', 'webhook_delivery', one.id],
      ]),
      done: [['payment.expire', ...tenantOf(one), one.id]],
      task: [['webhook.deliver', ...tenantOf(one), one.id, one.at]],
    }),
  },
};

/** The rows of one transaction, as the arrays of its statements. @param {readonly Rows[]} all */
export function statementsOf(all) {
  /** @type {{ text: string, values: unknown[][] }[]} */
  const statements = [];
  for (const [name, text] of Object.entries(STATEMENTS)) {
    const rows = all.flatMap((each) => each[/** @type {Statement} */ (name)] ?? []);
    const [first] = rows;
    if (first) statements.push({ text, values: first.map((_, column) => rows.map((row) => row[column])) });
  }
  return statements;
}

/**
 * The commands, over `commit`, which writes the rows of a step. A webhook is sent to `receiver` behind the answer.
 *
 * @param {(rows: Rows) => Promise<void>} commit @param {string} receiver
 */
export function createCommands(commit, receiver) {
  /** @type {Map<string, number>} */
  const versions = new Map();
  let count = 0;
  const agent = new Agent({ keepAlive: true });

  /** @param {Step} step @param {Omit<One, 'versions' | 'at'>} one */
  function write(step, one) {
    const { events, rows } = STEPS[step];
    const last = versions.get(one.accountId) ?? 0;
    versions.set(one.accountId, last + events);
    const places = Array.from({ length: events }, (_, index) => last + 1 + index);
    return commit(rows({ ...one, at: new Date(), versions: places }, receiver));
  }

  /** @param {object} body @returns {Promise<void>} */
  const notify = (body) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const headers = { 'content-type': 'application/json', 'content-length': bytes.length };
      const sent = request(receiver, { agent, method: 'POST', headers }, (response) => {
        response.resume().once('end', resolve);
      });
      sent.once('error', reject).end(bytes);
    });

  /** @param {string} accountId @param {string} key @param {string} [subaccountId] @param {string} [id] */
  const one = (accountId, key, subaccountId = '', id = '') => {
    count += 1;
    return { accountId, key, subaccountId, id: id || `psa_${String(count).padStart(32, '0')}` };
  };

  return {
    /** @param {string} accountId */
    sale: (accountId) => write('sale', one(accountId, '')),
    /** @param {string} accountId @param {string} key */
    async card(accountId, key) {
      const made = one(accountId, key);
      await write('card', made);
      return { orderCode: made.id, status: 'PENDING', amountCents: AMOUNT_CENTS, currency: 'BRL' };
    },
    /** @param {string} accountId @param {string} key @param {string} subaccountId */
    async transfer(accountId, key, subaccountId) {
      const made = one(accountId, key, subaccountId);
      await write('transfer', made);
      return { id: made.id, amountCents: AMOUNT_CENTS };
    },
    /** @param {string} accountId @param {string} key @param {string} subaccountId */
    async payout(accountId, key, subaccountId) {
      const made = one(accountId, key, subaccountId, `saq_idem_${key}`);
      await write('debit', made);
      await write('outcome', made);
      void notify({ payoutId: made.id, status: 'completed' }).then(() => write('delivered', made));
      return { payoutId: made.id, status: 'COMPLETED' };
    },
    /** @param {string} accountId @param {string} key */
    async pix(accountId, key) {
      const made = one(accountId, key);
      await write('payment', made);
      await write('code', made);
      return { paymentId: made.id, status: 'PENDING' };
    },
    /** @param {string} accountId @param {string} paymentId */
    async paid(accountId, paymentId) {
      const made = one(accountId, '', '', paymentId);
      await write('paid', made);
      void notify({ paymentId, status: 'paid' }).then(() => write('delivered', made));
      return {};
    },
  };
}

/**
 * Writes the rows of each step in a transaction of their own, over the connections of `pool`.
 *
 * @param {import('pg').Pool} pool
 */
export function inOwnTransactions(pool) {
  return async (/** @type {Rows} */ rows) => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      for (const { text, values } of statementsOf([rows]))
        await client.query({ name: text.slice(3, 20), text, values });
      await client.query('commit');
    } finally {
      client.release();
    }
  };
}

/** The account of a caller's key, which nobody checks here. @param {string | undefined} authorization */
export function accountOf(authorization = '') {
  return authorization.replace('Bearer ps_live_', 'acc_');
}
