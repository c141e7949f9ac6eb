// Recurring PIX whose cycles all fall due at one instant: first the server's queue works on them, then its
// statements are sent straight to a copy of the database.
import { randomUUID } from 'node:crypto';
import { modules } from '../../support/built.mjs';
import { answerParent } from './answer.mjs';
import { assertBooks, countStatements, createRecorder, openPostgresFloor, readBooks } from './replay.mjs';

/**
 * @typedef {import('./replay.mjs').Unit} Unit
 * @typedef {{ accountId: string, environment: 'live' }} Tenant
 * @typedef {{ before: Unit[], units: Unit[] }} Burst `before`: units sent before the due instant; `units`: those sent at it
 */

const { DEFAULT_SETTINGS } = await modules['access/model']();
const { insertAccount } = await modules['access/store']();
const { createApp } = await modules.app();
const { readConfig } = await modules.config();
const { openDatabase } = await modules['db/open']();
const { createShiftableClock, createSystemClock } = await modules['kernel/clock']();

/** A round is a week: the clock advances to each instant at which something is due. */
const clock = createShiftableClock(createSystemClock());
const log = { info: () => undefined, warn: console.warn, error: console.error };

const AMOUNT_CENTS = 1_000;
/** The number of callers that subscribe at once before the measurement. */
const CALLERS = 64;
const MINUTE_MS = 60_000;

/** @type {any} */
let app;
let subscriptions = 0;
let weeks = 0;
const recorder = createRecorder();
/**
 * Weeks whose statements the floor has not sent yet.
 * @type {{ instructions: Burst, debits: Burst, after: Unit[] }[]}
 */
const rounds = [];
/** @type {Awaited<ReturnType<typeof openPostgresFloor>>} */
let floor;

answerParent({
  /** Authorises `count` subscriptions, and leaves the database closed, to be copied. */
  async prepare({ environment, accounts, count }) {
    app = await createOurs(environment);
    const tenants = await Promise.all(Array.from({ length: accounts }, openAccount));
    subscriptions = count;
    let begun = 0;
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (begun < count) await subscribe(/** @type {Tenant} */ (tenants[begun++ % accounts]));
      }),
    );
    await app.work.settled();
    await app.close();
  },

  async start({ ours, floor: copy }) {
    app = await createOurs(ours, recorder.wrap);
    floor = await openPostgresFloor(copy.DATABASE_URL, BOOKS_QUERY);
  },

  /** A week: at 00:00 every instruction is due, and three days later the bank reports every debit at one instant. */
  async ours() {
    recorder.take();
    const instructions = await doAllDue('subscription.instruct');
    const debits = await doAllDue('subscription.look_up');
    // The next morning each debit is looked up once more, and is found.
    await advanceTo((await dueOf('subscription.look_up')).at);
    weeks += 1;
    rounds.push({ instructions: instructions.burst, debits: debits.burst, after: take() });
    return { instructions: instructions.figures, debits: debits.figures };
  },

  /** Replays the oldest week that only the server has run. */
  floor: replay,

  /** Every cycle is paid once, in both databases. */
  async finish() {
    while (rounds.length > 0) await replay();
    const paid = subscriptions * (1 + weeks);
    const wanted = {
      ...{ paid, payments: paid, instructions: subscriptions * weeks, received: paid * AMOUNT_CENTS },
    };
    assertBooks([await readBooks(app.database.sql, BOOKS_QUERY), await floor.readBooks()], wanted);
    return { paid };
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
    onFatal(error) {
      throw error;
    },
    testing: {
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

/** @param {Tenant} tenant */
async function subscribe(tenant) {
  const { subscription } = await app.embedded.subscriptions.create(tenant, {
    ...{ valueCents: AMOUNT_CENTS, interval: 'weekly', idempotencyKey: randomUUID() },
  });
  const { subscriptionId } = subscription;
  await app.embedded.pix.pay({ txid: subscriptionId.slice('psa_sub_'.length) });
  const { status } = await app.embedded.subscriptions.receive(tenant, subscriptionId);
  if (status !== 'active') throw new Error(`a subscription is ${status}`);
}

/**
 * Advances the clock to the instant at which a task of this kind is due for every subscription, and waits until all are done.
 *
 * @param {string} kind
 */
async function doAllDue(kind) {
  const { at, count } = await dueOf(kind);
  if (count !== subscriptions) throw new Error(`${count} tasks ${kind} are due at once`);
  await advanceTo(new Date(at.getTime() - MINUTE_MS));
  const before = take();
  const started = performance.now();
  await advanceTo(at);
  const seconds = (performance.now() - started) / 1_000;
  const units = take();
  return {
    figures: { perSecond: count / seconds, statements: countStatements(units) / count },
    burst: { before, units },
  };
}

/** @param {Date} instant */
async function advanceTo(instant) {
  clock.shiftTo(clock.offsetMs() + Math.max(0, instant.getTime() - clock.ms()));
  await app.work.settled();
}

/** The first instant at which tasks of a kind are due, and how many are due then. @param {string} kind */
async function dueOf(kind) {
  const { at, count } = await app.database.sql
    .selectFrom('task')
    .select((/** @type {any} */ row) => ['due_at as at', row.fn.countAll().as('count')])
    .where('kind', '=', kind)
    .groupBy('due_at')
    .orderBy('due_at')
    .executeTakeFirstOrThrow();
  return { at: /** @type {Date} */ (at), count: Number(count) };
}

/**
 * The statements since the last call, without those of the queue: the floor knows the work. A single statement
 * waits for no other.
 */
function take() {
  const isOfQueue = (/** @type {Unit} */ { whole, statements }) =>
    !whole && statements.some(({ sql }) => /\b(?:update|from)\s+"?task\b/.test(sql));
  return recorder
    .take()
    .filter((unit) => !isOfQueue(unit))
    .map((unit, place) => (unit.whole ? unit : { ...unit, lane: `${unit.lane} ${place}` }));
}

async function replay() {
  const round = rounds.shift();
  if (!round) throw new Error('there is no round to send again');
  const run = async (/** @type {Burst} */ { before, units }) => {
    await floor.run(before);
    const started = performance.now();
    await floor.run(units);
    return { perSecond: (subscriptions / (performance.now() - started)) * 1_000 };
  };
  const figures = { instructions: await run(round.instructions), debits: await run(round.debits) };
  await floor.run(round.after);
  return figures;
}

const BOOKS_QUERY = `
  select (select count(*) from subscription_cycle where status = 'paid')::int as paid,
    (select count(*) from payment where status = 'paid')::int as payments,
    (select count(*) from simulated_pix_debit)::int as instructions,
    (select coalesce(-sum(balance), 0) from ledger_account where name = 'pix_received')::bigint as received`;
