// Sales into the ledger: through the committer, and as the same rows in one statement straight to the database.
import pg from 'pg';
import { answerParent } from './answer.mjs';

const built = (/** @type {string} */ file) =>
  import(new URL(`../../../server/dist/${file}`, import.meta.url).href);
const { bootstrap } = await built('access/engine.js');
const { createCommitter } = await built('commit/commit.js');
const { migrate } = await built('db/migrate.js');
const { openDatabase } = await built('db/open.js');
const { createSystemClock } = await built('kernel/clock.js');
const { ledgerTransaction } = await built('ledger/postings.js');

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
let transactions = 0;
let sales = 0;

/** With one statement's rows as arrays, its text is the same for every size of a group. */
const POST = `
  insert into posting (account_id, environment, transaction_id, ledger_account, amount, occurred_at)
  select $1, $2, id, line.account, line.cents, $4
  from unnest($3::text[]) id cross join (values ('acquirer', -100), ('merchant_pending', 100)) line (account, cents)`;

answerParent({
  async start({ databaseUrl, dataDir }) {
    database = await openDatabase({
      databaseUrl,
      dataDir,
      clock,
      log,
      onFatal(/** @type {Error} */ error) {
        throw error;
      },
    });
    await migrate(database);
    await bootstrap({ database, clock, name: 'Banca', keys: {} });
    const { id } = await database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
    tenant = { accountId: id, environment: 'live' };
    const counting = {
      ...database,
      transaction(/** @type {unknown} */ work) {
        transactions += 1;
        return database.transaction(work);
      },
    };
    committer = createCommitter({ database: counting, clock, onCommit: () => undefined });
    if (databaseUrl) {
      const client = new pg.Client(databaseUrl);
      await client.connect();
      straight = (text, values) => client.query({ name: text.slice(0, 20).trim(), text, values });
      close = () => client.end();
    }
  },

  /** So many callers, each with its next sale as soon as the last is committed. */
  async committer({ callers, ms }) {
    transactions = 0;
    return during(ms, callers, async () => {
      const transaction = ledgerTransaction(`sale:${++sales}`, [
        { from: 'acquirer', to: 'merchant_pending', amount: 100 },
      ]);
      await committer.change({
        tenant,
        read: async () => undefined,
        decide: () => ({ outcome: null, writes: { transactions: [transaction] } }),
      });
      return 1;
    });
  },

  /** One caller, with so many sales in each of its transactions. */
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

  async close() {
    await close();
    await database.close();
  },
});

/** @param {number} ms @param {number} callers @param {() => Promise<number>} work */
async function during(ms, callers, work) {
  const started = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - started < ms) {
        // `done += await …` would add to what it was before the wait.
        const more = await work();
        done += more;
      }
    }),
  );
  return { perSecond: (done / (performance.now() - started)) * 1_000, group: done / transactions };
}

/** As Kysely takes a statement that it has not built itself. @param {string} sql @param {unknown[]} parameters */
function raw(sql, parameters) {
  return { sql, parameters, query: { kind: 'RawNode' }, queryId: { queryId: sql } };
}
