// Payouts, payments and charges by PIX through the server's own ports, payments also over HTTP, and then the same
// statements, sent straight to a copy of the database.
import { randomUUID } from 'node:crypto';
import { modules } from '../../support/built.mjs';
import { answerParent } from './answer.mjs';
import {
  assertBooks,
  countStatements,
  createRecorder,
  openPostgresFloor,
  readBooks,
  runLanes,
  toQuery,
} from './replay.mjs';

/**
 * @typedef {import('./replay.mjs').Unit} Unit
 * @typedef {{ accountId: string, environment: 'live' }} Tenant
 * @typedef {{ tenant: Tenant, subaccountId: string, otherId: string }} Payer
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
const SPLIT_CENTS = 400;
const KEY = 'ps_live_measured0123456789';

/**
 * The kinds of work. `does`: the work that is measured. `makes`: what it is done to, made before the measurement. `commands`: the
 * changes of state behind one answer.
 *
 * @type {Record<string, { commands: number, does: (payer: Payer, made: any) => Promise<void>, makes?: (payer: Payer) => Promise<any> }>}
 */
const KINDS = {
  // A payout is debited and ends.
  payout: { commands: 2, does: payOut },
  // A payment is created, gets its code, and is paid.
  pix: { commands: 3, does: async (payer) => receive(payer, await createPayment(payer)) },
  receive: { commands: 1, makes: createPayment, does: receive },
  split: { commands: 1, makes: createSplitCharge, does: receiveCharge },
};
/** A payment over HTTP is created and gets its code. */
const COMMANDS_OF_CREATION = 2;

/** A bank that keeps no ledger, whose cost would not be the server's, and completes every request. */
const bank = {
  quoteLitoshi: async () => 1,
  send: async () => ({
    status: /** @type {const} */ ('completed'),
    receipt: { endToEndId: 'E0000', recipientName: 'Ana', recipientBankName: 'Banco' },
  }),
};

/** @type {any} */
let app;
/** The payers that each have an account, and those that share one. @type {{ many: Payer[], hot: Payer[] }} */
let payers;
/** The statements that the server sends. */
const recorder = createRecorder();
/**
 * Rounds of the server that the floor has not sent yet: the preparation, and what was measured.
 * @type {{ answered: number, made: Unit[], units: Unit[] }[]}
 */
const rounds = [];
/** @type {Record<string, number>} */
const answeredInAll = {};
const counted = (/** @type {string} */ kind) => answeredInAll[kind] ?? 0;
let createdByHttp = 0;
/** @type {{ run: (units: Unit[]) => Promise<void>, readBooks: () => Promise<object>, close: () => Promise<void> }} */
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
    app = await createOurs(ours, recorder.wrap);
    floor = await (copy.DATABASE_URL
      ? openPostgresFloor(copy.DATABASE_URL, BOOKS_QUERY)
      : openPgliteFloor(copy));
  },

  /**
   * Runs this number of callers, each with its next payout, payment or charge as soon as the last is answered: for
   * `ms`, or `ofRound` times if they were prepared.
   */
  async ours({ accounts, ms, kind = 'payout', ofRound }) {
    const { does, makes } = /** @type {(typeof KINDS)[string]} */ (KINDS[kind]);
    const callers = accounts === 1 ? payers.hot : payers.many;
    recorder.take();
    const waiting = await Promise.all(
      callers.map(async (payer) => {
        const all = [];
        while (makes && all.length < ofRound) all.push(await makes(payer));
        return all;
      }),
    );
    const made = recorder.take();
    const started = performance.now();
    const counts = await Promise.all(
      callers.map(async (payer, index) => {
        let count = 0;
        // All prepared ones are used up, so that the next round finds none of this one.
        const goesOn = () => (makes ? count < ofRound : performance.now() - started < ms);
        for (; goesOn(); count++) await does(payer, waiting[index]?.[count]);
        return count;
      }),
    );
    const seconds = (performance.now() - started) / 1_000;
    const answered = counts.reduce((sum, count) => sum + count, 0);
    answeredInAll[kind] = counted(kind) + answered;
    return {
      perSecond: answered / seconds,
      ...endRound(answered, made, /** @type {any} */ (KINDS[kind]).commands),
    };
  },

  /** Begins a round in which another process sends requests over HTTP. */
  begin() {
    recorder.take();
    return { url: app.url, key: KEY };
  },
  /** Ends a round in which this number of payments was created. */
  end({ answered }) {
    createdByHttp += answered;
    return endRound(answered, [], COMMANDS_OF_CREATION);
  },

  /** Replays the oldest round that only the server has run. */
  floor: replay,

  /** Asserts that everything that was answered is done once, in both databases. */
  async finish() {
    while (rounds.length > 0) await replay();
    const sales = counted('pix') + counted('receive');
    const funds = FUNDS_CENTS * (payers.hot.length + payers.many.length);
    const wanted = {
      payouts: counted('payout'),
      cents: funds - counted('payout') * AMOUNT_CENTS + 2 * counted('split') * SPLIT_CENTS,
      created: sales + createdByHttp,
      sales,
      charges: counted('split'),
      received: (sales + counted('split')) * AMOUNT_CENTS,
    };
    assertBooks([await readBooks(app.database.sql, BOOKS_QUERY), await floor.readBooks()], wanted);
    return { answered: Object.values(answeredInAll).reduce((sum, count) => sum + count, createdByHttp) };
  },

  async close() {
    await app.close();
    await floor.close();
  },
});

