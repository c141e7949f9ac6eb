// Sales into the ledger: through the committer, and in three ways without our code.
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { modules } from '../../support/built.mjs';
import { answerParent } from './answer.mjs';

const { bootstrap } = await modules['access/service']();
const { createCommitter } = await modules['commit/committer']();
const { migrate } = await modules['db/migrate']();
const { openDatabase } = await modules['db/open']();
const { createFlushedFiles, prepareFolder } = await modules['db/pglite-files']();
const { createSystemClock } = await modules['kernel/clock']();
const { ledgerTransaction } = await modules['ledger/postings']();

const clock = createSystemClock();
const log = { info: () => undefined, warn: console.warn, error: console.error };

/** @type {any} */
let database;
/** @type {any} */
let committer;
/** @type {{ accountId: string, environment: 'live' }} */
let tenant;
/** @type {(text: string, values: unknown[]) => Promise<unknown>} */
let straight;
/** @type {() => Promise<void>} */
let close = async () => undefined;
/** The number of connections that the callers with a transaction for each sale share, as in our pool (db/postgres.ts). */
const CONNECTIONS = 10;
/** @type {pg.Pool} */
let pool;
/** A plain PGlite, except for its flushes. @type {PGlite} */
let bare;
/** The statements of a sale, by name, with the parameters that it had. @type {Record<string, { text: string, parameters: readonly unknown[] }>} */
let statements;
/** The sale that the first half of these parameters is of. */
let recorded = '';
/** A tenant that neither the committer nor an account knows. @type {{ accountId: string, environment: 'live' }} */
let bareTenant;
let transactions = 0;
let sales = 0;

/** The lock of a tenant, for which a transaction waits: the server skips a locked tenant and goes on with others. */
const LOCK = 'select version from stream where account_id = $1 and environment = $2 for update';

/** A statement whose rows are arrays, so that its text is the same for every size of a group. */
const POST = `
  insert into posting (account_id, environment, transaction_id, ledger_account, amount, occurred_at)
  select $1, $2, id, line.account, line.cents, $4
  from unnest($3::text[]) id cross join (values ('acquirer', -100), ('merchant_pending', 100)) line (account, cents)`;

answerParent({
  async start({ databaseUrl, dataDir, bareDir }) {
    ({ database, tenant } = await open({ databaseUrl, dataDir }));
    const counting = {
      ...database,
      transaction(/** @type {unknown} */ work) {
        transactions += 1;
        return database.transaction(work);
      },
    };
    committer = createCommitter({ database: counting, clock, onCommit: () => undefined });
    statements = await statementsOfSale();
    if (databaseUrl) {
      const client = new pg.Client(databaseUrl);
      await client.connect();
      straight = (text, values) => client.query({ name: text.slice(0, 20).trim(), text, values });
      pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS });
      close = async () => {
        await pool.end();
        await client.end();
      };
    } else {
      const opened = await open({ dataDir: bareDir });
      bareTenant = opened.tenant;
      // The tenant's log, which no sale creates.
      await opened.database.sql
        .insertInto('stream')
        .values({ account_id: bareTenant.accountId, environment: bareTenant.environment })
        .execute();
      await opened.database.close();
      bare = await openBare(bareDir);
      close = () => bare.close();
    }
  },

  /** Runs a number of callers, each with its next sale as soon as the last is committed. */
  async committer({ callers, ms }) {
    transactions = 0;
    return during(ms, callers, async () => {
      await committer.change(sale());
      return 1;
    });
  },

  /** Runs one caller with this number of sales in each of its transactions. */
  async straight({ group, ms }) {
    transactions = 0;
    return during(ms, 1, async () => {
      transactions += 1;
      const ids = Array.from({ length: group }, () => `sale:${++sales}`);
      const of = [tenant.accountId, tenant.environment];
      if (straight) {
        await straight('begin', []);
        await straight(LOCK, of);
        await straight(POST, [...of, ids, clock.now()]);
        await straight('commit', []);
      } else {
        await database.transaction(async (/** @type {any} */ sql) => {
          await sql.executeQuery(raw(LOCK, of));
          await sql.executeQuery(raw(POST, [...of, ids, clock.now()]));
        });
      }
      return group;
    });
  },

  /** Runs a number of callers of PostgreSQL, each with a transaction of its own for each sale: the same statements. */
  async single({ callers, ms }) {
    transactions = 0;
    return during(ms, callers, async () => {
      transactions += 1;
      const client = await pool.connect();
      const send = (/** @type {string} */ name, /** @type {unknown[]} */ values) =>
        client.query({ name, text: textOf(name), values }).then(({ rows }) => rows);
      try {
        await client.query('begin');
        await sell(send, tenant, 1);
        await client.query('commit');
      } finally {
        client.release();
      }
      return 1;
    });
  },

  /** Runs a loop over PGlite with this number of sales in each of its transactions: the same statements. */
  async loop({ group, ms }) {
    transactions = 0;
    return during(ms, 1, async () => {
      transactions += 1;
      await bare.transaction((sql) =>
        sell(async (name, values) => (await sql.query(textOf(name), values)).rows, bareTenant, group),
      );
      return group;
    });
  },

  async close() {
    await close();
    await database.close();
  },
});

/** A database of ours with one account. @param {{ databaseUrl?: string, dataDir: string }} options */
async function open(options) {
  const onFatal = (/** @type {Error} */ error) => {
    throw error;
  };
  const opened = await openDatabase({ ...options, clock, log, onFatal });
  await migrate(opened);
  await bootstrap({ database: opened, clock, name: 'Banca', keys: {} });
  const { id } = await opened.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
  return { database: opened, tenant: { accountId: id, environment: /** @type {const} */ ('live') } };
}

