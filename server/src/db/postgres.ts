import { CompiledQuery, sql } from 'kysely';
import pg from 'pg';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { openConnections } from './connections.ts';
import { type Database, type DatabaseMeter, drawInstance, INSTANCE_LOCK, SERVING_LOCK } from './database.ts';
import type { Log } from './log.ts';
import { newestMigration } from './migrate.ts';

export interface PostgresOptions {
  databaseUrl: string;
  clock: Clock;
  log: Log;
  meter?: DatabaseMeter | undefined;
  /** The number of the newest migration that this server knows. */
  knows?: number | undefined;
}

/** Throws when the server cannot be reached. */
export async function openPostgres({
  databaseUrl,
  clock,
  log,
  meter,
  knows = newestMigration(),
}: PostgresOptions): Promise<Database> {
  const config: pg.ClientConfig = {
    connectionString: databaseUrl,
    application_name: 'psa',
    connectionTimeoutMillis: 10_000,
    // A server that vanished without a word is noticed in minutes, not in hours.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  const connections = openConnections(
    {
      ...config,
      max: 10,
      onConnect: async (client) => {
        await client.query(SESSION);
      },
    },
    { clock, log, meter },
  );
  const instance = drawInstance();
  const createClient = () => new pg.Client({ ...config, pipeline: true });
  const locks: Locks = [
    [INSTANCE_LOCK, instance],
    [SERVING_LOCK, knows],
  ];
  const listener = createListener(createClient, locks, clock, log);
  try {
    await sql`select 1`.execute(connections.sql);
  } catch (error) {
    await connections.close();
    throw error;
  }

  return {
    engine: 'postgres',
    instance,
    sql: connections.sql,
    transaction: connections.transaction,
    connections: connections.connections,
    // Other instances have it too.
    writes: () => null,
    async notify(channel, ...payloads) {
      const said = listener.notify(channel, payloads);
      await (said ?? connections.sql.executeQuery(CompiledQuery.raw(NOTIFY, [channel, payloads])));
    },
    listen: listener.listen,
    async close() {
      await connections.close();
      await listener.close();
    },
  };
}

/**
 * The same days and hours in SQL on every server, and as PGlite has them. A transaction of a machine that has vanished lets go
 * of its tenant: none of ours waits for anything but the database. And no statement of ours takes as long as compiling it
 * does, which PostgreSQL decides by an estimate: it made nested lists ten times slower.
 */
const SESSION = "set time zone 'UTC'; set idle_in_transaction_session_timeout to '30s'; set jit to off";

const NOTIFY = 'select pg_notify($1, payload) from unnest($2::text[]) payload';

type Heard = (payload: string) => void;

/** Advisory ones, which fall with the connection. */
type Locks = readonly (readonly [kind: number, number: number])[];

/** Listens on one connection of its own, which others may notify by, and gets it back when it is lost. */
function createListener(createClient: () => pg.Client, locks: Locks, clock: Clock, log: Log) {
  const channels = new Map<string, Set<Heard>>();
  let connection: Promise<pg.Client> | undefined;
  let connected: pg.Client | null = null;
  let closed = false;
  let stopWaiting: (() => void) | undefined;

  async function connect(): Promise<pg.Client> {
    const client = createClient();
    client.on('error', (error) =>
      log.warn({ err: error }, 'The connection that listens to the database failed'),
    );
    client.on('notification', ({ channel, payload = '' }) => {
      for (const heard of channels.get(channel) ?? []) heard(payload);
    });
    try {
      await client.connect();
      // It writes nothing that a crash could lose, so what it notifies waits for no disk.
      await client.query('set synchronous_commit to off');
      // Shared: the connection before this one may not be known to be lost yet.
      for (const lock of locks) await client.query('select pg_advisory_lock_shared($1, $2)', [...lock]);
      for (const channel of channels.keys()) await client.query(`listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      client.end().catch((endError) => log.warn({ err: endError }, 'Could not end a connection'));
      throw error;
    }
    connected = client;
    client.once('end', () => {
      connected = null;
      if (closed) return;
      connection = reconnect();
      connection.catch((error) => log.info({ err: error }, 'Gave up listening to the database'));
    });
    return client;
  }

  async function reconnect(): Promise<pg.Client> {
    for (let delayMs = 0; ; delayMs = Math.min(Math.max(delayMs * 2, FIRST_DELAY_MS), LONGEST_DELAY_MS)) {
      if (delayMs > 0) await wait(delayMs);
      if (closed) throw new Error('The database is closed');
      try {
        const client = await connect();
        log.info({}, 'Listening to the database again');
        for (const listeners of channels.values()) for (const heard of listeners) heard('');
        return client;
      } catch (error) {
        log.warn({ err: error }, 'Could not listen to the database');
      }
    }
  }

  function wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.schedule(plusMs(clock.now(), ms), resolve);
      stopWaiting = () => {
        cancel();
        resolve();
      };
    });
  }

  async function listen(channel: string, heard: Heard): Promise<() => Promise<void>> {
    if (closed) throw new Error('The database is closed');
    // The same function may be given twice.
    const own: Heard = (payload) => heard(payload);
    const listeners = channels.get(channel) ?? new Set();
    channels.set(channel, listeners.add(own));
    const remove = async () => {
      if (!listeners.delete(own) || listeners.size > 0) return;
      channels.delete(channel);
    };
    try {
      connection ??= connect().catch((error) => {
        connection = undefined;
        throw error;
      });
      const client = await connection;
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      await remove();
      throw error;
    }
    return remove;
  }

  async function close(): Promise<void> {
    closed = true;
    stopWaiting?.();
    const client = await connection?.catch(() => undefined);
    await client?.end();
  }

  return {
    listen,
    /** Undefined while it is not connected. */
    notify: (channel: string, payloads: readonly string[]) =>
      connected?.query({ name: 'notify', text: NOTIFY, values: [channel, payloads] }),
    close,
  };
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
