import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import { parseDatabaseUrl } from '../../kernel/database-url.ts';
import { isReadTimeout, openConnections } from './connections.ts';
import {
  type Database,
  type DatabaseMeter,
  INSTANCE_LOCK,
  NoConnection,
  newInstanceId,
  SERVING_LOCK,
  WAIT_MS,
} from './database.ts';
import { createHosts, type Hosts } from './hosts.ts';
import type { Log } from './log.ts';
import { newestMigration } from './migrate.ts';
import { createRefusedWrites } from './refused-writes.ts';
import { assertKeepsSessions } from './sessions.ts';

export interface PostgresOptions {
  databaseUrl: string;
  clock: Clock;
  log: Log;
  meter?: DatabaseMeter | undefined;
  /** The most connections for requests and due work; two more are for readiness and notifications. */
  poolSize?: number | undefined;
  /** The number of the newest migration that this server knows. */
  knownMigration?: number | undefined;
  /** The deadline in a test instead of `WAIT_MS`: most tests share the machine with others. */
  waitMs?: number | undefined;
}

/** Connects to a PostgreSQL server. Throws when it cannot be reached, and `PoolerError` behind a pooler that splits sessions. */
export async function openPostgres({
  databaseUrl,
  clock,
  log,
  meter,
  poolSize = 10,
  knownMigration = newestMigration(),
  waitMs = WAIT_MS,
}: PostgresOptions): Promise<Database> {
  const servers = parseDatabaseUrl(databaseUrl);
  const hosts = createHosts(servers);
  const refusedWrites = createRefusedWrites(clock, meter);
  const config: pg.ClientConfig = {
    connectionString: servers.urls[0]!,
    application_name: 'psa',
    connectionTimeoutMillis: waitMs * CONNECT_SHARE,
    // With keep-alive a vanished server is noticed even if no statement waits for a response.
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
      { clock, log, meter, hosts, refusedWrites },
    );
  const connections = open({ ...timed, max: poolSize }, SESSION + sessionDeadlines(waitMs));
  const probeMs = Math.min(waitMs, PROBE_MS);
  const probe = open(
    { ...config, connectionTimeoutMillis: probeMs, query_timeout: probeMs, max: 1 },
    SESSION + sessionDeadlines(probeMs),
  );
  const instance = newInstanceId();
  const createClient = () => new (hosts?.Client ?? pg.Client)({ ...timed, pipeline: true });
  const locks: Locks = [
    [INSTANCE_LOCK, instance],
    [SERVING_LOCK, knownMigration],
  ];
  const listener = createListener({
    createClient,
    hosts,
    locks,
    clock,
    log,
    checkMs: waitMs / CHECKS,
    onTimeout: connections.closeIdle,
  });
  try {
    await assertKeepsSessions(connections.sql);
  } catch (error) {
    await connections.close();
    throw error;
  }

  return {
    engine: 'postgres',
    instance,
    lanes: Math.max(1, Math.min(MOST_LANES, poolSize - 1)),
    sql: connections.sql,
    transaction: connections.transaction,
    async maintenance(work) {
      const untimed = open({ ...config, query_timeout: A_DAY_MS, max: 1 }, SESSION);
      try {
        return await work(untimed);
      } finally {
        await untimed.close();
      }
    },
    async takesWrites() {
      try {
        return await probe.takesWrites();
      } catch (error) {
        // The other connections may have become silent too.
        if (isReadTimeout((error as Error).cause)) connections.closeIdle();
        throw error;
      }
    },
    connections: connections.connections,
    // PostgreSQL's NOTIFY also reaches the other instances.
    async notify(channel, ...payloads) {
      if (!(await listener.notify(channel, payloads)))
        await connections.sql.executeQuery(CompiledQuery.raw(NOTIFY, [channel, payloads]));
    },
    listen: listener.listen,
    async close() {
      listener.removeAll();
      await Promise.all([connections.close(), probe.close()]);
      await listener.close();
    },
  };
}

/** More transactions at once would wait for the same processors. */
const MOST_LANES = 4;

/**
 * Settings of each session. Days and hours in SQL are the same on every server and on PGlite. The transaction
 * of a machine that has vanished is ended, which releases its tenant: a live transaction waits for nothing
 * but the database. JIT is off: PostgreSQL decides by an estimate, and no statement here takes as long as its
 * compilation, which made nested lists ten times slower.
 */
const SESSION =
  "set time zone 'UTC'; set idle_in_transaction_session_timeout to '30s'; set jit to off; set statement_timeout to 0;";

/**
 * The deadlines that PostgreSQL enforces. With the client's deadlines alone it would hold a tenant's lock for
 * a client that is gone: it has to end that session itself, and to notice that nothing receives its data.
 */
