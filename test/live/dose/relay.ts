import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * The ways in which a connection ends. `frame`: a reset in the middle of the next frame. `reset`: a reset at once.
 * `end`: an orderly close, which is the regular end of a response of unknown length. `silence`: no byte passes, and
 * neither side is notified. `refusal`: the server ends it with its credential.
 */
export type Cut = 'frame' | 'reset' | 'end' | 'silence' | 'refusal';

/** The time between the end of a follower's connection and its next one at an instance. */
export interface Outage {
  follower: number;
  how: Cut;
  cutAt: number;
  /** The instant of the next connection; null without one. */
  upAt: number | null;
}

/** A relay of bytes between followers and the instances of a server. A request names its follower: `/graphql?f=12`. */
export interface Relay {
  readonly port: number;
  readonly outages: readonly Outage[];
  /** The number of connections that ended without a cut, those of ended instances included. */
  readonly ends: number;
  /**
   * Begins to cut the follower's connection. Until `restore` a new one waits, or is reset if the cut `refuses`.
   * Returns false without a connection. A `frame` and a `refusal` end it with the server's next bytes.
   */
  beginCut(follower: number, how: Cut, refuses: boolean): boolean;
  /** Resolves when the connection is cut. */
  whenCut(follower: number): Promise<void>;
  restore(follower: number): void;
  /** Resolves when a connection of the follower has reached an instance. */
  whenConnected(follower: number): Promise<void>;
  /** Stops reading the server's bytes for these followers, until `resume`. */
  pause(followers: readonly number[]): void;
  resume(followers: readonly number[]): void;
  close(): void;
}

/** The connections between one follower and the server. */
interface Line {
  /**
   * The follower's open connections, the newest last. There may be two: the kernel can accept one late that its
   * client has given up.
   */
  connections: Set<Connection>;
  isDown: boolean;
  refuses: boolean;
  isPaused: boolean;
  /** The connections that wait for the end of the outage. */
  waiting: (() => void)[];
  outage: Outage | null;
  /** Resolves when the last cut that was begun is done. */
  cut: Promise<void>;
  /** Callbacks for the next connection that reaches an instance. */
  onConnected: (() => void)[];
}

interface Connection {
  client: Socket;
  upstream: Socket | null;
  line: Line | null;
  isChunked: boolean;
  isSilent: boolean;
  isCut: boolean;
  /** The bytes of a request that waits for an instance; null without one. */
  pending: Buffer[] | null;
  /** Called with the server's next bytes, or at the end of the connection. */
  onEnd: ((bytes: Buffer | null) => void) | null;
}

/** The end of a response in chunks. */
const LAST_CHUNK = '0\r\n\r\n';
const REQUEST = /^(?:POST|GET) \/graphql\?f=(\d+) HTTP\/1\.1\r\n/;

function isPassing({ upstream, isSilent, isCut }: Connection): boolean {
  return upstream !== null && !isSilent && !isCut;
}

/** The connection over which a follower receives; null without one. */
function passingOf({ connections }: Line): Connection | null {
  return [...connections].reverse().find(isPassing) ?? null;
}

