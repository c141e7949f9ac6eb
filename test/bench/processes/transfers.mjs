// Transfers between the ledger accounts of one merchant and of many: through the committer, and each in a transaction of its own.
import pg from 'pg';
import { modules } from '../../support/built.mjs';
import { answerParent, cpuMicroseconds } from './answer.mjs';
import { createCommands, inOwnTransactions, SCHEMA } from './writes-rows.mjs';

const { DEFAULT_SETTINGS } = await modules['access/model']();
const { insertAccount } = await modules['access/store']();
const { createCommitter } = await modules['commit/committer']();
const { migrate } = await modules['db/migrate']();
const { openDatabase } = await modules['db/open']();
const { createSystemClock } = await modules['kernel/clock']();
const { ledgerTransaction } = await modules['ledger/postings']();

const clock = createSystemClock();
const log = { info: () => undefined, warn: console.warn, error: console.error };
/** The connections of our pool on PostgreSQL (db/postgres.ts). */
const CONNECTIONS = 10;
/** The share of a hot account in the transfers. */
const HOT_SHARE = 0.9;

/** @type {any} */
let database;
/** @type {any} */
let committer;
/** @type {pg.Pool} */
let pool;
/** @type {ReturnType<typeof createCommands>} */
let floor;
let transactions = 0;
let made = 0;

answerParent({
  async start({ databaseUrl, floorUrl, accounts }) {
    database = await openDatabase({
      ...{ databaseUrl, dataDir: 'none', clock, log },
      onFatal(/** @type {Error} */ error) {
        throw error;
      },
    });
    await migrate(database);
    for (let number = 0; number < accounts; number++)
      await insertAccount(
        database.sql,
        { id: idOf(number), name: 'Banca', ...DEFAULT_SETTINGS },
        clock.now(),
      );
    const counting = {
      ...database,
      transaction(/** @type {unknown} */ work) {
        transactions += 1;
        return database.transaction(work);
      },
    };
    committer = createCommitter({ database: counting, clock, onCommit: () => undefined });
    pool = new pg.Pool({ connectionString: floorUrl, max: CONNECTIONS });
    await pool.query(SCHEMA);
    floor = createCommands(inOwnTransactions(pool), '');
  },

  /** Runs callers, each with its next transfer as soon as the last is on the disk. */
  ours: (given) => run(given, (accountId) => committer.change(transferOf(accountId))),
  floor: (given) => run(given, (accountId) => floor.sale(accountId)),

  async close() {
    await pool.end();
    await database.close();
  },
});

/** @param {number} number */
const idOf = (number) => `acc_bench${number}`;

/** @param {string} accountId */
function transferOf(accountId) {
  made += 1;
  const id = `PSC-${made}`;
  const entry = { kind: 'card_payment', ref: id, resource: { type: 'card_payment', id }, feeCents: 0 };
  const moves = [{ from: 'acquirer', to: 'merchant_pending', amount: 100 }];
  const transaction = ledgerTransaction(`sale:${id}`, /** @type {any} */ (moves), /** @type {any} */ (entry));
  return {
    tenant: { accountId, environment: 'live' },
    read: async () => undefined,
    decide: () => ({ outcome: null, writes: { transactions: [transaction] } }),
  };
}

/**
 * @param {{ accounts: number, isHot: boolean, callers: number, ms: number }} given
 * @param {(accountId: string) => Promise<unknown>} transfer
 */
async function run({ accounts, isHot, callers, ms }, transfer) {
  const next = () => (isHot && Math.random() < HOT_SHARE ? 0 : Math.floor(Math.random() * accounts));
  transactions = 0;
  const cpuBefore = cpuMicroseconds();
  const started = performance.now();
  const counts = await Promise.all(
    Array.from({ length: callers }, async () => {
      let count = 0;
      for (; count === 0 || performance.now() - started < ms; count++) await transfer(idOf(next()));
      return count;
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  const done = counts.reduce((sum, count) => sum + count, 0);
  return {
    perSecond: done / seconds,
    cpuUs: (cpuMicroseconds() - cpuBefore) / done,
    group: done / (transactions || done),
  };
}
