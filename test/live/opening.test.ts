import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { createClient as createClient5 } from 'graphql-ws-5';
import { expect, onTestFinished, test, vi } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import {
  type ResumeOptions,
  resumable,
  socketOptions,
  streamOptions,
  tokens,
} from '../../widget/src/live/resume.ts';

// Connections whose peer says nothing: before a socket opens or is acknowledged, and before a stream is answered.

const CLIENTS = {
  'graphql-ws': createClient,
  'graphql-ws 5': createClient5 as unknown as typeof createClient,
};
const QUERY = 'subscription ($after: String) { payoutUpdates(id: "1", after: $after) { cursor } }';

/** Follows over this port by graphql-ws, or by graphql-sse where `create` is null, without a wait between attempts. */
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
  return { causes, updates, waits };
}

test.each(Object.entries({ ...CLIENTS, 'graphql-sse': null }))(
  '%s: a connection without an answer is replaced in time, and each time after a longer wait',
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
    // 100 ms, doubled up to 30 s, each varied by a half.
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
    const { causes, updates } = follow(create, port);
    await received('1 connection_init');
    vi.advanceTimersByTime(9_999);
    expect(causes).toEqual([]);
    vi.advanceTimersByTime(1);
    // The client has sent its close frame, which the server has not read yet.
    acknowledge(sockets[0]!);
    await received('2 connection_init');
    acknowledge(sockets[1]!);
    await received('2 subscribe');
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
