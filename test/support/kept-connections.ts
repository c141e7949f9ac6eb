import pg from 'pg';
import { runsAll } from './scale.ts';

// PostgreSQL starts a process for each connection, which reads the catalogue and plans each statement again: in a test
// that lasts 50 ms, this is most of the database's work. So the connections to a database that tests use one after the
// other outlive the server that opened them: the next server in this process that opens the database reuses them.

const { Pool, Client: PgClient } = pg;

/** The idle connections kept for one database: a test with concurrent callers, or two servers, uses about as many at a time. */
const MAX_IDLE = 10;

/**
 * The most connections of a server's pool in `npm test`. A server has ten, but each one loads the catalog and plans
 * every statement for itself, and concurrent work interleaves on four as well. In `npm run test:all` the server's own
 * size holds.
 */
const MAX_CONNECTIONS = runsAll() ? Number.POSITIVE_INFINITY : 4;

/**
 * Connects by the Unix socket in `PSA_TEST_SOCKET`, if that is set: a statement over TCP costs this process a third more. The
 * address stays the name of the database.
 */
function bySocket(config: pg.ClientConfig): pg.ClientConfig {
  const folder = process.env.PSA_TEST_SOCKET;
  if (!folder) return config;
  return { ...config, connectionString: `${config.connectionString}?host=${encodeURIComponent(folder)}` };
}

/** The idle connections, by the database's address. */
const idle = new Map<string, Client[]>();
/** The idle connections on which servers listened, by the database's address. */
const idleListeners = new Map<string, Listener[]>();

export function keepConnections(databaseUrl: string): void {
  if (idle.has(databaseUrl)) return;
  idle.set(databaseUrl, []);
  idleListeners.set(databaseUrl, []);
}

/** The ids of PostgreSQL's processes of the idle connections. */
export function keptProcesses(databaseUrl: string): number[] {
  const kept = [...(idle.get(databaseUrl) ?? []), ...(idleListeners.get(databaseUrl) ?? [])];
  return kept.map(({ processID }) => processID);
}

export async function endConnections(databaseUrl: string): Promise<void> {
  const connections = idle.get(databaseUrl) ?? [];
  const listeners = idleListeners.get(databaseUrl) ?? [];
  idle.delete(databaseUrl);
  idleListeners.delete(databaseUrl);
  await Promise.all([
    ...connections.map((connection) => new Promise<void>((ended) => connection.end(ended))),
    ...listeners.map((listener) => listener.end()),
  ]);
}

/** The members of a connection that the pool of `pg` and the server call. */
interface Client extends Pick<pg.Client, 'on' | 'removeAllListeners' | 'getTransactionStatus'> {
  readonly processID: number;
  readonly queryTimeout: number | undefined;
  ref(): void;
  unref(): void;
  connect(callback: (error: Error | null) => void): void;
  end(callback: () => void): void;
  query(query: string | pg.QueryConfig): Promise<pg.QueryResult>;
}

/** Reuses an idle connection with the same deadline, which is fixed when a connection is opened, or opens one. */
function reuseOrOpen(config: pg.ClientConfig): Client {
  const candidates = idle.get(config.connectionString!) ?? [];
  const at = candidates.findLastIndex(({ queryTimeout }) => queryTimeout === config.query_timeout);
  return at < 0 ? open(config) : candidates.splice(at, 1)[0]!;
}

