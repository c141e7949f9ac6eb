import type { Duplex } from 'node:stream';
import { Kysely, PostgresDialect, type PostgresPool, sql as raw } from 'kysely';
import pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { withSpan } from '../../kernel/traces.ts';
import {
  CommitOutcomeUnknown,
  type Database,
  type DatabaseMeter,
  NoConnection,
  ReadOnlyDatabase,
  type Sql,
  StatementInterrupted,
} from './database.ts';
import type { Hosts } from './hosts.ts';
import type { Log } from './log.ts';
import type { RefusedWrites } from './refused-writes.ts';
import { createStatementObserver, measure, type ObserveStatement } from './statements.ts';

export interface Connections
  extends Pick<Database, 'sql' | 'transaction' | 'takesWrites' | 'connections' | 'close'> {
  /** Closes the idle connections, because another connection to the same server did not respond in time. */
  closeIdle(): void;
}

/**
 * Kysely over a pool of `pg`. Both engines use it, so that values, errors and the rules about a lost connection are the
 * same: for PGlite the pool holds one connection, whose stream ends in the worker.
 *
 * A connection sends each statement at once, even while it waits for earlier responses, and gets the responses in the same
 * order: independent statements of a transaction share one round trip to the server.
 *
 * With `query_timeout` in its configuration, `pg` closes a connection that has not responded to a statement by then.
 */
