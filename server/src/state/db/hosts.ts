import pg from 'pg';
import type { DatabaseServers } from '../../kernel/database-url.ts';
import { ReadOnlyDatabase } from './database.ts';

/**
 * The servers of an address that names several, or that requires one that accepts writes. Connections go to the
 * server that accepted the last one, then to the next. When the instance leaves a server, because it no longer
 * accepts writes or another has replaced it, the connections to it are closed: all connections of an instance go to
 * one server.
 */
export interface Hosts {
  /**
   * A client that connects to the server whose turn it is. `connect` rejects if that server is not of the
   * required kind.
   */
  readonly Client: typeof pg.Client;
  /** Repeats `connect` until it succeeds, or each server has refused. @throws an error that names each of them */
  tryEach<T>(connect: () => Promise<T>): Promise<T>;
  /**
   * Leaves the server of a connection that has refused a write. Does nothing if servers need not take writes.
   */
  demoted(client: object): void;
  /** Whether a connection leads to a server that the instance has left. */
  isLeft(client: object): boolean;
  /**
   * Calls `onLeave` when the instance leaves a server: the connections for which `isLeft` holds have to be
   * closed.
   */
  onLeave(onLeave: () => void): void;
}

/** Creates the hosts. Null for one server of any kind, which is addressed directly. */
export function createHosts({ urls, target }: DatabaseServers): Hosts | null {
  if (urls.length === 1 && target === 'any') return null;
  /** The server of the next connection. */
  let next = 0;
  /** The server that accepted the last connection; null after the instance left it. */
  let current: number | null = null;
  let refusals = 0;
  /** The last refusal of each server. */
  const reasons = new Map<number, unknown>();
  const servers = new WeakMap<object, number>();
  const onLeaves: (() => void)[] = [];

  function refuse(server: number, reason: unknown): void {
    refusals += 1;
    reasons.set(server, reason);
    if (next === server) next = (server + 1) % urls.length;
  }

  function use(server: number | null): void {
    if (current === server) return;
    current = server;
    for (const onLeave of onLeaves) onLeave();
  }

  async function assertTarget(client: pg.Client): Promise<void> {
    if (target === 'any') return;
    const { rows } = await client.query<{ accepts: boolean }>(ACCEPTS[target]);
    if (!rows[0]?.accepts) throw new ReadOnlyDatabase(NO_WRITES);
  }

  class HostClient extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      const { connectionTimeoutMillis: waitMs = 0 } = config;
      super({
        ...config,
        connectionString: urls[next]!,
        connectionTimeoutMillis: Math.floor(waitMs / urls.length),
      });
      servers.set(this, next);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: OnConnected | ((error: Error) => void)): void;
    override connect(callback?: unknown): Promise<pg.Client> | undefined {
      const connecting = this.connectAndCheck();
      if (!callback) return connecting;
      // An error of the callback is not an error of the connection.
      connecting.then(
        () => process.nextTick(callback as OnConnected, null, this),
        (error: Error) => process.nextTick(callback as (error: Error) => void, error),
      );
    }

    private async connectAndCheck(): Promise<pg.Client> {
      const server = servers.get(this)!;
      try {
        await super.connect();
        await assertTarget(this);
      } catch (error) {
        refuse(server, error);
        this.end().catch(() => undefined);
        throw error;
      }
      reasons.delete(server);
      next = server;
      use(server);
      return this;
    }
  }

  return {
    Client: HostClient,
    async tryEach(connect) {
      for (let left = urls.length; ; left -= 1) {
        const refusalsBefore = refusals;
        try {
          return await connect();
        } catch (error) {
          // A wait for a free connection refuses on behalf of no server.
          if (refusals === refusalsBefore || urls.length === 1) throw error;
          if (left === 1) throw new Error(describeAll(urls, reasons), { cause: error });
        }
      }
    },
    demoted(client) {
      const server = servers.get(client);
      if (target === 'any' || server === undefined || server !== current) return;
      refuse(server, new ReadOnlyDatabase(NO_WRITES));
      use(null);
    },
    isLeft: (client) => servers.get(client) !== current,
    onLeave: (onLeave) => void onLeaves.push(onLeave),
  };
}

type OnConnected = (error: null, client: pg.Client) => void;

const NO_WRITES = 'it takes no writes';

/** The queries by which PostgreSQL's own clients decide. */
const ACCEPTS = {
  'read-write': `select current_setting('transaction_read_only') = 'off' as accepts`,
  primary: 'select not pg_is_in_recovery() as accepts',
};

/** Describes the last refusal of each server: its code if its message may contain more than that. */
function describeAll(urls: readonly string[], reasons: ReadonlyMap<number, unknown>): string {
  return urls
    .flatMap((url, index) => {
      const reason = reasons.get(index) as NodeJS.ErrnoException | undefined;
      const parameters = new URLSearchParams(url.slice(url.indexOf('?')));
      const port = parameters.get('port');
      return reason
        ? `${parameters.get('host')}${port ? `:${port}` : ''}: ${reason.code ?? reason.message}`
        : [];
    })
    .join('; ');
}
