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
/** The statements of a sale, by name. @type {Record<string, string>} */
let statements;
/** A tenant that neither the committer nor an account knows. @type {{ accountId: string, environment: 'live' }} */
let bareTenant;
let transactions = 0;
let sales = 0;

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
    const lock = 'select version from stream where account_id = $1 and environment = $2 for update';
    return during(ms, 1, async () => {
      transactions += 1;
      const ids = Array.from({ length: group }, () => `sale:${++sales}`);
      const of = [tenant.accountId, tenant.environment];
      if (straight) {
        await straight('begin', []);
        await straight(lock, of);
        await straight(POST, [...of, ids, clock.now()]);
        await straight('commit', []);
      } else {
        await database.transaction(async (/** @type {any} */ sql) => {
          await sql.executeQuery(raw(lock, of));
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
        client
          .query({ name, text: /** @type {string} */ (statements[name]), values })
          .then(({ rows }) => rows);
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
        sell(
          async (name, values) => (await sql.query(/** @type {string} */ (statements[name]), values)).rows,
          bareTenant,
          group,
        ),
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
  /** @type {Record<string, string>} */
  const sent = {};
  const watching = createCommitter({
    database: {
      ...database,
      transaction: (/** @type {(sql: any) => unknown} */ work) =>
        database.transaction((/** @type {any} */ sql) => {
          const executor = sql.getExecutor();
          const send = executor.executeQuery;
          executor.executeQuery = (/** @type {{ sql: string }} */ query) => {
            const name = /\/\* (\w+) \*\//.exec(query.sql)?.[1];
            if (name) sent[name] = query.sql;
            return send.call(executor, query);
          };
          return work(sql);
        }),
    },
    clock,
    onCommit: () => undefined,
  });
  await watching.change(sale());
  const expected = ['lock_streams', 'read_balances', 'post', 'append_events'];
  if (`${Object.keys(sent)}` !== `${expected}`) throw new Error(`a sale sends ${Object.keys(sent)}`);
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
  const ofEach = (/** @type {number} */ rows) =>
    of.map(([value]) => Array.from({ length: rows }, () => value));
  const [{ version }] = await send('lock_streams', of);
  /** @type {Record<string, number>} */
  const balances = {};
  for (const { name, balance } of await send('read_balances', of)) balances[name] = Number(balance);
  const at = clock.now();
  const ids = Array.from({ length: count }, () => `sale:${++sales}`);
  const both = (/** @type {any} */ one, /** @type {any} */ other) => ids.flatMap(() => [one, other]);
  const lines = [
    ids.flatMap((id) => [id, id]),
    both('acquirer', 'merchant_pending'),
    both(-100, 100),
    both(null, null),
  ];
  await send('post', [at, ...ofEach(2 * count), ...lines]);
  balances.acquirer = (balances.acquirer ?? 0) - 100 * count;
  balances.merchant_pending = (balances.merchant_pending ?? 0) + 100 * count;
  const next = Number(version) + 1;
  const event = [
    [next],
    [MARK],
    ['wallet.changed'],
    ['wallet'],
    ['wallet'],
    [null],
    [at],
    [JSON.stringify(balances)],
  ];
  await send('append_events', [...of, ...event, ...of, [next], [next]]);
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
