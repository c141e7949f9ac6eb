import { EventEmitter, once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { createClient as createClient5 } from 'graphql-ws-5';
import { expect, onTestFinished, test, vi } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { eventStreamClient } from '../../widget/src/live/event-stream.ts';
import {
  type ResumeOptions,
  resumable,
  socketOptions,
  streamOptions,
  type Tokens,
  tokens,
} from '../../widget/src/live/resume.ts';
import { lastAnswerOf } from '../../widget/src/live/tokens.ts';

// Connections whose server is silent: before a socket opens or is acknowledged, and before a stream is answered.

const CLIENTS = {
  'graphql-ws': createClient,
  'graphql-ws 5': createClient5 as unknown as typeof createClient,
};
const QUERY = 'subscription ($after: String) { payoutUpdates(id: "1", after: $after) { cursor } }';

/** Follows over this port by graphql-ws, or by graphql-sse if `create` is null, without a wait between attempts. */
function follow(create: typeof createClient | null, port: number) {
  const token = tokens(async () => 'token');
  const causes: unknown[] = [];
  const updates: unknown[] = [];
  const waits: number[] = [];
  const options: ResumeOptions = {
    tokens: token,
    onRetry: (cause) => causes.push(cause),
    wait: async (ms) => void waits.push(ms),
  };
  const client = create
    ? resumable(
        create({ url: `ws://127.0.0.1:${port}`, ...socketOptions(token, WebSocket as never) }),
        options,
      )
    : resumable(createSseClient({ url: `http://127.0.0.1:${port}`, ...streamOptions(token) }), options);
  const leave = client.subscribe(
    { query: QUERY },
    {
      next: ({ data }) => updates.push(data),
      error: (error) => updates.push(error),
      complete: () => undefined,
    },
  );
  onTestFinished(leave);
  return { causes, updates, waits, token };
}

test.each(Object.entries({ ...CLIENTS, 'graphql-sse': null }))(
  '%s: a connection without an answer is replaced in time, after a wait that doubles up to 30 s',
  async (_, create) => {
    const connections: Socket[] = [];
    const server = createServer((socket) => void connections.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      for (const socket of connections) socket.destroy();
      server.close();
    });
    useFakeTimers();
    const { causes, waits } = follow(create, (server.address() as AddressInfo).port);
    await once(server, 'connection');
    vi.advanceTimersByTime(14_999);
    expect(causes).toEqual([]);
    const next = once(server, 'connection');
    vi.advanceTimersByTime(1);
    await next;
    expect(causes).toHaveLength(1);
    for (let attempt = 2; attempt <= 12; attempt += 1) {
      const another = once(server, 'connection');
      vi.advanceTimersByTime(15_000);
      await another;
    }
    // Waits begin at 100 ms, double up to 30 s, and vary by a half.
    const doubled = waits.map((_, attempt) => Math.min(30_000, 100 * 2 ** attempt));
    expect(waits.map((ms, attempt) => [ms >= doubled[attempt]! / 2, ms <= doubled[attempt]! * 1.5])).toEqual(
      doubled.map(() => [true, true]),
    );
    expect(waits).toHaveLength(12);
  },
);

test.each(Object.entries(CLIENTS))(
  '%s: a socket that is not acknowledged in time is replaced, and its late acknowledgement harms nothing',
  async (_, create) => {
    const unhandled: unknown[] = [];
    const keep = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', keep);
    onTestFinished(() => void process.off('unhandledRejection', keep));
    const { port, sockets, received } = await startServer();
    useFakeTimers();
    const { causes, updates, token } = follow(create, port);
    await received('1 connection_init');
    vi.advanceTimersByTime(9_999);
    expect(causes).toEqual([]);
    vi.advanceTimersByTime(1);
    // The client has sent its close frame, which the server has not read yet.
    acknowledge(sockets[0]!);
    await received('2 connection_init');
    expect(lastAnswerOf(token)).toBeUndefined();
    acknowledge(sockets[1]!);
    await received('2 subscribe');
    expect(lastAnswerOf(token)).toBeDefined();
    sockets[1]!.terminate();
    await received('3 connection_init');
    acknowledge(sockets[2]!);
    await received('3 subscribe');
    expect(causes).toMatchObject([{ code: 4504 }, { code: 1006 }]);
    expect(updates).toEqual([]);
    expect(unhandled).toEqual([]);
  },
);

function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

test.each([
  ['graphql-sse', followStream],
  ['no library', followEventStream],
])('%s: the head of a stream is an answer, and an error is none', async (_, followOver) => {
  let status = 503;
  const server = createHttpServer((_, response) => {
    const type = status === 200 ? 'text/event-stream' : 'text/plain';
    response.writeHead(status, { 'content-type': type }).end(':\n\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const answered: boolean[] = [];
  const token = tokens(async () => 'token');
  await new Promise<void>((resolve) => {
    const leave = followOver(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      token,
      async () => {
        answered.push(lastAnswerOf(token) !== undefined);
        status = 200;
        if (answered.length === 2) resolve();
      },
    );
    onTestFinished(leave);
  });
  expect(answered).toEqual([false, true]);
});

type Wait = NonNullable<ResumeOptions['wait']>;
const SINK = { next: () => undefined, error: () => undefined, complete: () => undefined };

function followStream(url: string, token: Tokens, wait: Wait): () => void {
  const client = resumable(createSseClient({ url, ...streamOptions(token) }), { tokens: token, wait });
  return client.subscribe({ query: QUERY }, SINK);
}

function followEventStream(endpoint: string, token: Tokens, wait: Wait): () => void {
  const client = resumable(eventStreamClient({ endpoint, tokens: token }), { tokens: token, wait });
  return client.subscribe({ query: QUERY }, SINK);
}

const acknowledge = (socket: WebSocket) => socket.send(JSON.stringify({ type: 'connection_ack' }));

/** Starts a server that accepts sockets and sends nothing. `received` resolves when a socket has sent a message. */
async function startServer() {
  const sockets: WebSocket[] = [];
  const messages = new EventEmitter();
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => {
    const number = sockets.push(socket);
    socket.on('message', (text) => messages.emit(`${number} ${JSON.parse(String(text)).type}`));
  });
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.terminate();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    received: (message: string) => once(messages, message),
  };
}