/** Opens a PGlite in this thread that is as durable as ours. @param {string} dataDir */
function openBare(dataDir) {
  const { folder } = prepareFolder(dataDir);
  const failed = (/** @type {unknown} */ error) => {
    throw error;
  };
  return PGlite.create({
    fs: createFlushedFiles(folder, () => undefined, failed),
    startParams: [
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
      ...['fsync=on', 'synchronous_commit=on', 'wal_sync_method=fsync'].flatMap((setting) => ['-c', setting]),
    ],
  });
}

/** The statements of a sale, recorded from the last of several: a tenant's first sale finds no log yet. */
async function statementsOfSale() {
  /** @type {typeof statements} */
  const sent = {};
  const watching = createCommitter({
    database: {
      ...database,
      transaction: (/** @type {(sql: any) => unknown} */ work) =>
        database.transaction((/** @type {any} */ sql) => {
          const executor = sql.getExecutor();
          const send = executor.executeQuery;
          executor.executeQuery = (/** @type {{ sql: string, parameters: readonly unknown[] }} */ query) => {
            const name = /\/\* (\w+) \*\//.exec(query.sql)?.[1];
            if (name) sent[name] = { text: query.sql, parameters: query.parameters };
            return send.call(executor, query);
          };
          return work(sql);
        }),
    },
    clock,
    onCommit: () => undefined,
  });
  // The first has a transaction of its own, and the other two share the next.
  await Promise.all([sale(), sale(), sale()].map((each) => watching.change(each)));
  recorded = `PSC-${sales - 1}`;
  const expected = ['lock_streams', 'read_balances', 'post', 'append_events'];
  if (`${Object.keys(sent)}` !== `${expected}`) throw new Error(`a sale sends ${Object.keys(sent)}`);
  if (!sent.post?.parameters.some((value) => Array.isArray(value) && value.length === 2))
    throw new Error('two sales do not share a transaction');
  return sent;
}

function sale() {
  const id = `PSC-${++sales}`;
  const entry = { kind: 'card_payment', ref: id, resource: { type: 'card_payment', id }, feeCents: 0 };
  const transaction = ledgerTransaction(
    `sale:${id}`,
    [{ from: 'acquirer', to: 'merchant_pending', amount: 100 }],
    /** @type {any} */ (entry),
  );
  return {
    tenant,
    read: async () => undefined,
    decide: () => ({ outcome: null, writes: { transactions: [transaction] } }),
  };
}

/** Any mark: it distinguishes this event from the event of another log at the same position. */
const MARK = 1;

/**
 * Records this number of sales by the statements that the server sends.
 * @param {(name: string, values: unknown[]) => Promise<any[]>} send @param {{ accountId: string, environment: string }} tenant
 * @param {number} count
 */
async function sell(send, tenant, count) {
  const of = [[tenant.accountId], [tenant.environment]];
  const [{ version }] = await send('lock_streams', [tenant.accountId, tenant.environment]);
  /** @type {Record<string, number>} */
  const balances = {};
  for (const { name, balance } of await send('read_balances', of)) balances[name] = Number(balance);
  const at = clock.now();
  await send('post', parametersOfPost(tenant, count, at));
  balances.acquirer = (balances.acquirer ?? 0) - 100 * count;
  balances.merchant_pending = (balances.merchant_pending ?? 0) + 100 * count;
  const next = Number(version) + 1;
  const event = {
    ...tenant,
    ...{ version: next, mark: MARK, kind: 'wallet.changed', resource: 'wallet', resourceId: 'wallet' },
    ...{ previousStatus: null, occurredAt: at, snapshot: balances },
  };
  await send('append_events', [JSON.stringify([event]), ...of, [next], [next]]);
}

/** @param {string} name */
function textOf(name) {
  if (name === 'lock_streams') return LOCK;
  return /** @type {{ text: string }} */ (statements[name]).text;
}

/**
 * The parameters of the recorded postings, of two sales, for this number of others: the first half of each array once for
 * each of them, with its name, and with numbers that grow as from the first half to the second. An array of one value is
 * of the account, and stays.
 *
 * @param {{ accountId: string }} of @param {number} count @param {Date} at
 */
function parametersOfPost({ accountId }, count, at) {
  const names = Array.from({ length: count }, () => `PSC-${++sales}`);
  const { parameters } = /** @type {{ parameters: readonly unknown[] }} */ (statements.post);
  return parameters.map((value) => {
    if (value instanceof Date) return at;
    if (!Array.isArray(value)) return value;
    const own = value.map((each) => (each === tenant.accountId ? accountId : each));
    if (own.length === 1) return own;
    const half = own.length / 2;
    return names.flatMap((name, nth) =>
      own.slice(0, half).map((each, index) => {
        if (typeof each === 'number') return each + nth * (own[index + half] - each);
        return typeof each === 'string' ? each.replaceAll(recorded, name) : each;
      }),
    );
  });
}

/** @param {number} ms @param {number} callers @param {() => Promise<number>} work */
async function during(ms, callers, work) {
  const started = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - started < ms) {
        // `done += await …` would add to the value of before the wait.
        const more = await work();
        done += more;
      }
    }),
  );
  return { perSecond: (done / (performance.now() - started)) * 1_000, group: done / transactions };
}

/** Describes a statement in the form in which Kysely takes one that it has not built itself. @param {string} sql @param {unknown[]} parameters */
function raw(sql, parameters) {
  return { sql, parameters, query: { kind: 'RawNode' }, queryId: { queryId: sql } };
}