function open(config: pg.ClientConfig): Client {
  const url = config.connectionString!;
  const client = new PgClient(bySocket(config)) as unknown as Client;
  const { connect, end, query } = client;
  let isConnected = false;
  let isLost = false;

  function listen() {
    // The listeners of the pool that used the connection before are removed, too.
    client.removeAllListeners();
    for (const event of ['error', 'end'] as const)
      client.on(event, () => {
        isLost = true;
        const unused = idle.get(url);
        if (unused?.includes(client)) unused.splice(unused.indexOf(client), 1);
      });
  }

  return Object.assign(client, {
    queryTimeout: config.query_timeout,
    connect(callback) {
      listen();
      if (!isConnected) return connect.call(client, callback);
      client.ref();
      process.nextTick(callback, null);
    },
    end(callback) {
      const unused = idle.get(url);
      if (isLost || !unused || unused.length >= MAX_IDLE || client.getTransactionStatus() !== 'I')
        return end.call(client, callback);
      listen();
      isConnected = true;
      // An idle connection must not keep the process alive.
      client.unref();
      unused.push(client);
      process.nextTick(callback);
    },
    query: (text) => query.call(client, prepared(text)),
  } satisfies Partial<Client>);
}

/**
 * Names each statement in `npm test`, so that a connection plans it once. The server names only a few, because a plan may
 * date from when a table was small: in `npm run test:all` the tests send the statements as the server does.
 */
function prepared(query: string | pg.QueryConfig): string | pg.QueryConfig {
  if (typeof query === 'string' || query.name !== undefined || runsAll() || !ONE_STATEMENT.test(query.text))
    return query;
  const name = names.get(query.text) ?? `test_${names.size}`;
  names.set(query.text, name);
  return { ...query, name };
}

const names = new Map<string, string>();
const ONE_STATEMENT = /^\s*(?:select|insert|update|delete|with)\b[^;]*$/i;

pg.Pool = class extends Pool {
  constructor(config: pg.PoolConfig) {
    const isKept = idle.has(config.connectionString!);
    super(isKept ? { ...config, ...REUSED, max: Math.min(config.max ?? 10, MAX_CONNECTIONS) } : config);
  }
} as typeof Pool;
const REUSED = { Client: reuseOrOpen as unknown as new () => pg.ClientBase };

// ── Connections that listen ─────────────────────────────────────────────────────────────────────

/** A connection outside a pool: each server listens on one. */
interface Listener extends Pick<pg.Client, 'query' | 'emit' | 'on' | 'removeAllListeners'> {
  readonly processID: number;
  ref(): void;
  unref(): void;
  connect(): Promise<void>;
  end(): Promise<void>;
}

function reuseOrOpenListener(config: pg.ClientConfig): Listener {
  const url = config.connectionString!;
  const listener = idleListeners.get(url)?.pop();
  listener?.removeAllListeners();
  return listener ?? openListener(config, url);
}

function openListener(config: pg.ClientConfig, url: string): Listener {
  const client = new PgClient(bySocket(config)) as unknown as Listener;
  const { connect, end } = client;
  let isConnected = false;
  let isInUse = false;

  /** Removes the server's channels and locks from the session. Returns false if the connection is lost. */
  async function reset(): Promise<boolean> {
    try {
      await client.query('unlisten *');
      await client.query('select pg_advisory_unlock_all()');
      return true;
    } catch {
      return false;
    }
  }

  return Object.assign(client, {
    async connect() {
      if (isConnected) client.ref();
      else await connect.call(client);
      isConnected = true;
      isInUse = true;
    },
    async end() {
      if (isConnected && !isInUse && idleListeners.has(url)) return;
      isInUse = false;
      const isClean = idleListeners.has(url) && (await reset());
      // The database's connections may have been ended during the reset.
      if (!isClean || !idleListeners.has(url)) return end.call(client);
      // For the server the connection ends here.
      client.emit('end');
      client.removeAllListeners();
      // An ended session emits `error` twice.
      client.on('error', () => {
        const unused = idleListeners.get(url);
        if (unused?.includes(client)) unused.splice(unused.indexOf(client), 1);
      });
      client.unref();
      idleListeners.get(url)?.push(client);
    },
  } satisfies Partial<Listener>);
}

pg.Client = new Proxy(PgClient, {
  construct(target, parameters: [pg.ClientConfig?], constructed) {
    const [config] = parameters;
    const isKept = config?.pipeline && idleListeners.has(config.connectionString!);
    return isKept ? reuseOrOpenListener(config) : Reflect.construct(target, parameters, constructed);
  },
});
