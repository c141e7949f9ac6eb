// Payouts and payments by PIX through the server's own ports, and the statements that came of them, sent straight to a copy of the database.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { modules } from '../../support/built.mjs';
import { answerParent } from './answer.mjs';

/**
 * @typedef {{ sql: string, parameters: readonly unknown[] }} Statement
 * @typedef {{ lane: string, statements: Statement[], whole: boolean }} Unit a transaction, or where it is not `whole`
 *   a single statement; those of one lane came one after the other
 * @typedef {{ accountId: string, environment: 'live' }} Tenant
 * @typedef {{ tenant: Tenant, subaccountId: string }} Payer
 */

const { DEFAULT_SETTINGS } = await modules['access/model']();
const { insertAccount } = await modules['access/store']();
const { createApp } = await modules.app();
const { readConfig } = await modules.config();
const { openDatabase } = await modules['db/open']();
const { createSystemClock } = await modules['kernel/clock']();

const clock = createSystemClock();
const log = { info: () => undefined, warn: console.warn, error: console.error };
const onFatal = (/** @type {Error} */ error) => {
  throw error;
};

const FUNDS_CENTS = 1_000_000_000;
const AMOUNT_CENTS = 1_000;
/** The changes of state behind one answer: a payout is debited and ends; a PIX payment is made, has its code, and is paid. */
const COMMANDS = { payout: 2, pix: 3 };
/** Connections of our pool on PostgreSQL (db/postgres.ts); PGlite has one. */
const CONNECTIONS = 10;

/** Keeps no books, for those would not be ours, and has completed whatever it is asked for. */
const bank = {
  quoteLitoshi: async () => 1,
  send: async () => ({
    status: /** @type {const} */ ('completed'),
    receipt: { endToEndId: 'E0000', recipientName: 'Ana', recipientBankName: 'Banco' },
  }),
};

/** @type {any} */
let app;
/** Those with an account of their own, and those whose account is one. @type {{ many: Payer[], hot: Payer[] }} */
let payers;
/** Statements that ours has sent since the round began. @type {Unit[]} */
let sent = [];
/** Rounds of ours that the floor has not sent yet. @type {{ answered: number, units: Unit[] }[]} */
const rounds = [];
const answeredInAll = { payout: 0, pix: 0 };
/** @type {{ run: (units: Unit[]) => Promise<void>, balances: () => Promise<unknown>, close: () => Promise<void> }} */
let floor;

answerParent({
  /** Opens the accounts, and leaves the database closed, to be copied. */
  async prepare({ environment, callers }) {
    app = await createOurs(environment);
    const hot = await openAccount();
    const each = (/** @type {() => Promise<Payer>} */ open) =>
      Promise.all(Array.from({ length: callers }, open));
    payers = {
      hot: await each(() => openPayer(hot)),
      many: await each(async () => openPayer(await openAccount())),
    };
    await app.close();
  },

  async start({ ours, floor: copy }) {
    app = await createOurs(ours, recorded);
    floor = await (copy.DATABASE_URL ? openPostgresFloor(copy.DATABASE_URL) : openPgliteFloor(copy));
  },

  /** So many callers, each with its next payout, or payment by PIX, as soon as the last is answered. */
  async ours({ accounts, ms, kind = 'payout' }) {
    const one = kind === 'pix' ? sellByPix : payOut;
    sent = [];
    const started = performance.now();
    const counts = await Promise.all(
      (accounts === 1 ? payers.hot : payers.many).map(async (payer) => {
        let count = 0;
        for (; performance.now() - started < ms; count++) await one(payer);
        return count;
      }),
    );
    const seconds = (performance.now() - started) / 1_000;
    const answered = counts.reduce((sum, count) => sum + count, 0);
    answeredInAll[/** @type {'payout' | 'pix'} */ (kind)] += answered;
    rounds.push({ answered, units: sent });
    const statements = sent.reduce((sum, unit) => sum + unit.statements.length + (unit.whole ? 2 : 0), 0);
    return {
      perSecond: answered / seconds,
      // The transactions of the simulated bank are no commands.
      group:
        (COMMANDS[/** @type {'payout' | 'pix'} */ (kind)] * answered) /
        sent.filter(({ whole, lane }) => whole && lane.startsWith('acc_')).length,
      statements: statements / answered,
    };
  },

  /** The oldest round that ours has done and the floor has not. */
  floor: replay,

  /** Everything answered is done, once, in both databases. */
  async finish() {
    while (rounds.length > 0) await replay();
    const wanted = {
      payouts: answeredInAll.payout,
      cents: FUNDS_CENTS * (payers.hot.length + payers.many.length) - answeredInAll.payout * AMOUNT_CENTS,
      sales: answeredInAll.pix,
      received: answeredInAll.pix * AMOUNT_CENTS,
    };
    const found = [await balancesOf(app.database.sql), await floor.balances()];
    for (const each of found)
      if (JSON.stringify(each) !== JSON.stringify(wanted))
        throw new Error(`${JSON.stringify(each)} in place of ${JSON.stringify(wanted)}`);
    return { answered: answeredInAll.payout + answeredInAll.pix };
  },

  async close() {
    await app.close();
    await floor.close();
  },
});

