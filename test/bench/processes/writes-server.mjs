// The built server with tenants that write: one with a subaccount for each caller, and many with one each.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { modules } from '../../support/built.mjs';
import { answerParent, cpuMicroseconds, memoryMegabytes } from './answer.mjs';
import { postgresCpuMicroseconds, readFlushes, readTotals, watchStatements } from './figures.mjs';
import { toQuery } from './replay.mjs';
import { copyTenant } from './tenants.mjs';

const { DEFAULT_SETTINGS } = await modules['access/model']();
const { insertAccount } = await modules['access/store']();
const { createApp } = await modules.app();
const { readConfig } = await modules.config();
const { createSystemClock } = await modules['kernel/clock']();
const { createLog } = await modules['ops/log']();

const FUNDS_CENTS = 100_000_000;
const HOT_KEY = 'ps_live_measured0123456789';
const ORIGINAL = { key: 'ps_live_original0123456789', accountId: 'acc_original' };

const pg = (await modules.pg()).default;
const sent = watchStatements(pg);
const clock = createSystemClock();

/** A bank that keeps no books, whose cost would not be the server's, and completes every payout. */
const bank = {
  quoteLitoshi: async () => 1,
  send: async () => ({
    status: /** @type {const} */ ('completed'),
    receipt: { endToEndId: 'E0000', recipientName: 'Ana', recipientBankName: 'Banco' },
  }),
};

/** @type {any} */
let app;
/** @type {any} */
let watcher;

answerParent({
  /** Starts the server, and opens `many` tenants beside the one that has a subaccount for each of `callers`. */
  async start({ environment, callers, many, receiver }) {
    app = await createApp({
      config: {
        ...readConfig({
          ...{ PORT: '0', PSA_DEMO: 'off', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'on' },
          ...{ PSA_BOOTSTRAP_LIVE_KEY: HOT_KEY, ...environment },
        }),
        graphqlLimit: 100_000_000,
      },
      clock,
      log: createLog({
        write(/** @type {string} */ line) {
          if (!line.includes('"level":"info"')) process.stderr.write(line);
        },
      }),
      onFatal(/** @type {Error} */ error) {
        throw error;
      },
      // All callers have one address, where a new key counts as that of a stranger.
      testing: { bank, restLimit: 100_000_000, strangerLimit: 100_000_000 },
    });
    if (environment.DATABASE_URL) {
      watcher = new pg.Client(environment.DATABASE_URL);
      await watcher.connect();
    }
    const hot = await openHot(callers, receiver);
    await openMany(many, receiver);
    await query('analyze');
    return { url: app.url, bankUrl: await startBank(), hot };
  },

  /** The totals so far, of this process and of its database. */
  async totals() {
    const cpuUs = cpuMicroseconds();
    const counted = { ...sent };
    const databaseCpuUs = watcher ? await postgresCpuMicroseconds(query) : 0;
    return { cpuUs, databaseCpuUs, ...counted, ...(await readTotals(query)) };
  },
  flushes: () => (watcher ? readFlushes(query) : app.database.flushes()),
  memory: memoryMegabytes,
  async deadlocks() {
    const [row] = await query('select deadlocks from pg_stat_database where datname = current_database()');
    return Number(row.deadlocks);
  },
  async close() {
    await watcher?.end();
    await app.close();
  },
});

/** Sends a statement beside those of the server: where it has connections of its own, on another one. @param {string} text @param {unknown[]} [parameters] */
async function query(text, parameters = []) {
  const { rows } = watcher
    ? await watcher.query(text, parameters)
    : await app.database.sql.getExecutor().executeQuery(toQuery({ sql: text, parameters }));
  return rows;
}

/** @param {number} callers @param {string} receiver */
async function openHot(callers, receiver) {
  const [{ id: accountId }] = await query('select id from account');
  await fund(accountId, FUNDS_CENTS * callers, HOT_KEY, receiver);
  const subaccountIds = [];
  for (let caller = 0; caller < callers; caller++) subaccountIds.push(await openSubaccount(HOT_KEY));
  return { key: HOT_KEY, accountId, subaccountIds };
}

/** @param {number} many @param {string} receiver */
async function openMany(many, receiver) {
  const { key, accountId } = ORIGINAL;
  await insertAccount(
    app.database.sql,
    { id: accountId, name: 'Banca', ...DEFAULT_SETTINGS, cardPaymentsEnabled: true },
    clock.now(),
  );
  await query(
    `insert into api_key select (jsonb_populate_record(null::api_key, to_jsonb(original) || $1::jsonb)).*
     from api_key original where environment = 'live'`,
    [
      JSON.stringify({
        ...{ id: 'key_original', account_id: accountId },
        secret_hash: (await import('node:crypto')).hash('sha256', key),
      }),
    ],
  );
  await fund(accountId, 2 * FUNDS_CENTS, key, receiver);
  await copyTenant(app.database, { accountId, subaccountId: await openSubaccount(key) }, many);
}

/** @param {string} accountId @param {number} cents @param {string} key @param {string} receiver */
async function fund(accountId, cents, key, receiver) {
  await app.embedded.controls.credit({ accountId, environment: 'live' }, cents);
  const answer = await post('/graphql', key, {
    query: `mutation ($url: Url!) { configureWebhook(input: { url: $url }) { __typename } }`,
    variables: { url: receiver },
  });
  if (answer.data?.configureWebhook?.__typename !== 'ConfigureWebhookSuccess')
    throw new Error(JSON.stringify(answer));
}

/** Opens a subaccount with funds. @param {string} key @returns {Promise<string>} */
async function openSubaccount(key) {
  const { id } = await post('/v1/subaccounts', key, { name: 'Bia' });
  const input = { amountCents: FUNDS_CENTS / 2, idempotencyKey: id };
  await post(`/v1/subaccounts/${id}/transfers`, key, input);
  return id;
}

/** @param {string} path @param {string} key @param {object} body @returns {Promise<any>} */
async function post(path, key, body) {
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}

/** The way into the simulated bank for a payer: it takes the money of a payment, and the payment is received. */
async function startBank() {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { accountId, paymentId } = JSON.parse(text);
    let body = '{}';
    try {
      await app.embedded.pix.pay({ txid: paymentId.slice('psa_'.length) });
      const { status } = await app.embedded.payments.receive({ accountId, environment: 'live' }, paymentId);
      response.statusCode = status === 'paid' ? 200 : 409;
    } catch (error) {
      response.statusCode = 500;
      body = String(error);
    }
    response.setHeader('content-length', Buffer.byteLength(body)).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${address.port}`;
}
