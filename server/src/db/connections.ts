import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Clock } from '../kernel/clock.ts';
import { traced } from '../kernel/traces.ts';
import { CommitOutcomeUnknown, type Database, type DatabaseMeter, type Sql } from './database.ts';
import type { Log } from './log.ts';
import { createStatementWatch, type SendStatement, timedBy } from './statements.ts';

export interface Connections extends Pick<Database, 'sql' | 'transaction' | 'connections' | 'close'> {}

/**
 * Kysely over a pool of `pg`'s. Both engines use it, so that values, errors and the rules about a lost
 * connection are the same: for PGlite the pool holds one connection, whose stream ends in the worker.
 */
export function openConnections(
  config: pg.PoolConfig,
  { clock, log, meter }: { clock: Clock; log: Log; meter?: DatabaseMeter | undefined },
): Connections {
  const pool = new pg.Pool({ ...config, types: { getTypeParser } });
  // Nobody waits for an idle connection, so its loss is news and not a failure. Without a listener it
  // would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'An idle database connection was lost'));

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

  const guarded: PostgresPool = {
    async connect() {
      if (closing !== undefined) throw new Error('The database is closed');
      busy += 1;
      try {
        return guard(await take(), watched, done);
      } catch (error) {
        done();
        throw error;
      }
    },
    end: () => pool.end(),
  };
  const sql: Sql = new Kysely({ dialect: new PostgresDialect({ pool: guarded }) });

  return {
    sql,
    transaction: (work) =>
      traced('transaction', {}, () => sql.transaction().setIsolationLevel('read committed').execute(work)),
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

/** Tells what may have been committed from what was not, and keeps a broken connection out of the pool. */
function guard(client: pg.PoolClient, watched: SendStatement, released: () => void): PostgresPoolClient {
  let lost: Error | undefined;
  const onError = (error: Error) => {
    lost ??= error;
  };
  const onEnd = () => onError(new Error('The connection to the database ended'));
  client.on('error', onError);
  client.on('end', onEnd);

  async function commit() {
    // Not sent yet, so nothing is unknown: the server rolls back what a lost connection leaves.
    if (lost) throw lost;
    let result: pg.QueryResult;
    try {
      result = await client.query('commit');
    } catch (error) {
      if (isRefusal(error)) throw error;
      throw new CommitOutcomeUnknown('The connection was lost during COMMIT', { cause: error });
    }
    // PostgreSQL answers COMMIT of a failed transaction with a cheerful ROLLBACK.
    if (result.command !== 'COMMIT') {
      throw new Error('The transaction was rolled back: a statement in it had failed');
    }
    return result;
  }

  async function rollback() {
    try {
      return await client.query('rollback');
    } catch (error) {
      // The server rolls back on its own once the connection is gone. Thrown, this would hide what
      // the rollback was for.
      onError(error as Error);
      return { command: 'ROLLBACK', rowCount: 0, rows: [] };
    }
  }

  async function send(text: string, values: readonly unknown[]): Promise<unknown> {
    if (text === 'commit') return commit();
    if (text === 'rollback') return rollback();
    return client.query(text, values as unknown[]);
  }

  // Who reads several things at once in a transaction asks its one connection for all of them; `pg` will no
  // longer put them in a queue.
  let last: Promise<unknown> = Promise.resolve();
  function query(text: string, values: readonly unknown[]) {
    const result = last.then(() => watched(text, () => send(text, values)));
    last = result.catch(() => undefined);
    return result;
  }

  return {
    // Kysely's type has an overload for cursors, which nothing here uses.
    query: query as unknown as PostgresPoolClient['query'],
    release() {
      client.off('error', onError);
      client.off('end', onEnd);
      client.release(lost);
      released();
    },
  };
}

/** The server looked at the COMMIT and said no. With these other codes it says goodbye instead. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P|XX|58)/.test(error.code ?? '08');
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