/** @param {Record<string, string>} environment @param {(database: any) => any} [wrap] */
function createOurs(environment, wrap = (database) => database) {
  return createApp({
    config: readConfig({ ...environment, PORT: '0', PSA_DEMO: 'off' }),
    clock,
    log,
    onFatal,
    testing: {
      bank,
      open: async (/** @type {import('../../../server/src/db/open.ts').DatabaseOptions} */ options) =>
        wrap(await openDatabase(options)),
    },
  });
}

/** @returns {Promise<Tenant>} */
async function openAccount() {
  const accountId = `acc_${randomUUID()}`;
  await insertAccount(app.database.sql, { id: accountId, name: 'Banca', ...DEFAULT_SETTINGS }, clock.now());
  return { accountId, environment: 'live' };
}

/** @param {Tenant} tenant @returns {Promise<Payer>} */
async function openPayer(tenant) {
  await app.embedded.controls.credit(tenant, FUNDS_CENTS);
  const { subaccount } = await app.embedded.subaccounts.create(tenant, { name: 'Bia' });
  await app.embedded.subaccounts.transfer(tenant, { subaccountId: subaccount.id, amountCents: FUNDS_CENTS });
  return { tenant, subaccountId: subaccount.id };
}

/** @param {Payer} payer */
async function payOut({ tenant, subaccountId }) {
  const { payout } = await app.embedded.subaccounts.requestPayout(tenant, {
    subaccountId,
    amountCents: AMOUNT_CENTS,
    pixKey: 'ana@example.com',
    idempotencyKey: randomUUID(),
  });
  if (payout.status !== 'completed') throw new Error(`a payout is ${payout.status}`);
}

/** Makes a payment, sends the payer's money, and receives it. @param {Payer} payer */
async function sellByPix({ tenant }) {
  const { payment } = await app.embedded.payments.create(tenant, {
    valueCents: AMOUNT_CENTS,
    idempotencyKey: randomUUID(),
  });
  await app.embedded.pix.pay({ txid: payment.paymentId.slice('psa_'.length) });
  const paid = await app.embedded.payments.receive(tenant, payment.paymentId);
  if (paid.status !== 'paid') throw new Error(`a payment is ${paid.status}`);
}

async function replay() {
  const round = rounds.shift();
  if (!round) throw new Error('there is no round to send again');
  const started = performance.now();
  await floor.run(round.units);
  return { perSecond: (round.answered / (performance.now() - started)) * 1_000 };
}

/** The same database; every statement is kept, with its parameters and the transaction that it was in. @param {any} database */
function recorded(database) {
  const beside = (/** @type {Statement} */ statement) =>
    void sent.push({ lane: 'beside', statements: [statement], whole: false });
  watch(database.sql, beside);
  return {
    ...database,
    transaction(/** @type {(sql: any) => Promise<unknown>} */ work) {
      /** @type {Unit} */
      const unit = { lane: '', statements: [], whole: true };
      sent.push(unit);
      return database.transaction((/** @type {any} */ sql) => {
        watch(sql, (statement) => {
          // The first is the lock, which names the account.
          unit.lane ||= String(statement.parameters[0]);
          unit.statements.push(statement);
        });
        return work(sql);
      });
    },
  };
}

