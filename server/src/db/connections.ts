import type { Duplex } from 'node:stream';
import { Kysely, PostgresDialect, type PostgresPool, sql as raw } from 'kysely';
import pg from 'pg';
import type { Clock } from '../kernel/clock.ts';
import { withSpan } from '../kernel/traces.ts';
import {
  CommitOutcomeUnknown,
  type Database,
  type DatabaseMeter,
  NoConnection,
  ReadOnlyDatabase,
  type Sql,
  StatementInterrupted,
} from './database.ts';
import type { Log } from './log.ts';
import { createStatementWatch, type SendStatement, timedBy } from './statements.ts';

export interface Connections
  extends Pick<Database, 'sql' | 'transaction' | 'takesWrites' | 'connections' | 'close'> {
  /** Closes the connections that nobody uses: another one to the same server gave no answer in time. */
  closeIdle(): void;
}

/**
 * Kysely over a pool of `pg`'s. Both engines use it, so that values, errors and the rules about a lost
 * connection are the same: for PGlite the pool holds one connection, whose stream ends in the worker.
 *
 * A connection sends what it is asked for at once, whatever it is still waiting for, and is answered in the same
 * order: statements of a transaction that do not need each other's answers share one trip to the server.
 *
 * With `query_timeout` in its configuration, `pg` closes a connection that has not answered a statement by then.
 */
export function openConnections(
  config: pg.PoolConfig,
  { clock, log, meter }: { clock: Clock; log: Log; meter?: DatabaseMeter | undefined },
): Connections {
  const pool = new pg.Pool({ ...config, pipeline: true, types: { getTypeParser } });
  // Nobody waits for an idle connection, so its loss is news and not a failure. Without a listener it
  // would end the process.
  // With the error comes the whole client, keys included.
  pool.on('error', ({ message }) => log.warn({ reason: message }, 'An idle database connection was lost'));

  const clients = new Map<Client, { inUse: boolean; isClosed: boolean }>();
  pool.on('connect', (client) => clients.set(client as Client, { inUse: true, isClosed: false }));
  pool.on('remove', (client) => clients.delete(client as Client));
  function closeIdle(): void {
    for (const [client, state] of clients) {
      if (state.inUse) continue;
      state.isClosed = true;
      client.connection.stream.destroy();
    }
  }

  const watched = createStatementWatch(clock, meter);
  const take = meter
    ? () =>
        timedBy(
          clock,
          () => pool.connect(),
          (ms) => meter.onConnectionWait(ms),
        )
    : () => pool.connect();

  let busy = 0;
  let closing: Promise<void> | undefined;
  let whenIdle: (() => void) | undefined;
  const done = () => {
    busy -= 1;
    if (busy === 0) whenIdle?.();
  };

  async function connect(): Promise<Guarded> {
    if (closing !== undefined) throw new Error('The database is closed');
    busy += 1;
    try {
      let client = (await take()) as Client;
      // The pool hears of it a little later.
      while (clients.get(client)?.isClosed) {
        client.release(true);
        client = (await take()) as Client;
      }
      const state = clients.get(client)!;
      state.inUse = true;
      return guard(client, {
        watched,
        onSilent: closeIdle,
        onRelease() {
          state.inUse = false;
          done();
        },
      });
    } catch (error) {
      done();
      throw new NoConnection((error as Error).message, { cause: error });
    }
  }

  async function transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const connection = await connect();
    let open = true;
    let failure: unknown;
    const within: Guarded = {
      query: async (text, values) => {
        // Or it would be another transaction's.
        if (!open) throw failure ?? new Error('The transaction has ended');
        try {
          return await connection.query(text, values);
        } catch (error) {
          failure ??= error;
          throw error;
        }
      },
      release() {
        // What holds the connection is the transaction.
      },
    };
    try {
      const begun = connection.query('start transaction isolation level read committed', []);
      // It is answered before all that was sent behind it. Without it each of that is a transaction of its own: so nothing
      // more is sent. It is reported below.
      begun.catch((error: unknown) => {
        failure ??= error;
        open = false;
      });
      const result = await work(kyselyOver({ connect: async () => within, end: async () => undefined }));
      await begun;
      open = false;
      await connection.query('commit', []);
      return result;
    } catch (error) {
      open = false;
      await connection.query('rollback', []);
      // What was sent behind a statement that failed fails too, and may be heard of first.
      throw isConsequence(error) ? (failure ?? error) : error;
    } finally {
      connection.release();
    }
  }

  const sql = kyselyOver({ connect, end: () => pool.end() });
  return {
    sql,
    transaction: (work) => withSpan('transaction', {}, () => transaction(work)),
    async takesWrites() {
      const { rows } = await EMPTY_WRITE.execute(sql);
      return rows[0]!.writable;
    },
    closeIdle,
    connections: () => ({
      inUse: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close() {
      closing ??= (async () => {
        if (busy > 0) {
          await new Promise<void>((resolve) => {
            whenIdle = resolve;
          });
        }
        await pool.end();
      })();
      return closing;
    },
  };
}

/**
 * It reaches the log of the server's writes and is flushed with its commit, as every change is, without a row of any table.
 * A standby refuses it; a database that was made read-only does not, and says so.
 */
const EMPTY_WRITE = raw<{ writable: boolean }>`
  select pg_logical_emit_message(true, 'psa', '') as written, current_setting('transaction_read_only') = 'off' as writable`;

type Client = pg.PoolClient & Pick<pg.Client, 'connection'>;

interface Guarded {
  query(text: string, values: readonly unknown[]): Promise<pg.QueryResult>;
  release(): void;
}

function kyselyOver(pool: { connect(): Promise<Guarded>; end(): Promise<void> }): Sql {
  // Kysely's type has an overload for cursors, which nothing here uses.
  return new Kysely({ dialect: new PostgresDialect({ pool: pool as unknown as PostgresPool }) });
}

/** Tells what may have been committed from what was not, and keeps a broken connection out of the pool. */
function guard(
  client: Client,
  { watched, onSilent, onRelease }: { watched: SendStatement; onSilent: () => void; onRelease: () => void },
): Guarded {
  let lost: Error | undefined;
  let inTransaction = false;
  const onError = (error: Error) => {
    lost ??= error;
  };
  const onEnd = () => onError(new Error('The connection to the database ended'));
  client.on('error', onError);
  client.on('end', onEnd);

  async function commit() {
    inTransaction = false;
    // Not sent yet, so nothing is unknown: the server rolls back what a lost connection leaves.
    if (lost) throw new StatementInterrupted(lost.message, { cause: lost });
    let result: pg.QueryResult;
    try {
      result = await client.query('commit');
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) onError(error as Error);
      throw explain(error, { mayBeDone: true });
    }
    // PostgreSQL answers COMMIT of a failed transaction with a cheerful ROLLBACK.
    if (result.command !== 'COMMIT') {
      throw new Error('The transaction was rolled back: a statement in it had failed');
    }
    return result;
  }

  async function rollback() {
    inTransaction = false;
    try {
      if (!lost) return await client.query('rollback');
    } catch (error) {
      // The server rolls back on its own once the connection is gone. Thrown, this would hide what
      // the rollback was for.
      onError(error as Error);
      if (isSilence(error)) onSilent();
    }
    return { command: 'ROLLBACK', rowCount: 0, rows: [], oid: 0, fields: [] };
  }

  async function send(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    if (text === 'commit') return commit();
    if (text === 'rollback') return rollback();
    inTransaction ||= BEGINS.test(text);
    const writes = !READS.test(text);
    const name = NAMED.exec(text)?.[1];
    collectWrites(client.connection.stream);
    try {
      return await client.query({ ...(name && { name }), text, values: values as unknown[] });
    } catch (error) {
      throw explain(error, { mayBeDone: writes && !inTransaction });
    }
  }

  /** The failure as an outage, where it is one. `mayBeDone`: what failed commits by itself. */
  function explain(error: unknown, { mayBeDone }: { mayBeDone: boolean }): unknown {
    if (isSilence(error)) {
      onError(error);
      onSilent();
    }
    const code = error instanceof pg.DatabaseError ? (error.code ?? '') : null;
    if (mayBeDone && (code === null ? lost : GOODBYE.test(code)))
      return new CommitOutcomeUnknown('The connection was lost during COMMIT', { cause: error });
    if (code === null ? !lost : !INTERRUPTION.test(code) && !isReadOnly(error)) return error;
    const { message } = error as Error;
    return isReadOnly(error)
      ? new ReadOnlyDatabase(message, { cause: error })
      : new StatementInterrupted(message, { cause: error });
  }

  return {
    query: (text, values) => watched(text, () => send(text, values)),
    release() {
      client.off('error', onError);
      client.off('end', onEnd);
      client.release(lost);
      onRelease();
    },
  };
}

