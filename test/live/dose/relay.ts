import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * The ends of a connection. `frame`: a reset in the middle of a frame, the next one. `reset`: at once. `end`: an orderly
 * close, which for a response of unknown length is its regular end. `silence`: nothing passes any longer, and nobody is
 * notified. `refusal`: the server's own end, of a credential.
 */
export type Cut = 'frame' | 'reset' | 'end' | 'silence' | 'refusal';

/** The time from the end of a follower's connection to the next one that reached an instance. */
export interface Outage {
  follower: number;
  how: Cut;
  cutAt: number;
  /** Null where no connection followed. */
  upAt: number | null;
}

/** A relay of bytes between followers and the instances of a server. A request names its follower: `/graphql?f=12`. */
export interface Relay {
  readonly port: number;
  readonly outages: readonly Outage[];
  /** Connections that ended by themselves: those of instances that ended among them. */
  readonly ends: number;
  /**
   * Begins to end the connection of a follower, and lets no other reach the server until `restore`: it waits, or is reset
   * where it `refuses`. False where there is none. A `frame` and a `refusal` end with what the server sends from now on.
   */
  beginCut(follower: number, how: Cut, refuses: boolean): boolean;
  /** Resolves when the connection is cut. */
  whenCut(follower: number): Promise<void>;
  restore(follower: number): void;
  /** Resolves when a connection of the follower has reached an instance. */
  whenConnected(follower: number): Promise<void>;
  /** Reads nothing that the server sends to these followers, until `resume`. */
  pause(followers: readonly number[]): void;
  resume(followers: readonly number[]): void;
  close(): void;
}

/** The connections between one follower and the server. */
interface Line {
  /**
   * Its open connections, the last one that began last. There may be two: the kernel can let one in that its client has given up, after
   * the next one.
   */
  connections: Set<Connection>;
  isDown: boolean;
  refuses: boolean;
  isPaused: boolean;
  /** The connections that wait for the end of the outage. */
  waiting: (() => void)[];
  outage: Outage | null;
  /** Resolves when the connection is cut whose end was begun last. */
  cut: Promise<void>;
  /** Called when a connection has reached an instance. */
  onConnected: (() => void)[];
}

interface Connection {
  client: Socket;
  upstream: Socket | null;
  line: Line | null;
  isChunked: boolean;
  isSilent: boolean;
  isCut: boolean;
  /** The bytes that the client has sent of a request that waits for an instance; null where none waits. */
  pending: Buffer[] | null;
  /** Called with the next bytes of the server, or at the end of the connection. */
  onEnd: ((bytes: Buffer | null) => void) | null;
}

/** The end of a response in chunks. */
const LAST_CHUNK = '0\r\n\r\n';
const REQUEST = /^(?:POST|GET) \/graphql\?f=(\d+) HTTP\/1\.1\r\n/;

function isPassing({ upstream, isSilent, isCut }: Connection): boolean {
  return upstream !== null && !isSilent && !isCut;
}

/** The connection over which a follower receives; null where there is none. */
function passingOf({ connections }: Line): Connection | null {
  return [...connections].reverse().find(isPassing) ?? null;
}

/** Starts a relay to the instances at these ports, which takes them in turns and passes over those that are down. */
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

  /** Passes on what a client sends. At the head of a request it learns whose the connection is. */
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
    // The address that the server sees, as behind any proxy: its limits are by network.
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
    // A client that has gone must not wait at the instance.
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
          // A stream that was refused leaves its connection to other requests.
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