/** @param {any} sql @param {(statement: Statement) => void} saw */
function watch(sql, saw) {
  const executor = sql.getExecutor();
  const send = executor.executeQuery;
  executor.executeQuery = (/** @type {Statement} */ query) => {
    saw({ sql: query.sql, parameters: query.parameters });
    return send.call(executor, query);
  };
}

/**
 * Each lane's units in their order, different lanes at once, on as many connections as there are.
 *
 * @param {Unit[]} units @param {((unit: Unit) => Promise<void>)[]} connections
 */
async function runLanes(units, connections) {
  /** @type {Map<string, Unit[]>} */
  const byLane = new Map();
  for (const unit of units) {
    const lane = byLane.get(unit.lane) ?? [];
    lane.push(unit);
    byLane.set(unit.lane, lane);
  }
  const waiting = [...byLane.values()];
  /** @type {(() => void)[]} */
  const idle = [];
  let busy = 0;
  await Promise.all(
    connections.map(async (send) => {
      for (;;) {
        const lane = waiting.shift();
        if (lane) {
          busy += 1;
          await send(/** @type {Unit} */ (lane.shift()));
          busy -= 1;
          if (lane.length > 0) waiting.push(lane);
          for (const wake of idle.splice(0)) wake();
        } else if (busy > 0) {
          await new Promise((resolve) => {
            idle.push(() => resolve(undefined));
          });
        } else return;
      }
    }),
  );
}

/** @param {string} databaseUrl */
async function openPostgresFloor(databaseUrl) {
  const clients = Array.from({ length: CONNECTIONS }, () => new pg.Client(databaseUrl));
  await Promise.all(clients.map((client) => client.connect()));
  for (const client of clients) await client.query(`set time zone 'UTC'`);
  /** @type {Map<string, string>} */
  const names = new Map();
  const nameOf = (/** @type {string} */ text) => {
    const name = names.get(text) ?? `s${names.size}`;
    names.set(text, name);
    return name;
  };
  const senders = clients.map((client) => async (/** @type {Unit} */ { statements, whole }) => {
    if (whole) await client.query('start transaction isolation level read committed');
    for (const { sql, parameters } of statements)
      await client.query({ name: nameOf(sql), text: sql, values: [...parameters] });
    if (whole) await client.query('commit');
  });
  return {
    run: (/** @type {Unit[]} */ units) => runLanes(units, senders),
    async balances() {
      const { rows } = await /** @type {pg.Client} */ (clients[0]).query(BALANCES);
      return numbers(rows[0]);
    },
    async close() {
      for (const client of clients) await client.end();
    },
  };
}

/** @param {Record<string, string>} environment */
async function openPgliteFloor(environment) {
  const database = await openDatabase({ ...readConfig(environment), clock, log, onFatal });
  const send = async (/** @type {Unit} */ { statements, whole }) => {
    const all = async (/** @type {any} */ sql) => {
      for (const statement of statements) await sql.getExecutor().executeQuery(raw(statement));
    };
    await (whole ? database.transaction(all) : all(database.sql));
  };
  return {
    run: (/** @type {Unit[]} */ units) => runLanes(units, [send]),
    balances: () => balancesOf(database.sql),
    close: () => database.close(),
  };
}

const BALANCES = `
  select (select count(*) from subaccount_payout where status = 'completed')::int as payouts,
    (select sum(balance_cents) from subaccount)::bigint as cents,
    (select count(*) from payment where status = 'paid')::int as sales,
    (select coalesce(-sum(balance), 0) from ledger_account where name = 'pix_received')::bigint as received`;

/** @param {any} sql */
async function balancesOf(sql) {
  const { rows } = await sql.getExecutor().executeQuery(raw({ sql: BALANCES, parameters: [] }));
  return numbers(rows[0]);
}

/** @param {Record<string, unknown>} row */
function numbers(row) {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
}

/** As Kysely takes a statement that it has not built itself. @param {Statement} statement */
function raw({ sql, parameters }) {
  return { sql, parameters, query: { kind: 'RawNode' }, queryId: { queryId: sql } };
}