/** @param {Record<string, string>} environment @param {(database: any) => any} [wrap] */
function createOurs(environment, wrap = (database) => database) {
  return createApp({
    config: {
      ...readConfig({ ...environment, PSA_BOOTSTRAP_LIVE_KEY: KEY, PORT: '0', PSA_DEMO: 'off' }),
      graphqlLimit: 100_000_000,
    },
    clock,
    log,
    onFatal,
    testing: {
      bank,
      restLimit: 100_000_000,
      open: async (/** @type {import('../../../server/src/state/db/open.ts').DatabaseOptions} */ options) =>
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
  const { subaccount: other } = await app.embedded.subaccounts.create(tenant, { name: 'Eva' });
  return { tenant, subaccountId: subaccount.id, otherId: other.id };
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

/** @param {Payer} payer */
async function createPayment({ tenant }) {
  const { payment } = await app.embedded.payments.create(tenant, {
    valueCents: AMOUNT_CENTS,
    idempotencyKey: randomUUID(),
  });
  return payment.paymentId;
}

/** Sends the payer's money, with the bank's notification, and records it. @param {Payer} payer @param {string} paymentId */
async function receive({ tenant }, paymentId) {
  await app.embedded.pix.pay({ txid: paymentId.slice('psa_'.length) });
  const paid = await app.embedded.payments.receive(tenant, paymentId);
  if (paid.status !== 'paid') throw new Error(`a payment is ${paid.status}`);
}

/** Creates a charge whose amount goes mostly to two subaccounts. @param {Payer} payer */
async function createSplitCharge({ tenant, subaccountId, otherId }) {
  const { charge } = await app.embedded.charges.create(tenant, {
    valueCents: AMOUNT_CENTS,
    splits: [subaccountId, otherId].map((id) => ({ subaccountId: id, amountCents: SPLIT_CENTS })),
    idempotencyKey: randomUUID(),
  });
  return charge.chargeId;
}

/** @param {Payer} payer @param {string} chargeId */
async function receiveCharge({ tenant }, chargeId) {
  await app.embedded.pix.pay({ txid: chargeId.slice('psplit_'.length) });
  const paid = await app.embedded.charges.receive(tenant, chargeId);
  if (paid.status !== 'paid') throw new Error(`a charge is ${paid.status}`);
}

/** @param {number} answered @param {Unit[]} made @param {number} commands */
function endRound(answered, made, commands) {
  const units = recorder.take();
  rounds.push({ answered, made, units });
  // The simulated bank's transactions are no commands.
  const groups = units.filter(({ whole, lane }) => whole && lane.startsWith('acc_')).length;
  return { group: (commands * answered) / groups, statements: countStatements(units) / answered };
}

async function replay() {
  const round = rounds.shift();
  if (!round) throw new Error('there is no round to send again');
  await floor.run(round.made);
  const started = performance.now();
  await floor.run(round.units);
  return { perSecond: (round.answered / (performance.now() - started)) * 1_000 };
}

/** @param {Record<string, string>} environment */
async function openPgliteFloor(environment) {
  const database = await openDatabase({ ...readConfig(environment), clock, log, onFatal });
  const send = async (/** @type {Unit} */ { statements, whole }) => {
    const all = async (/** @type {any} */ sql) => {
      for (const statement of statements) await sql.getExecutor().executeQuery(toQuery(statement));
    };
    await (whole ? database.transaction(all) : all(database.sql));
  };
  return {
    run: (/** @type {Unit[]} */ units) => runLanes(units, [send]),
    readBooks: () => readBooks(database.sql, BOOKS_QUERY),
    close: () => database.close(),
  };
}

const BOOKS_QUERY = `
  select (select count(*) from subaccount_payout where status = 'completed')::int as payouts,
    (select sum(balance_cents) from subaccount)::bigint as cents,
    (select count(*) from payment)::int as created,
    (select count(*) from payment where status = 'paid')::int as sales,
    (select count(*) from charge where status = 'paid')::int as charges,
    (select coalesce(-sum(balance), 0) from ledger_account where name = 'pix_received')::bigint as received`;