/** The words of `pg`, which has no code for it and is about to close the connection. */
export function isSilence(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}

const collecting = new WeakSet<Duplex>();

/** Sends the statements of one turn in one write: each write is a system call, which cost more than all else. */
function collectWrites(stream: Duplex): void {
  if (collecting.has(stream)) return;
  collecting.add(stream);
  stream.cork();
  process.nextTick(() => {
    collecting.delete(stream);
    stream.uncork();
  });
}

/**
 * A statement whose text begins with its name in a comment is parsed and planned once a connection. For those that
 * every change sends, with a text that is always the same (rows go in as arrays), and that look up nothing in a table
 * that grows: its plan may be from when that was small.
 */
const NAMED = /^\s*\/\* (\w+) \*\//;

/** Matches statements that change no row, however they end. No function that a query here calls changes one. */
const READS = /^(?:[\s(]|\/\*.*?\*\/)*(?:select|start transaction|listen|unlisten)\b/i;

const isConsequence = (error: unknown) => error instanceof pg.DatabaseError && error.code === '25P02';

const BEGINS = /^(?:begin|start transaction)\b/;

/** With these codes the server says goodbye: whether it has committed, nobody knows. Any other is a refusal. */
const GOODBYE = /^(?:|08.*|57P.*|XX.*|58.*)$/;

/**
 * Codes by which the server gives up what is no fault of the statement: connection, resources, an operator or a deadline,
 * the machine, a transaction that was idle or went on for too long.
 */
const INTERRUPTION = /^(?:08.*|53.*|57.*|58.*|25P03|25P04)$/;

/** A standby refuses even to look at an unlogged table, as no feature of its. */
function isReadOnly(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === '25006' || (error.code === '0A000' && error.message.endsWith('during recovery'));
}

const INT8 = 20;
const DATE = 1082;
const INT8_ARRAY = 1016;

const getTypeParser: typeof pg.types.getTypeParser = (type: number, format?: 'text' | 'binary') => {
  const standard = pg.types.getTypeParser(type, format as 'text');
  if (type === INT8) return parseInt8;
  if (type === INT8_ARRAY) return (text: string) => standard(text).map(parseInt8);
  // A calendar day is not an instant; `pg` would make it local midnight.
  if (type === DATE) return (text: string) => text;
  return standard;
};

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The bigint ${text} is not a safe integer`);
  return value;
}
