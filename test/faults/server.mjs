// A whole server in a process of its own, to be killed: main.js with messages in place of the payer's page, a clock
// that can be ahead, and a statement at which it kills itself. It is the built server, which starts in half the time:
// most of these live for less than it takes to load the sources.
import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { modules } from '../support/built.mjs';
import { cutWorker } from './cut-worker.mjs';
import { watchBoundaries } from './watch.mjs';

const { default: pg } = await modules.pg();
const { CompiledQuery } = await modules.kysely();
/** The function that creates an app. @type {(options: Parameters<typeof import('../../server/src/programs/app.ts').createApp>[0]) => Promise<any>} */
const createApp = (await modules.app()).createApp;
const { readConfig } = await modules.config();
const { openDatabase } = await modules['db/open']();
const { createSystemClock, plusMs } = await modules['kernel/clock']();

/** @type {import('./child.ts').Moment | null} */
let moment = null;
/** The boundary to die at, where one is given; those reached since they were last asked for. */
/** @type {string | null} */
let last = null;
/** @type {Set<string>} */
let passed = new Set();
/** @type {import('../../server/src/programs/app.ts').App & { embedded: import('../../server/src/programs/modes/runtime.ts').EmbeddedServices }} */
let app;
/** The tenant of the first key. @type {import('../../server/src/kernel/tenant.ts').Tenant} */
let first;

/** The time by which its clock is ahead of the system's. */
let aheadMs = 0;
const system = createSystemClock();
/** @type {import('../../server/src/kernel/clock.ts').Clock} */
const clock = {
  now: () => plusMs(system.now(), aheadMs),
  ms: () => system.ms() + aheadMs,
  schedule: (at, task) => system.schedule(plusMs(at, -aheadMs), task),
};

/** @type {{ [Name in keyof import('./child.ts').Requests]: (request: any, live: typeof first) => Promise<unknown> }} */
const answers = {
  async start({
    environment,
    clockAheadMs = 0,
    dieAt = null,
    watched = null,
    brief = false,
    restLimit,
    windowMs,
    upstreamTuning,
    databaseWaitMs,
    otherKeys = {},
  }) {
    moment = dieAt;
    // PGlite spends half of its start on optimizing itself, which a short process does not need.
    if (brief) setFlagsFromString('--liftoff-only');
    if (watched) {
      last = watched.dieAt;
      watchBoundaries(reach);
    }
    aheadMs = clockAheadMs;
    const config = readConfig({ PORT: '0', ...environment });
    const fault = (/** @type {unknown} */ value) =>
      say({ fault: value instanceof Error ? String(value.stack) : JSON.stringify(value) });
    app = await createApp({
      config: {
        ...config,
        ...(config.upstream && windowMs && { upstream: { ...config.upstream, windowMs } }),
      },
      clock,
      testing: {
        strangerLimit: 1_000_000,
        ...(restLimit && { restLimit }),
        ...(upstreamTuning && { upstreamTuning }),
        ...(databaseWaitMs && {
          open: (options) => openDatabase({ ...options, waitMs: databaseWaitMs }),
        }),
      },
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (/** @type {{ err?: unknown }} */ { err }, /** @type {string} */ message) =>
          fault(err ?? message),
      },
      onFatal: fault,
    });
    const { sql } = app.database;
    const others = Object.keys(otherKeys);
    let accounts = sql.selectFrom('account').select('id');
    if (others.length > 0) accounts = accounts.where('id', 'not in', others);
    first = { accountId: (await accounts.executeTakeFirstOrThrow()).id, environment: 'live' };
    for (const [id, key] of Object.entries(otherKeys)) await openAccount(id, key);
    return { url: app.url, port: app.port };
  },
  stop: () => app.close(),
  async cutWorker(cut) {
    cutWorker(cut);
  },
  async dieAt(newMoment) {
    moment = newMoment;
  },
  async dieAtBoundary(boundary) {
    last = boundary;
  },
  async passed() {
    const names = [...passed];
    passed = new Set();
    return names;
  },
  async pay({ orderCode, cardNumber: number }) {
    const card = { number, holder: 'ANA', expiryMonth: 12, expiryYear: 2099, securityCode: '123' };
    return { kind: (await app.embedded.cardPayments.pay(orderCode, card)).kind };
  },
  async payPix({ paymentId, endToEndId }, live) {
    await app.embedded.pix.pay({ txid: paymentId.slice(paymentId.lastIndexOf('_') + 1), endToEndId });
    const { payments, charges, subscriptions } = app.embedded;
    if (paymentId.startsWith('psa_sub_'))
      return { status: (await subscriptions.receive(live, paymentId))?.status ?? null };
    const family = paymentId.startsWith('psa_') ? payments : charges;
    return { status: (await family.receive(live, paymentId))?.status ?? null };
  },
  async endAtBank({ subscriptionId }, live) {
    const { pix, subscriptions } = app.embedded;
    await pix.endByPayer(subscriptionId.slice('psa_sub_'.length));
    return { status: (await subscriptions.receive(live, subscriptionId))?.status ?? null };
  },
  async sendLtc({ paymentId, txid, share, confirmations }, live) {
    const { address, litoshi } = await ltcRequestOf(live, paymentId);
    await app.embedded.litecoin.send(address, { txid, litoshi: Math.ceil(litoshi * share), confirmations });
    return receiveLtc(live, paymentId);
  },
  async reorganiseLtc({ paymentId, txid }, live) {
    await app.embedded.litecoin.reorganise((await ltcRequestOf(live, paymentId)).address, txid);
    return receiveLtc(live, paymentId);
  },
  async creditLtcOf({ paymentId }, live) {
    await app.embedded.ltc.creditUnmatched(live, paymentId);
    return receiveLtc(live, paymentId);
  },
  async importStore({ productIds }, live) {
    const nothing = { description: null, price: null, imageUrl: null, available: null };
    await app.embedded.store.replace(
      live,
      productIds.map((/** @type {string} */ storeProductId) => ({
        storeProductId,
        name: storeProductId,
        ...nothing,
      })),
    );
  },
  refund: ({ orderCode }, live) => app.embedded.cardPayments.refund(live, orderCode),
  async credit({ name, cents, litoshi }, live) {
    await app.embedded.controls.credit(live, cents, { name });
    await app.embedded.controls.creditLtc(live, litoshi, { name });
  },
  settle: () => app.work.settled(),
  pass({ ms }) {
    aheadMs += ms;
    return app.work.settled();
  },
  query: (/** @type {string[]} */ statements) =>
    app.database.transaction(async (sql) => {
      const results = [];
      for (const statement of statements)
        results.push((await sql.executeQuery(CompiledQuery.raw(statement))).rows);
      return results;
    }),
  checkpoint: () => app.database.sql.executeQuery(CompiledQuery.raw('checkpoint')),
};

