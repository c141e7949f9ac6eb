// The statements that a server sends to its database, recorded and sent again to a copy of it: the floor of the
// server's work.
import pg from 'pg';

/**
 * @typedef {{ sql: string, parameters: readonly unknown[] }} Statement
 * @typedef {{ lane: string, statements: Statement[], whole: boolean }} Unit a transaction, or where it is not `whole`
 *   a single statement; those of one lane came one after the other
 */

/** The connections of our pool on PostgreSQL (db/postgres.ts); PGlite has one. */
const CONNECTIONS = 10;

/** Records the statements of a database. */
export function createRecorder() {
  /** @type {Unit[]} */
  let sent = [];
  return {
    /** Returns what was sent since the last call. */
    take() {
      const taken = sent;
      sent = [];
      return taken;
    },
    /** Wraps the database: every statement is recorded with its parameters and its transaction. @param {any} database */
    wrap(database) {
      const beside = (/** @type {Statement} */ statement) =>
        void sent.push({ lane: 'beside', statements: [statement], whole: false });
      watch(database.sql, beside);
      return {
        ...database,
        transaction(/** @type {(sql: any) => Promise<unknown>} */ work) {
          /** @type {Unit} */
          const unit = { lane: '', statements: [], whole: true };
          sent.push(unit);
          return database.transaction((/** @type {any} */ sql) => {
            watch(sql, (statement) => {
              // The first statement is the lock, which names the account.
              unit.lane ||= String(statement.parameters[0]);
              unit.statements.push(statement);
            });
            return work(sql);
          });
        },
      };
    },
  };
}

/** @param {any} sql @param {(statement: Statement) => void} onStatement */
function watch(sql, onStatement) {
  const executor = sql.getExecutor();
  const send = executor.executeQuery;
  executor.executeQuery = (/** @type {Statement} */ query) => {
    onStatement({ sql: query.sql, parameters: query.parameters });
    return send.call(executor, query);
  };
}

/**
 * Runs each lane's units in their order, different lanes at once, on all connections. Lanes with an account in common are one.
 * @param {Unit[]} units @param {((unit: Unit) => Promise<void>)[]} connections
 */
export async function runLanes(units, connections) {
  /** @type {Map<string, Unit[]>} */
  const byLane = new Map();
  const laneOf = joinedLanes(units);
  for (const unit of units) {
    const lane = byLane.get(laneOf(unit)) ?? [];
    lane.push(unit);
    byLane.set(laneOf(unit), lane);
  }
  const waiting = [...byLane.values()];
  /** @type {(() => void)[]} */
  const idle = [];
  let busy = 0;
  await Promise.all(
    connections.map(async (send) => {
      for (;;) {
        const lane = waiting.shift();
        if (lane) {
          busy += 1;
          await send(/** @type {Unit} */ (lane.shift()));
          busy -= 1;
          if (lane.length > 0) waiting.push(lane);
          for (const wake of idle.splice(0)) wake();
        } else if (busy > 0) {
          await new Promise((resolve) => {
            idle.push(() => resolve(undefined));
          });
        } else return;
      }
    }),
  );
}

/**
 * The lane of each unit, by the account that stands for all accounts with which it shares transactions.
 *
 * @param {readonly Unit[]} units
 */
function joinedLanes(units) {
  /** @type {Map<string, string>} */
  const parents = new Map();
  const rootOf = (/** @type {string} */ name) => {
    let root = name;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    return root;
  };
  for (const { lane } of units) {
    const [first = '', ...others] = lane.split(',');
    for (const other of others) {
      const [root, joined] = [rootOf(first), rootOf(other)];
      if (root !== joined) parents.set(joined, root);
    }
  }
  return (/** @type {Unit} */ { lane }) => rootOf(lane.split(',')[0] ?? '');
}

/**
 * Counts the statements of units, with the two that begin and end each transaction.
 *
 * @param {readonly Unit[]} units
 */
export function countStatements(units) {
  return units.reduce((sum, { statements, whole }) => sum + statements.length + (whole ? 2 : 0), 0);
}

/**
 * Sends units to a copy of the database, over as many connections as the server has. `booksQuery`: the query that
 * shows the ledgers of both.
 * @param {string} databaseUrl @param {string} booksQuery
 */
export async function openPostgresFloor(databaseUrl, booksQuery) {
  const clients = Array.from({ length: CONNECTIONS }, () => new pg.Client(databaseUrl));
  await Promise.all(clients.map((client) => client.connect()));
  for (const client of clients) await client.query(`set time zone 'UTC'`);
  /** @type {Map<string, string>} */
  const names = new Map();
  const nameOf = (/** @type {string} */ text) => {
    const name = names.get(text) ?? `s${names.size}`;
    names.set(text, name);
    return name;
  };
  const senders = clients.map((client) => async (/** @type {Unit} */ { statements, whole }) => {
    if (whole) await client.query('start transaction isolation level read committed');
    for (const { sql, parameters } of statements)
      await client.query({ name: nameOf(sql), text: sql, values: [...parameters] });
    if (whole) await client.query('commit');
  });
  return {
    run: (/** @type {Unit[]} */ units) => runLanes(units, senders),
    async readBooks() {
      const { rows } = await /** @type {pg.Client} */ (clients[0]).query(booksQuery);
      return numbers(rows[0]);
    },
    async close() {
      for (const client of clients) await client.end();
    },
  };
}

/** Reads the numbers that a query returns from a database of ours. @param {any} sql @param {string} booksQuery */
export async function readBooks(sql, booksQuery) {
  const { rows } = await sql.getExecutor().executeQuery(toQuery({ sql: booksQuery, parameters: [] }));
  return numbers(rows[0]);
}

/**
 * Asserts that the ledger of each database has the wanted values, in this order of members.
 * @param {readonly object[]} found @param {object} wanted
 */
export function assertBooks(found, wanted) {
  for (const books of found)
    if (JSON.stringify(books) !== JSON.stringify(wanted))
      throw new Error(`${JSON.stringify(books)} in place of ${JSON.stringify(wanted)}`);
}

/** @param {Record<string, unknown>} row */
function numbers(row) {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]));
}

/** Describes a statement in the form in which Kysely takes one that it has not built itself. @param {Statement} statement */
export function toQuery({ sql, parameters }) {
  return { sql, parameters, query: { kind: 'RawNode' }, queryId: { queryId: sql } };
}