export function openConnections(
  config: pg.PoolConfig,
  {
    clock,
    log,
    meter,
    hosts,
    refusedWrites,
  }: {
    clock: Clock;
    log: Log;
    meter?: DatabaseMeter | undefined;
    hosts?: Hosts | null;
    refusedWrites?: RefusedWrites;
  },
): Connections {
  const ofHosts = hosts && { Client: hosts.Client };
  // Independent statements share a round trip, during which the tenant's lock is held.
  const pool = new pg.Pool({ ...config, ...ofHosts, pipeline: true, types: { getTypeParser } });
  // Nobody waits for an idle connection, so its loss is logged and is no failure. Without a listener it would end the
  // process. The error holds the whole client, keys included, so only its message is logged.
  pool.on('error', ({ message }) => log.warn({ reason: message }, 'An idle database connection was lost'));

  const clients = new Map<Client, { inUse: boolean; isClosed: boolean }>();
  pool.on('connect', (client) => clients.set(client as Client, { inUse: true, isClosed: false }));
  pool.on('remove', (client) => clients.delete(client as Client));
  function closeIdle(isToClose: (client: Client) => boolean = () => true): void {
    for (const [client, state] of clients) {
      if (state.inUse || !isToClose(client)) continue;
      state.isClosed = true;
      client.connection.stream.destroy();
    }
  }

  hosts?.onLeave(() => closeIdle(hosts.isLeft));

  const observe = createStatementObserver(clock, meter);
  const take = hosts ? () => hosts.tryEach(() => pool.connect()) : () => pool.connect();
  const acquire = meter ? () => measure(clock, take, (ms) => meter.onConnectionWait(ms)) : take;

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
      let client = (await acquire()) as Client;
      // The pool notices a closed connection only a little later.
      while (clients.get(client)?.isClosed) {
        client.release(true);
        client = (await acquire()) as Client;
      }
      const state = clients.get(client)!;
      state.inUse = true;
      return guard(client, {
        observe,
        hosts,
        refusedWrites,
        onTimeout: () => closeIdle(),
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
        // Otherwise the statement would run in another transaction.
        if (!open) throw failure ?? new Error('The transaction has ended');
        try {
          return await connection.query(text, values);
        } catch (error) {
          failure ??= error;
          throw error;
        }
      },
      release() {
        // The transaction holds the connection.
      },
    };
    try {
      const begin = connection.query('start transaction isolation level read committed', []);
      // BEGIN is answered before the statements that were sent after it. If it failed, each of them would be
      // a transaction of its own, so no more are sent. The failure is thrown below.
      begin.catch((error: unknown) => {
        failure ??= error;
        open = false;
      });
      const result = await work(kyselyOver({ connect: async () => within, end: async () => undefined }));
      await begin;
      open = false;
      await connection.query('commit', []);
      return result;
    } catch (error) {
      open = false;
      await connection.query('rollback', []);
      // Statements after a failed one fail too, and their errors may arrive first.
      throw isConsequence(error) ? (failure ?? error) : error;
    } finally {
      connection.release();
    }
  }

  async function commitsEmptyWrite(): Promise<boolean> {
    const connection = await connect();
    try {
      const { rows } = await connection.query(EMPTY_WRITE, []);
      const { writable } = rows[0] as { writable: boolean };
      if (!writable) connection.demoted?.();
      return writable;
    } finally {
      connection.release();
    }
  }

  const sql = kyselyOver({ connect, end: () => pool.end() });
  return {
    sql,
    transaction: (work) => withSpan('transaction', {}, () => transaction(work)),
    async takesWrites() {
      const refusal = refusedWrites?.last() ?? null;
      if (refusal === null) return commitsEmptyWrite();
      if (refusedWrites?.isRecent()) throw new StatementInterrupted(refusal.message, { cause: refusal });
      if (!(await commitsEmptyWrite())) return false;
      await transaction(takeSpace);
      refusedWrites?.forget(refusal);
      return true;
    },
    closeIdle: () => closeIdle(),
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
 * A write without a row of any table, which reaches the write-ahead log and is flushed with its commit, as every change is.
 * A standby refuses it; a database that was made read-only accepts it, and reports its state.
 */
const EMPTY_WRITE = `
  select pg_logical_emit_message(true, 'psa', '') as written, current_setting('transaction_read_only') = 'off' as writable`;

/**
 * Allocates a megabyte of new space where the tables are, and frees it. If that is not allowed, nothing is
 * known.
 */
async function takeSpace(sql: Sql): Promise<void> {
  await raw`set local temp_tablespaces to ''`.execute(sql);
  await raw`create temporary table psa_space on commit drop as select generate_series(1, 30000) as n`.execute(
    sql,
  );
}

type Client = pg.PoolClient & Pick<pg.Client, 'connection'>;

interface Guarded {
  query(text: string, values: readonly unknown[]): Promise<pg.QueryResult>;
  release(): void;
  /** Reports that the connection's server takes no writes. */
  demoted?(): void;
}

function kyselyOver(pool: { connect(): Promise<Guarded>; end(): Promise<void> }): Sql {
  // Kysely's type has an overload for cursors, which this program does not use.
  return new Kysely({ dialect: new PostgresDialect({ pool: pool as unknown as PostgresPool }) });
}

/**
 * Distinguishes failures after which the work may have been committed from others, and keeps a broken
 * connection out of the pool.
 */
function guard(
  client: Client,
  {
    observe,
    hosts,
    refusedWrites,
    onTimeout,
    onRelease,
  }: {
    observe: ObserveStatement;
    hosts: Hosts | null | undefined;
    refusedWrites: RefusedWrites | undefined;
    onTimeout: () => void;
    onRelease: () => void;
  },
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
    // COMMIT was not sent, so nothing is unknown: the server rolls back the transaction of a lost connection.
    if (lost) throw new StatementInterrupted(lost.message, { cause: lost });
    let result: pg.QueryResult;
    try {
      result = await client.query('commit');
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) onError(error as Error);
      throw explain(error, { isWrite: true, mayBeDone: true });
    }
    // PostgreSQL responds to COMMIT of a failed transaction with ROLLBACK, which is no error.
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
      // The server itself rolls back once the connection is gone. If this error were thrown, it would hide
      // the one that caused the rollback.
      onError(error as Error);
      if (isReadTimeout(error)) onTimeout();
    }
    return { command: 'ROLLBACK', rowCount: 0, rows: [], oid: 0, fields: [] };
  }

  async function send(text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    if (text === 'commit') return commit();
    if (text === 'rollback') return rollback();
    inTransaction ||= BEGINS.test(text);
    const writes = !READS.test(text);
    const name = NAMED.exec(text)?.[1];
    batchWrites(client.connection.stream);
    try {
      return await client.query({ ...(name && { name }), text, values: values as unknown[] });
    } catch (error) {
      throw explain(error, { isWrite: writes, mayBeDone: writes && !inTransaction });
    }
  }

  /** Converts a failure into an outage, if it is one. `mayBeDone`: the failed statement commits by itself. */
  function explain(
    error: unknown,
    { isWrite, mayBeDone }: { isWrite: boolean; mayBeDone: boolean },
  ): unknown {
    if (isWrite && error instanceof pg.DatabaseError) refusedWrites?.onFailure(error);
    if (isReadTimeout(error)) {
      onError(error);
      onTimeout();
    }
    if (isReadOnly(error)) {
      // The connection may lead to an old primary, while a new one is reached by the same name.
      onError(error as Error);
      hosts?.demoted(client);
    }
    const code = error instanceof pg.DatabaseError ? (error.code ?? '') : null;
    if (mayBeDone && (code === null ? lost : UNKNOWN_OUTCOME.test(code)))
      return new CommitOutcomeUnknown('The connection was lost during COMMIT', { cause: error });
    if (code === null ? !lost : !INTERRUPTION.test(code) && !isReadOnly(error)) return error;
    const { message } = error as Error;
    return isReadOnly(error)
      ? new ReadOnlyDatabase(message, { cause: error })
      : new StatementInterrupted(message, { cause: error });
  }

  return {
    query: (text, values) => observe(text, () => send(text, values)),
    release() {
      client.off('error', onError);
      client.off('end', onEnd);
      client.release(lost ?? hosts?.isLeft(client));
      onRelease();
    },
    demoted: () => hosts?.demoted(client),
  };
}

