import { CompiledQuery, sql } from 'kysely';
import pg from 'pg';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { isSilence, openConnections } from './connections.ts';
import {
  type Database,
  type DatabaseMeter,
  INSTANCE_LOCK,
  NoConnection,
  newInstanceId,
  SERVING_LOCK,
  WAIT_MS,
} from './database.ts';
import type { Log } from './log.ts';
import { newestMigration } from './migrate.ts';

export interface PostgresOptions {
  databaseUrl: string;
  clock: Clock;
  log: Log;
  meter?: DatabaseMeter | undefined;
  /** The number of the newest migration that this server knows. */
  knows?: number | undefined;
  /** Replaces `WAIT_MS` in a test, which cannot wait for seconds. */
  waitMs?: number | undefined;
}

/** Throws when the server cannot be reached. */
export async function openPostgres({
  databaseUrl,
  clock,
  log,
  meter,
  knows = newestMigration(),
  waitMs = WAIT_MS,
}: PostgresOptions): Promise<Database> {
  const config: pg.ClientConfig = {
    connectionString: databaseUrl,
    application_name: 'psa',
    connectionTimeoutMillis: waitMs * CONNECT_SHARE,
    // Where nothing else waits for an answer, a server that has vanished is noticed all the same.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  const timed = { ...config, query_timeout: waitMs };
  const open = (pool: pg.PoolConfig, session: string) =>
    openConnections(
      {
        ...pool,
        onConnect: async (client) => {
          await client.query(session);
        },
      },
      { clock, log, meter },
    );
  const connections = open({ ...timed, max: 10 }, SESSION + sessionDeadlines(waitMs));
  const probeMs = Math.min(waitMs, PROBE_MS);
  const probe = open(
    { ...config, connectionTimeoutMillis: probeMs, query_timeout: probeMs, max: 1 },
    SESSION + sessionDeadlines(probeMs),
  );
  const instance = newInstanceId();
  const createClient = () => new pg.Client({ ...timed, pipeline: true });
  const locks: Locks = [
    [INSTANCE_LOCK, instance],
    [SERVING_LOCK, knows],
  ];
  const listener = createListener({
    createClient,
    locks,
    clock,
    log,
    checkMs: waitMs / CHECKS,
    onSilent: connections.closeIdle,
  });
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
    async maintenance(work) {
      const unhurried = open({ ...config, query_timeout: A_DAY_MS, max: 1 }, SESSION);
      try {
        return await work(unhurried);
      } finally {
        await unhurried.close();
      }
    },
    async takesWrites() {
      try {
        return await probe.takesWrites();
      } catch (error) {
        // The others may be as silent.
        if (isSilence((error as Error).cause)) connections.closeIdle();
        throw error;
      }
    },
    connections: connections.connections,
    // Other instances have it too.
    async notify(channel, ...payloads) {
      const isSent = await listener.notify(channel, payloads)?.then(
        () => true,
        () => false,
      );
      if (!isSent) await connections.sql.executeQuery(CompiledQuery.raw(NOTIFY, [channel, payloads]));
    },
    listen: listener.listen,
    async close() {
      listener.forget();
      await Promise.all([connections.close(), probe.close()]);
      await listener.close();
    },
  };
}

/**
 * The same days and hours in SQL on every server, and as PGlite has them. A transaction of a machine that has vanished lets go
 * of its tenant: none of ours waits for anything but the database. And no statement of ours takes as long as compiling it
 * does, which PostgreSQL decides by an estimate: it made nested lists ten times slower.
 */
const SESSION =
  "set time zone 'UTC'; set idle_in_transaction_session_timeout to '30s'; set jit to off; set statement_timeout to 0;";

/**
 * The deadlines that PostgreSQL keeps for us. With the client's own it would hold a tenant's lock for a client that nobody
 * hears any more: it has to end that session too, and to notice where what it sends is not taken.
 */
function sessionDeadlines(waitMs: number): string {
  return `
    set statement_timeout to ${Math.floor(waitMs * STATEMENT_SHARE)};
    set idle_in_transaction_session_timeout to ${waitMs};
    set tcp_user_timeout to ${waitMs}; set tcp_keepalives_idle to 10; set tcp_keepalives_interval to 5`;
}

/** The share of that time that a connection may take: the callers that wait behind one in vain go on the sooner. */
const CONNECT_SHARE = 0.6;
/** The share after which PostgreSQL gives a statement up: its refusal keeps the connection, its silence costs it. */
const STATEMENT_SHARE = 0.8;
/** How often the connection that listens is tried within the time that an answer may take. */
const CHECKS = 5;
/**
 * The write that is tried for who asks whether there can be any, on a connection of its own: the answer is wanted within a
 * second, and one that waits in vain must not keep the next from being tried on a new connection.
 */
const PROBE_MS = 700;
/** For an index over a table of any size. */
const A_DAY_MS = 86_400_000;

const NOTIFY = 'select pg_notify($1, payload) from unnest($2::text[]) payload';

type Heard = (payload: string) => void;

/** Advisory ones, which fall with the connection. */
type Locks = readonly (readonly [kind: number, number: number])[];

/**
 * Listens on one connection of its own, which others may notify by, and gets it back when it is lost. It mostly waits, so
 * it is tried again and again: a connection that nobody answers on looks like one on which nothing happens.
 */
function createListener({
  createClient,
  locks,
  clock,
  log,
  checkMs,
  onSilent,
}: {
  createClient: () => pg.Client;
  locks: Locks;
  clock: Clock;
  log: Log;
  checkMs: number;
  onSilent: () => void;
}) {
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
      client.connection.stream.destroy();
      throw error;
    }
    connected = client;
    const stopChecks = check(client);
    client.once('end', () => {
      stopChecks();
      connected = null;
      if (closed) return;
      connection = reconnect();
      connection.catch((error) => log.info({ err: error }, 'Gave up listening to the database'));
    });
    return client;
  }

  /** Queries the connection at intervals of the machine's time: `pg` closes one that does not answer. Returns the stop. */
  function check(client: pg.Client): () => void {
    let isAnswered = true;
    const checks = setInterval(() => {
      if (!isAnswered) return;
      isAnswered = false;
      client.query('select 1').then(
        () => {
          isAnswered = true;
        },
        (error: unknown) => {
          if (isSilence(error)) onSilent();
        },
      );
    }, checkMs);
    checks.unref();
    return () => clearInterval(checks);
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
      throw new NoConnection((error as Error).message, { cause: error });
    }
    return remove;
  }

  async function close(): Promise<void> {
    closed = true;
    stopWaiting?.();
    const client = await connection?.catch(() => undefined);
    if (!client) return;
    // Where nobody answers, nobody closes the other side.
    const cut = setTimeout(() => client.connection.stream.destroy(), checkMs);
    await client.end();
    clearTimeout(cut);
  }

  return {
    listen,
    /** Nobody who listens is to look at anything any more: the database closes. */
    forget: () => channels.clear(),
    /** Undefined while it is not connected. */
    notify: (channel: string, payloads: readonly string[]) =>
      connected?.query({ name: 'notify', text: NOTIFY, values: [channel, payloads] }),
    close,
  };
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 1_000;
