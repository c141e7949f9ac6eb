import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { follow } from '../../widget/src/follow/follow.ts';
import type { Transport } from '../../widget/src/follow/transport.ts';

// The order of the transports over minutes of the test's clock; the network answers without delay.

/** Whether sockets open. Event streams are refused. */
let socketsOpen = false;
let sockets = 0;
let stopped = new AbortController();

class FakeSocket {
  onopen?: () => void;
  onclose?: ((event: { code: number; reason: string }) => void) | null;
  onmessage?: ((event: { data: string }) => void) | null;

  constructor() {
    sockets++;
    queueMicrotask(() => (socketsOpen ? this.onopen?.() : this.onclose?.({ code: 1006, reason: '' })));
  }

  send(message: string): void {
    const answers: Record<string, string> = { connection_init: 'connection_ack', ping: 'pong' };
    const type = answers[JSON.parse(message).type];
    if (type) queueMicrotask(() => this.onmessage?.({ data: JSON.stringify({ type }) }));
  }

  close(): void {
    this.onmessage = null;
  }
}

beforeEach(() => {
  socketsOpen = false;
  sockets = 0;
  stopped = new AbortController();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.spyOn(window, 'fetch').mockImplementation(
    async () =>
      ({
        status: 406,
        headers: new Headers(),
        json: async () => ({ errors: [{ message: 'no stream', extensions: { code: 'BAD_REQUEST' } }] }),
      }) as Response,
  );
});

afterEach(() => {
  stopped.abort();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function followed(
  read: () => Promise<object> = async () => ({}),
  transport: 'auto' | Transport = 'auto',
): { connections: string[]; updates: object[] } {
  const connections: string[] = [];
  const updates: object[] = [];
  void follow({
    endpoint: 'https://pay.example/graphql',
    token: 'pay-1',
    query: 'subscription { updates }',
    variables: {},
    signal: stopped.signal,
    transport,
    read,
    onUpdate: (update) => updates.push(update),
    onConnection: (connection) => connections.at(-1) === connection || connections.push(connection),
  });
  return { connections, updates };
}

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

it('the first answer to a poll is an update at once', async () => {
  const { updates } = followed(async () => ({ first: true }), 'poll');
  await seconds(0);
  expect(updates).toEqual([{ first: true }]);
});

it('polling gives way to a stream that is there again', async () => {
  const { connections } = followed();
  await seconds(10);
  expect(connections).toEqual(['connecting', 'polling']);
  socketsOpen = true;
  await seconds(50);
  expect(connections).toEqual(['connecting', 'polling', 'live']);
});

it('polling goes on where there is no stream, which is tried ever more rarely and silently', async () => {
  const { connections, updates } = followed();
  const tries: number[] = [];
  for (let minute = 0; minute < 20; minute++) {
    await seconds(60);
    tries.push(sockets);
  }
  expect(connections).toEqual(['connecting', 'polling']);
  expect(tries.map((count) => count - 1)).toEqual([
    1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
  ]);
  // In the end the updates come every ten seconds.
  const before = updates.length;
  await seconds(60);
  expect(updates.length - before).toBe(6);
});

it('a page that has chosen polling opens no stream', async () => {
  const { updates } = followed(undefined, 'poll');
  await seconds(120);
  expect(sockets).toBe(0);
  const before = updates.length;
  await seconds(10);
  expect(updates.length).toBeGreaterThan(before);
});

it('every transport is tried where the page names one that does not exist', async () => {
  const { connections } = followed(undefined, 'websocket' as Transport);
  await seconds(10);
  expect(connections).toEqual(['connecting', 'polling']);
  expect(sockets).toBe(1);
});

it.each([401, 403])(
  'a page of a proxy with the status %i in place of a stream gives way to polling',
  async (status) => {
    vi.mocked(window.fetch).mockImplementation(async () => new Response('<h1>Blocked</h1>', { status }));
    const { connections } = followed();
    await seconds(10);
    expect(connections).toEqual(['connecting', 'polling']);
  },
);

it('a server that cannot be reached is reported once, until it can', async () => {
  let isDown = true;
  const { connections } = followed(async () => {
    if (isDown) throw Object.assign(new Error('down'), { code: 'network', retryable: true });
    return {};
  });
  await seconds(120);
  expect(connections).toEqual(['connecting', 'reconnecting']);
  isDown = false;
  await seconds(20);
  expect(connections).toEqual(['connecting', 'reconnecting', 'polling']);
});