/** Starts a relay to the instances at these ports. It uses them in turns, and skips those that are down. */
export async function startRelay(ports: readonly number[]): Promise<Relay> {
  const lines = new Map<number, Line>();
  const open = new Set<Connection>();
  const outages: Outage[] = [];
  let turn = 0;
  let ends = 0;

  function lineOf(follower: number): Line {
    let line = lines.get(follower);
    if (!line) {
      line = {
        connections: new Set(),
        isDown: false,
        refuses: false,
        isPaused: false,
        waiting: [],
        outage: null,
        cut: Promise.resolve(),
        onConnected: [],
      };
      lines.set(follower, line);
    }
    return line;
  }

  const server = createServer({ noDelay: true }, (client) => {
    const connection: Connection = {
      client,
      upstream: null,
      line: null,
      pending: null,
      isChunked: false,
      isSilent: false,
      isCut: false,
      onEnd: null,
    };
    open.add(connection);
    client.on('error', () => undefined);
    client.on('close', () => {
      open.delete(connection);
      if (isPassing(connection)) ends += 1;
      connection.upstream?.destroy();
      connection.line?.connections.delete(connection);
      connection.onEnd?.(null);
    });
    client.on('data', (bytes: Buffer) => {
      if (!connection.isSilent) forward(connection, bytes);
    });
    client.on('end', () => !connection.isSilent && connection.upstream?.end());
  });

  /** Forwards a client's bytes. The head of a request names the follower of the connection. */
  function forward(connection: Connection, bytes: Buffer): void {
    const [head, name] = REQUEST.exec(bytes.subarray(0, 64).toString('latin1')) ?? [];
    if (!head) {
      if (connection.pending) connection.pending.push(bytes);
      else connection.upstream?.write(bytes);
      return;
    }
    const follower = Number(name);
    const line = lineOf(follower);
    connection.line?.connections.delete(connection);
    connection.line = line;
    // The address that the server sees, as behind a proxy, because its limits are by network.
    const address = `10.${follower >> 16}.${(follower >> 8) & 255}.${follower & 255}`;
    connection.pending = [Buffer.from(`${head}X-Forwarded-For: ${address}\r\n`), bytes.subarray(head.length)];
    const begin = () => {
      line.connections.add(connection);
      if (connection.upstream) reached(connection);
      else reach(connection, ports.length);
    };
    if (!line.isDown) begin();
    else if (line.refuses) connection.client.resetAndDestroy();
    else line.waiting.push(() => connection.client.destroyed || begin());
  }

  function reach(connection: Connection, attempts: number): void {
    if (connection.client.destroyed) return;
    if (attempts === 0) return void connection.client.resetAndDestroy();
    const upstream = connect({ port: ports[turn++ % ports.length]!, host: '127.0.0.1', noDelay: true });
    // A connection that its client has left is closed at the instance, too.
    const leave = () => upstream.destroy();
    connection.client.once('close', leave);
    const tryNext = () => {
      connection.client.off('close', leave);
      reach(connection, attempts - 1);
    };
    upstream.once('error', tryNext).once('connect', () => {
      connection.client.off('close', leave);
      upstream.off('error', tryNext);
      upstream.on('error', () => undefined);
      connection.upstream = upstream;
      if (connection.client.destroyed) return void upstream.destroy();
      attach(connection, upstream);
      reached(connection);
    });
  }

  function reached(connection: Connection): void {
    const { line, upstream, pending } = connection;
    if (line?.outage) line.outage.upAt = Date.now();
    if (line) line.outage = null;
    for (const resolve of line?.onConnected.splice(0) ?? []) resolve();
    connection.pending = null;
    for (const bytes of pending ?? []) upstream?.write(bytes);
  }

  function attach(connection: Connection, upstream: Socket): void {
    const { client } = connection;
    if (connection.line?.isPaused) upstream.pause();
    upstream.on('data', (bytes: Buffer) => {
      if (connection.isSilent || connection.isCut) return;
      const head = bytes.subarray(0, 2_000).toString('latin1');
      if (head.startsWith('HTTP/1.1 '))
        connection.isChunked = /\r\ntransfer-encoding: chunked\r\n/i.test(head);
      if (connection.onEnd) return connection.onEnd(bytes);
      if (!client.write(bytes)) upstream.pause();
    });
    client.on('drain', () => connection.line?.isPaused || upstream.resume());
    upstream.on('end', () => !connection.isSilent && client.end());
    upstream.on('close', () => {
      if (connection.isSilent || connection.isCut) return;
      client.destroy();
    });
  }

  function carryOut(connection: Connection, how: Cut, cut: () => void): void {
    const { client } = connection;
    switch (how) {
      case 'reset':
        cut();
        return void client.resetAndDestroy();
      case 'frame':
        connection.onEnd = (bytes) => {
          connection.onEnd = null;
          cut();
          if (!bytes) return;
          connection.isCut = true;
          client.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => client.resetAndDestroy());
        };
        return;
      case 'end':
        cut();
        connection.isCut = true;
        return void client.end(connection.isChunked ? LAST_CHUNK : '');
      case 'silence':
        cut();
        connection.isSilent = true;
        return;
      case 'refusal':
        connection.onEnd = (bytes) => {
          if (bytes) client.write(bytes);
          if (bytes && !(connection.isChunked && bytes.subarray(-5).toString('latin1') === LAST_CHUNK))
            return;
          connection.onEnd = null;
          cut();
          // A stream that was refused leaves its connection open for other requests.
          client.end();
        };
    }
  }

  server.listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    outages,
    get ends() {
      return ends;
    },
    beginCut(follower, how, refuses) {
      const line = lineOf(follower);
      const connection = passingOf(line);
      if (!connection || line.isDown) return false;
      Object.assign(line, { isDown: true, refuses });
      line.cut = new Promise((resolve) =>
        carryOut(connection, how, () => {
          line.outage = { follower, how, cutAt: Date.now(), upAt: null };
          outages.push(line.outage);
          resolve();
        }),
      );
      return true;
    },
    whenCut: (follower) => lineOf(follower).cut,
    restore(follower) {
      const line = lineOf(follower);
      line.isDown = false;
      for (const begin of line.waiting.splice(0)) begin();
    },
    whenConnected(follower) {
      const line = lineOf(follower);
      if (passingOf(line)) return Promise.resolve();
      return new Promise((resolve) => line.onConnected.push(resolve));
    },
    pause(followers) {
      for (const line of followers.map(lineOf)) {
        line.isPaused = true;
        for (const { upstream } of line.connections) upstream?.pause();
      }
    },
    resume(followers) {
      for (const line of followers.map(lineOf)) {
        line.isPaused = false;
        for (const { upstream } of line.connections) upstream?.resume();
      }
    },
    close() {
      server.close();
      for (const { client, upstream } of open) {
        client.destroy();
        upstream?.destroy();
      }
    },
  };
}
