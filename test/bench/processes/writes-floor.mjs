// The floor of a write: a route of node:http that checks nothing and writes the rows of whatever waits, with one statement
// for each table, in one transaction.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { modules } from '../../support/built.mjs';
import { answerParent, cpuMicroseconds } from './answer.mjs';
import { postgresCpuMicroseconds, readTotals, watchStatements } from './figures.mjs';
import { toQuery } from './replay.mjs';
import { accountOf, createCommands, SCHEMA, statementsOf } from './writes-rows.mjs';

/** @typedef {import('./writes-rows.mjs').Rows} Rows */

const { readConfig } = await modules.config();
const { openDatabase } = await modules['db/open']();
const { createSystemClock } = await modules['kernel/clock']();

const pg = (await modules.pg()).default;
const sent = watchStatements(pg);
const log = { info: () => undefined, warn: console.warn, error: console.error };

/** @type {{ query: (text: string, values?: unknown[]) => Promise<any[]>, commit: (all: { text: string, values: unknown[] }[]) => Promise<unknown>, watch: ((text: string) => Promise<any[]>) | null }} */
let database;

answerParent({
  async start({ environment, receiver }) {
    database = await (environment.DATABASE_URL
      ? openPostgres(environment.DATABASE_URL)
      : openPglite(environment));
    for (const statement of SCHEMA.split(';')) if (statement.trim()) await database.query(statement);
    const url = await serve(createCommands(createGroups(), receiver));
    return { url, bankUrl: url };
  },
  async totals() {
    const cpuUs = cpuMicroseconds();
    const counted = { ...sent };
    const databaseCpuUs = database.watch ? await postgresCpuMicroseconds(database.watch) : 0;
    return { cpuUs, databaseCpuUs, ...counted, ...(await readTotals(database.watch ?? database.query)) };
  },
});

/** Writes the rows of everything that waits in one transaction, and then of what has come meanwhile. */
function createGroups() {
  /** @type {{ rows: Rows, resolve: () => void, reject: (error: unknown) => void }[]} */
  let waiting = [];
  let isBusy = false;
  async function drain() {
    isBusy = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        await database.commit(statementsOf(group.map(({ rows }) => rows)));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    isBusy = false;
  }
  return (/** @type {Rows} */ rows) =>
    new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
      waiting.push({ rows, resolve, reject });
      // What comes in the same turn goes along.
      if (!isBusy) {
        isBusy = true;
        setImmediate(drain);
      }
    });
}

/** @param {ReturnType<typeof createCommands>} commands */
async function serve(commands) {
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.once('end', async () => {
      const { idempotencyKey, paymentId } = JSON.parse(Buffer.concat(chunks).toString());
      const account = accountOf(request.headers.authorization);
      const [, , family, id = '', last] = (request.url ?? '').split('/');
      /** @type {object} */
      let answer;
      if (family === 'card-payments') answer = await commands.card(account, idempotencyKey);
      else if (family === 'payments') answer = await commands.pix(account, idempotencyKey);
      else if (last === 'transfers') answer = await commands.transfer(account, idempotencyKey, id);
      else if (last === 'payout') answer = await commands.payout(account, idempotencyKey, id);
      else answer = await commands.paid(account, paymentId);
      const bytes = Buffer.from(JSON.stringify(answer));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
      response.end(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${address.port}`;
}

/** @param {string} databaseUrl */
async function openPostgres(databaseUrl) {
  const clients = [0, 1].map(() => new pg.Client({ connectionString: databaseUrl, pipeline: true }));
  for (const client of clients) await client.connect();
  const [writer, watcher] = /** @type {[import('pg').Client, import('pg').Client]} */ (clients);
  const query = async (/** @type {string} */ text, /** @type {unknown[]} */ values = []) =>
    (await writer.query(text, values)).rows;
  return {
    query,
    // Sent together, and executed in this order.
    commit: (/** @type {{ text: string, values: unknown[] }[]} */ statements) =>
      Promise.all([
        writer.query('begin'),
        ...statements.map(({ text, values }) => writer.query({ name: text.slice(3, 20), text, values })),
        writer.query('commit'),
      ]),
    watch: async (/** @type {string} */ text) => (await watcher.query(text)).rows,
  };
}

/** PGlite in its own thread, which flushes as ours does. @param {Record<string, string>} environment */
async function openPglite(environment) {
  const opened = await openDatabase({
    ...readConfig(environment),
    ...{ clock: createSystemClock(), log },
    onFatal(/** @type {Error} */ error) {
      throw error;
    },
  });
  const send = async (
    /** @type {any} */ sql,
    /** @type {string} */ text,
    /** @type {unknown[]} */ values = [],
  ) => (await sql.getExecutor().executeQuery(toQuery({ sql: text, parameters: values }))).rows;
  return {
    query: (/** @type {string} */ text, /** @type {unknown[]} */ values = []) =>
      send(opened.sql, text, values),
    commit: (/** @type {{ text: string, values: unknown[] }[]} */ statements) =>
      opened.transaction((/** @type {any} */ sql) =>
        Promise.all(statements.map(({ text, values }) => send(sql, text, values))),
      ),
    watch: null,
  };
}