function sessionDeadlines(waitMs: number): string {
  return `
    set statement_timeout to ${Math.floor(waitMs * STATEMENT_SHARE)};
    set idle_in_transaction_session_timeout to ${waitMs};
    set tcp_user_timeout to ${waitMs}; set tcp_keepalives_idle to 10; set tcp_keepalives_interval to 5`;
}

/** The share of `waitMs` in which a connection has to open, so that callers that wait in vain fail sooner. */
const CONNECT_SHARE = 0.6;
/**
 * The share of `waitMs` after which PostgreSQL cancels a statement: the error keeps the connection, while a
 * client's timeout closes it.
 */
const STATEMENT_SHARE = 0.8;
/** The number of checks of the listening connection within `waitMs`. */
const CHECKS = 5;
/**
 * The deadline of the probe whether the database takes writes, on a connection of its own: the result is
 * needed within a second, and a probe that waits in vain must not keep the next one from a new connection.
 */
const PROBE_MS = 700;
/** The deadline of maintenance: enough for an index over a table of any size. */
const A_DAY_MS = 86_400_000;

/** The time after which a notification is sent over another connection. */
const NOTIFY_MS = 250;

const NOTIFY = 'select pg_notify($1, payload) from unnest($2::text[]) payload';

const CHECK = `select current_setting('transaction_read_only') = 'off' as writable`;

type OnNotification = (payload: string) => void;

/** Advisory locks, which are released with the connection. */
type Locks = readonly (readonly [kind: number, number: number])[];

/**
 * Listens on a connection of its own, which can also send notifications, and replaces it when it is lost. The
 * connection is mostly idle, so it is checked at intervals: a connection without a server looks like one
 * without notifications.
 */
function createListener({
  createClient,
  hosts,
  locks,
  clock,
  log,
  checkMs,
  onTimeout,
}: {
  createClient: () => pg.Client;
  hosts: Hosts | null;
  locks: Locks;
  clock: Clock;
  log: Log;
  checkMs: number;
  onTimeout: () => void;
}) {
  const channels = new Map<string, Set<OnNotification>>();
  let connection: Promise<pg.Client> | undefined;
  let connected: pg.Client | null = null;
  let closed = false;
  let stopWaiting: (() => void) | undefined;

  hosts?.onLeave(() => {
    if (connected && hosts.isLeft(connected)) connected.connection.stream.destroy();
  });

  const connect = () => (hosts ? hosts.tryEach(connectOnce) : connectOnce());

  async function connectOnce(): Promise<pg.Client> {
    const client = createClient();
    client.on('error', (error) =>
      log.warn({ err: error }, 'The connection that listens to the database failed'),
    );
    client.on('notification', ({ channel, payload = '' }) => {
      for (const onNotification of channels.get(channel) ?? []) onNotification(payload);
    });
    try {
      await client.connect();
      // The connection writes nothing that a crash could lose, so a notification need not wait for the disk.
      await client.query('set synchronous_commit to off');
      // The locks are shared, because the server may not know yet that the previous connection is lost.
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

  /**
   * Queries the connection at intervals of the machine's time: `pg` closes a connection that does not
   * respond. Returns the function that stops this.
   */
  function check(client: pg.Client): () => void {
    let isAnswered = true;
    const checks = setInterval(() => {
      if (!isAnswered) return;
      isAnswered = false;
      client.query<{ writable: boolean }>(CHECK).then(
        ({ rows }) => {
          isAnswered = true;
          if (!rows[0]!.writable) hosts?.demoted(client);
        },
        (error: unknown) => {
          if (isReadTimeout(error)) onTimeout();
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
        for (const listeners of channels.values()) for (const onNotification of listeners) onNotification('');
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

  async function listen(channel: string, onNotification: OnNotification): Promise<() => Promise<void>> {
    if (closed) throw new Error('The database is closed');
    // A wrapper of its own, because the same function may be registered twice.
    const own: OnNotification = (payload) => onNotification(payload);
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
    // A server that does not respond does not close its side either.
    const forceClose = setTimeout(() => client.connection.stream.destroy(), checkMs);
    await client.end();
    clearTimeout(forceClose);
  }

  return {
    listen,
    /** Removes all listeners: while the database closes, a notification must cause no more queries. */
    removeAll: () => channels.clear(),
    /** Sends notifications over the listening connection. False if there is none, or if it is late: then they may be sent twice. */
    notify: (channel: string, payloads: readonly string[]) =>
      new Promise<boolean>((resolve) => {
        if (!connected) return resolve(false);
        const cancel = clock.schedule(plusMs(clock.now(), NOTIFY_MS), () => resolve(false));
        const settle = (isSent: boolean) => () => {
          cancel();
          resolve(isSent);
        };
        connected
          .query({ name: 'notify', text: NOTIFY, values: [channel, payloads] })
          .then(settle(true), settle(false));
      }),
    close,
  };
}

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 1_000;