/** Whether `pg` is about to close the connection, since a response is late: it has no code for this error. */
export function isReadTimeout(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}

const corked = new WeakSet<Duplex>();

/** Sends the statements of one turn in one write: a system call for each cost more than everything else. */
function batchWrites(stream: Duplex): void {
  if (corked.has(stream)) return;
  corked.add(stream);
  stream.cork();
  process.nextTick(() => {
    corked.delete(stream);
    stream.uncork();
  });
}

/**
 * A statement whose text begins with its name in a comment is parsed and planned once for each connection.
 * Those that every change sends have a name. Their text never varies (rows are passed as arrays), and they look
 * up nothing in a table that grows: the plan may date from when the table was small. The statements of `verify`
 * have one too: their settings leave the planner one plan for all sizes.
 */
const NAMED = /^\s*\/\* (\w+) \*\//;

/**
 * Matches statements that change no row, however they end. The functions that queries here call change none
 * either.
 */
const READS = /^(?:[\s(]|\/\*.*?\*\/)*(?:select|start transaction|listen|unlisten)\b/i;

const isConsequence = (error: unknown) => error instanceof pg.DatabaseError && error.code === '25P02';

const BEGINS = /^(?:begin|start transaction)\b/;

/** Codes with which the server ends the connection, and may have committed or not. Any other code is a refusal. */
const UNKNOWN_OUTCOME = /^(?:|08.*|57P.*|XX.*|58.*)$/;

/**
 * Codes with which the server cancels a statement for a reason outside of it: connection, resources, an operator or a
 * deadline, the machine, a transaction that was idle or took too long.
 */
const INTERRUPTION = /^(?:08.*|53.*|57.*|58.*|25P03|25P04)$/;

/** Whether the database takes no writes. A standby refuses even a read of an unlogged table, as an unsupported feature. */
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
  // A calendar day is not an instant, but `pg` would read it as local midnight.
  if (type === DATE) return (text: string) => text;
  return standard;
};

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The bigint ${text} is not a safe integer`);
  return value;
}