/** Opens an account with a key, once. @param {string} id @param {string} key */
async function openAccount(id, key) {
  const { hash } = await import('node:crypto');
  const copy = (/** @type {string} */ table, /** @type {object} */ own) =>
    app.database.sql.executeQuery(
      CompiledQuery.raw(
        `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(original) || $1::jsonb)).*
         from ${table} original where ${table === 'account' ? 'id' : 'account_id'} = $2 on conflict do nothing`,
        [JSON.stringify(own), first.accountId],
      ),
    );
  await copy('account', { id });
  await copy('api_key', { id: `key_${id}`, account_id: id, secret_hash: hash('sha256', key) });
}

/** @param {typeof first} live @param {string} paymentId */
async function ltcRequestOf(live, paymentId) {
  const payment = await app.embedded.payments.find(live, paymentId);
  if (!payment?.ltc?.address) throw new Error(`${paymentId} has no address`);
  return { address: payment.ltc.address, litoshi: payment.ltc.litoshi };
}

/** @param {typeof first} live @param {string} paymentId */
async function receiveLtc(live, paymentId) {
  return { status: (await app.embedded.ltc.receive(live, paymentId))?.status ?? null };
}

/** Every statement of the server, BEGIN and COMMIT too, passes here on its way to either database. */
const sendStatement = pg.Client.prototype.query;
pg.Client.prototype.query = /** @type {any} */ (
  function (/** @type {unknown[]} */ ...args) {
    if (moment && (!moment.commits || args[0] === 'commit') && --moment.statement <= 0) {
      const { turns } = moment;
      moment = null;
      dieAfter(turns, Object(args[0]).text ?? args[0]);
    }
    // @ts-expect-error `this` is the client, whatever its overloads are
    return sendStatement.apply(this, args);
  }
);

/** @param {string} boundary */
function reach(boundary) {
  passed.add(boundary);
  if (boundary === last) dieAfter(0, boundary);
}

/** @param {number} turns @param {unknown} statement */
function dieAfter(turns, statement) {
  if (turns > 0) {
    setImmediate(dieAfter, turns - 1, statement);
    return;
  }
  // The line is written at once; a message to the parent would wait for another turn.
  writeSync(process.stdout.fd, `${typeof statement === 'string' ? statement.slice(0, 2_000) : '?'}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** @param {import('./child.ts').Said} said */
function say(said) {
  process.send?.(said);
}

/** Requests that a payer, a merchant or an operator waits for. */
const ANSWERED = [
  'pay',
  'payPix',
  'refund',
  'endAtBank',
  'sendLtc',
  'reorganiseLtc',
  'creditLtcOf',
  'importStore',
];

process.on('message', (/** @type {import('./child.ts').Asked} */ { id, name, request, account }) => {
  const live = account === undefined ? first : { ...first, accountId: account };
  answers[name](request, live).then(
    (value) => {
      if (ANSWERED.includes(name)) reach(`answer to ${name} | before`);
      say({ id, value: name === 'checkpoint' ? null : (value ?? null) });
      if (ANSWERED.includes(name)) reach(`answer to ${name} | after`);
    },
    (error) => say({ id, error: error instanceof Error ? String(error.stack) : String(error) }),
  );
});
// The server ends with its parent.
process.on('disconnect', () => process.exit());
