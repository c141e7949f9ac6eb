import pg from 'pg';
import { runsAll } from './scale.ts';

// PostgreSQL starts a process for each connection, which reads the catalogue and plans each statement once more: for a
// test that lasts 50 ms, most of what the database does. So the connections of a database that tests take in turn outlive
// the server that opened them: the next server of this process that opens it gets them.

/** The connections kept of one database: few servers of a test have more at work. */
const MOST = 4;

/** Connections that wait for their next use, by the database's address. */
const waiting = new Map<string, Client[]>();

export function keepConnections(databaseUrl: string): void {
  if (!waiting.has(databaseUrl)) waiting.set(databaseUrl, []);
}

/** PostgreSQL's processes of those that wait. */
export function keptProcesses(databaseUrl: string): number[] {
  return waiting.get(databaseUrl)?.map(({ processID }) => processID) ?? [];
}

export async function endConnections(databaseUrl: string): Promise<void> {
  const connections = waiting.get(databaseUrl) ?? [];
  waiting.delete(databaseUrl);
  await Promise.all(connections.map((connection) => new Promise<void>((ended) => connection.end(ended))));
}

/** As the pool of `pg` calls it, and our own code. */
interface Client extends Pick<pg.Client, 'on' | 'removeAllListeners' | 'getTransactionStatus'> {
  readonly processID: number;
  readonly queryTimeout: number | undefined;
  ref(): void;
  unref(): void;
  connect(callback: (error: Error | null) => void): void;
  end(callback: () => void): void;
  query(query: string | pg.QueryConfig): Promise<pg.QueryResult>;
}

/** Takes one with the same deadline, which a connection keeps from its first use on. */
function takeOrOpen(config: pg.ClientConfig): Client {
  const others = waiting.get(config.connectionString!) ?? [];
  const at = others.findLastIndex(({ queryTimeout }) => queryTimeout === config.query_timeout);
  return at < 0 ? open(config) : others.splice(at, 1)[0]!;
}

function open(config: pg.ClientConfig): Client {
  const url = config.connectionString!;
  const client = new pg.Client(config) as unknown as Client;
  const { connect, end, query } = client;
  let isConnected = false;
  let isLost = false;

  function listen() {
    // Those of the pool that it came from, too.
    client.removeAllListeners();
    for (const event of ['error', 'end'] as const)
      client.on(event, () => {
        isLost = true;
        const others = waiting.get(url);
        if (others?.includes(client)) others.splice(others.indexOf(client), 1);
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
      const others = waiting.get(url);
      if (isLost || !others || others.length >= MOST || client.getTransactionStatus() !== 'I')
        return end.call(client, callback);
      listen();
      isConnected = true;
      // It keeps no process alive.
      client.unref();
      others.push(client);
      process.nextTick(callback);
    },
    query: (asked) => query.call(client, prepared(asked)),
  } satisfies Partial<Client>);
}

/**
 * In `npm test` a connection plans a text once, as if each had a name. The server names few, for a plan may be from when
 * a table was small: where all tests run, they ask as it does.
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

const { Pool } = pg;
pg.Pool = class extends Pool {
  constructor(config: pg.PoolConfig) {
    const isKept = waiting.has(config.connectionString!);
    super(isKept ? { ...config, Client: takeOrOpen as unknown as new () => pg.ClientBase } : config);
  }
} as typeof Pool;
