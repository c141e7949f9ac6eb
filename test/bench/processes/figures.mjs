// What a database does for a program: statements that are sent to it, transactions that write, bytes of its log, flushes,
// and on PostgreSQL the CPU time of its processes.
import { readdirSync, readFileSync } from 'node:fs';

/** @typedef {{ statements: number, ofRails: number, transactionsOfRails: number }} Sent */

/**
 * Counts the statements that `Client` sends, on all connections of this process. Those of the simulated rails, which stand
 * for another company's computers, are counted apart, by the names of their tables.
 *
 * @param {Pick<typeof import('pg'), 'Client'>} pg the copy that the connections are of
 */
export function watchStatements(pg) {
  /** @type {Sent} */
  const sent = { statements: 0, ofRails: 0, transactionsOfRails: 0 };
  /** The transaction of each connection: its statements, and how many of them are of the rails. */
  const open = new WeakMap();
  const { query } = pg.Client.prototype;
  /** @type {(this: any, ...args: any[]) => any} */
  const watched = function (...args) {
    const text = typeof args[0] === 'string' ? args[0] : (args[0]?.text ?? '');
    const isOfRail = /\bsimulated_/.test(text);
    const transaction = open.get(this);
    if (BEGINS.test(text)) open.set(this, { all: 1, ofRails: 0 });
    else if (transaction && ENDS.test(text)) {
      open.delete(this);
      // A transaction of a rail alone, with its two ends.
      if (transaction.ofRails > 0 && transaction.ofRails === transaction.all - 1) {
        sent.transactionsOfRails += 1;
        sent.ofRails += transaction.all + 1;
      } else sent.statements += transaction.all + 1;
    } else if (transaction) {
      transaction.all += 1;
      if (isOfRail) transaction.ofRails += 1;
    } else if (isOfRail) {
      sent.ofRails += 1;
      if (WRITES.test(text)) sent.transactionsOfRails += 1;
    } else sent.statements += 1;
    return Reflect.apply(query, this, args);
  };
  Object.assign(pg.Client.prototype, { query: watched });
  return sent;
}

const BEGINS = /^\s*(?:begin|start transaction)\b/i;
const ENDS = /^\s*(?:commit|rollback)\b/i;
const WRITES = /^\s*(?:insert|update|delete|with)\b/i;

/**
 * Reads the totals so far. A transaction that writes takes a number, so their difference counts them.
 *
 * @param {(text: string) => Promise<any[]>} query a query that `watchStatements` does not see would be best; this one
 *   sends the same number of statements each time
 */
export async function readTotals(query) {
  const [row] = await query(TOTALS);
  return {
    transactions: Number(row.transactions),
    walBytes: Number(row.wal_bytes),
    diskBytes: Number(row.disk_bytes),
  };
}

const TOTALS = `
  select pg_snapshot_xmax(pg_current_snapshot())::text as transactions,
    pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal_bytes, pg_database_size(current_database()) as disk_bytes`;

/** Flushes of the log of a PostgreSQL so far, of all its databases. Its processes report them at most once a second. @param {(text: string) => Promise<any[]>} query */
export async function readFlushes(query) {
  const [{ version }] = await query(`select current_setting('server_version_num')::integer as version`);
  const [{ flushes }] = await query(
    version >= 180_000
      ? `select sum(fsyncs) as flushes from pg_stat_io where object = 'wal'`
      : 'select wal_sync as flushes from pg_stat_wal',
  );
  return Number(flushes);
}

/**
 * CPU time of all processes of this PostgreSQL so far, in microseconds; null if the system has no /proc.
 *
 * @param {(text: string) => Promise<any[]>} query
 */
export async function postgresCpuMicroseconds(query) {
  const [{ pid }] = await query('select pg_backend_pid() as pid');
  try {
    const parent = statOf(pid).parent;
    let ticks = statOf(parent).ended;
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const stat = statOrNull(name);
      if (stat && (stat.parent === parent || Number(name) === parent)) ticks += stat.ticks;
    }
    return ticks * MICROSECONDS_A_TICK;
  } catch {
    return null;
  }
}

const MICROSECONDS_A_TICK = 10_000;

/** CPU time of a process of another program so far, of all its threads; only where the system has /proc. @param {number} pid */
export function cpuMicrosecondsOf(pid) {
  return statOf(pid).ticks * MICROSECONDS_A_TICK;
}

/** The CPU time of a process, and that of its children that have ended. @param {number | string} pid */
function statOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user, system, ofChildren, systemOfChildren] = rest.slice(9, 13).map(Number);
  return {
    parent: Number(parent),
    ticks: Number(user) + Number(system),
    ended: Number(ofChildren) + Number(systemOfChildren),
  };
}

/** @param {string} pid */
function statOrNull(pid) {
  try {
    return statOf(pid);
  } catch {
    // It has ended since the folder was read.
    return null;
  }
}
