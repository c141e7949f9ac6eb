import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { connect as connectSecurely } from 'node:tls';

/**
 * A relay in front of a server, which cuts connections. It changes the header `Host`, by which a proxy finds the
 * site.
 */
export interface Cutter {
  /** The address of /graphql behind it. */
  readonly endpoint: string;
  /** The connections that it has cut. */
  readonly cuts: number;
  /**
   * Cuts every connection: `reset` in the middle of a frame; `end` by an orderly close, which is the regular end of a
   * response of unknown length, as when a server stops.
   */
  cut(how: 'reset' | 'end'): void;
  /** Accepts no connection until `up`. */
  down(): void;
  up(): void;
  /** Resolves while it accepts connections. */
  isUp(): Promise<void>;
  close(): Promise<void>;
}

/** The end of a response in chunks. */
const LAST_CHUNK = '0\r\n\r\n';

/** A request begins with a chunk: a client sends the next one on a kept connection only after the response before it. */
const HEAD = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/;

function withHost(bytes: Buffer, host: string): Buffer {
  const text = bytes.toString('latin1');
  if (!HEAD.test(text)) return bytes;
  return Buffer.from(text.replace(/\r\nhost: [^\r]*/i, `\r\nHost: ${host}`), 'latin1');
}

export async function startCutter(target: string): Promise<Cutter> {
  const { protocol, host, hostname, port, pathname } = new URL(target);
  const isSecure = protocol === 'https:';
  const upstreamPort = Number(port) || (isSecure ? 443 : 80);
  /** Each connection, and whether a response of unknown length is in progress. */
  const open = new Map<Socket, { isChunked: boolean }>();
  let isDown = false;
  let waiting: (() => void)[] = [];
  let cuts = 0;

  const server = createServer((client) => {
    client.on('error', () => undefined);
    if (isDown) return client.resetAndDestroy();
    const upstream = isSecure
      ? connectSecurely({ host: hostname, port: upstreamPort, servername: hostname })
      : connect(upstreamPort, hostname);
    const state = { isChunked: false };
    open.set(client, state);
    upstream.on('data', (bytes: Buffer) => {
      const head = bytes.subarray(0, 2_000).toString('latin1');
      if (head.startsWith('HTTP/1.1 ')) state.isChunked = /\r\ntransfer-encoding: chunked\r\n/i.test(head);
    });
    upstream.on('error', () => client.destroy());
    client.on('close', () => {
      open.delete(client);
      upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
    const toHost = new Transform({
      transform(bytes: Buffer, _encoding, done) {
        done(null, withHost(bytes, host));
      },
    });
    client.pipe(toHost).pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const up = () => {
    isDown = false;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    get cuts() {
      return cuts;
    },
    cut(how) {
      for (const [client, { isChunked }] of open) {
        // This connection has ended, and is closed in a moment.
        if (!client.writable) continue;
        cuts += 1;
        if (how === 'reset') client.resetAndDestroy();
        else client.end(isChunked ? LAST_CHUNK : '');
      }
    },
    down() {
      isDown = true;
    },
    up,
    isUp: () => (isDown ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
    async close() {
      up();
      for (const client of open.keys()) client.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
