import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createOffsetClock } from '../../server/src/kernel/clock.ts';
import { RateLimitError } from '../../server/src/kernel/errors.ts';
import { createBudget } from '../../server/src/upstream/budget/budget.ts';
import { createUpstream } from '../../server/src/upstream/client.ts';
import type { UpstreamFault, UpstreamRequest } from '../../server/src/upstream/upstream.ts';
import { createManualClock } from '../support/clock.ts';
import { deferred } from '../support/deferred.ts';
import { type Received, startReceiver } from '../support/receiver.ts';

const KEY = 'ps_live_a_secret_of_the_merchant';
const WALLET: UpstreamRequest = {
  environment: 'live',
  method: 'GET',
  path: '/v1/wallet',
  requestOptions: { priority: 'query' },
};
const PAYOUT: UpstreamRequest = {
  environment: 'live',
  method: 'POST',
  path: '/v1/payouts',
  // The null member is left out: a service may refuse null.
  body: { amount: 25.5, externalId: null },
  requestOptions: { priority: 'money' },
};

type Options = Partial<Parameters<typeof createUpstream>[0]>;

function createOpenBudget(clock = createManualClock(), onFault: (fault: unknown) => void = () => undefined) {
  return createBudget({ database: null as never, clock, accountKey: 'live', limit: 0, onFault });
}

/** A client whose slots are counted in memory; the budget's own test uses the database. */
function upstreamAt(url: string, options: Options = {}) {
  const clock = createManualClock();
  const faults: unknown[] = [];
  const slots: string[] = [];
  const outcomes: string[] = [];
  const uncounted = createOpenBudget(clock, (fault) => faults.push(fault));
  const budget = {
    ...uncounted,
    async take(requestOptions: Parameters<typeof uncounted.take>[0]) {
      const slot = await uncounted.take(requestOptions);
      const index = slots.push('held') - 1;
      return {
        sendBy: new Date(clock.now().getTime() + 20_000),
        end(how: string) {
          if (slots[index] === 'held') slots[index] = how;
          slot.end(how as 'answered');
        },
      };
    },
  };
  const upstream = createUpstream({
    url,
    keys: { live: KEY, sandbox: 'ps_test_another' },
    budget,
    clock,
    random: () => 0.5,
    onOutcome: (of, outcome, seconds) => outcomes.push(`${of} ${outcome} ${seconds}`),
    onFault: (fault) => faults.push(fault),
    ...options,
  });
  onTestFinished(async () => {
    const closed = upstream.close();
    clock.advance(60_000);
    await closed;
  });
  return { upstream, clock, slots, outcomes, faults, budget: uncounted };
}

/** Starts a service with the test's answers, and an upstream in front. */
async function start(
  answer: (response: ServerResponse, received: Received) => void = (response) => json(response, 200, {}),
  options?: Options,
) {
  const service = await startReceiver(answer);
  return { service, ...upstreamAt(new URL(service.url).origin, options) };
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** A server of bare TCP, whose test handles each connection. */
async function startSockets(accept: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    accept(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

const faultOf = (sent: Promise<unknown>) =>
  sent.then(
    () => null,
    ({ kind, reached, detail }: UpstreamFault) => ({ kind, reached, detail }),
  );
const errorOf = (sent: Promise<unknown>) => sent.catch((error: unknown) => error);

/** Waits for the handling of bytes that were read from a socket, which has no event of its own. */
async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('a request', () => {
  test('a request is sent with the key of its environment, as JSON, and its answer is given', async () => {
    const { upstream, service, slots, outcomes, clock } = await start((response) =>
      json(response, 201, { code: 'saq_1' }, { 'x-request-id': '7' }),
    );
    const answer = await upstream.send(PAYOUT);
    expect(answer).toMatchObject({ status: 201, body: { code: 'saq_1' }, headers: { 'x-request-id': '7' } });
    await upstream.send({ ...WALLET, environment: 'sandbox' });
    expect(service.received).toMatchObject([
      {
        method: 'POST',
        path: '/v1/payouts',
        body: '{"amount":25.5}',
        headers: {
          authorization: `Bearer ${KEY}`,
          'content-type': 'application/json',
          'user-agent': 'PSA/1',
          accept: 'application/json',
        },
      },
      { method: 'GET', path: '/v1/wallet', body: '', headers: { authorization: 'Bearer ps_test_another' } },
    ]);
    expect(service.received[1]!.headers).not.toHaveProperty('content-type');
    expect(slots).toEqual(['answered', 'answered']);
    expect(outcomes).toEqual(['money answered 0', 'query answered 0']);
    expect(upstream.state()).toMatchObject({ circuit: 'closed', lastAnswerAt: clock.now() });
  });

  test('pages in place of answers are known as such, until the service answers itself', async () => {
    let page: string | null = '<html>404 Not Found</html>';
    const { upstream, clock } = await start((response) => {
      if (page === null) return json(response, 404, { error: 'Wallet not found' });
      response.writeHead(page === '' ? 200 : 404, { 'content-type': 'text/html' });
      response.end(page);
    });
    const since = clock.now();
    for (const next of ['<html>404 Not Found</html>', '']) {
      page = next;
      await upstream.send(PAYOUT).catch(() => undefined);
      expect(upstream.state()).toMatchObject({ lastAnswerAt: null, pagesSince: since });
      clock.advance(1_000);
    }
    page = null;
    await upstream.send(PAYOUT);
    expect(upstream.state()).toMatchObject({ lastAnswerAt: clock.now(), pagesSince: null });
  });

  test('an answer that echoes the key names it to nobody, and a payer’s write reads no words of a refusal', async () => {
    const echoed = Buffer.from(`authorization: Bearer ${KEY}`).toString('base64');
    const { upstream } = await start((response) =>
      json(response, 403, {
        error: `Invalid x_${KEY} or ${echoed}`,
        failureReason: encodeURIComponent(`${KEY} `),
      }),
    );
    const { body } = await upstream.send(PAYOUT);
    expect(JSON.stringify(body)).not.toMatch(/secret|a_secret|merchant|c2VjcmV0/);
    expect(body).toMatchObject({ error: expect.stringMatching(/^Invalid .*… or .*…/) });
    const requestOptions = { priority: 'payer', subject: { token: 't', network: 'n' } } as const;
    expect((await upstream.send({ ...PAYOUT, requestOptions })).body).toMatchObject({
      error: 'The payments service refuses this',
    });
  });

  test('a request is sent below the path of the URL, on a connection that is kept alive', async () => {
    const ports = new Set<number>();
    const service = await startReceiver((response) => {
      ports.add(response.socket!.remotePort!);
      json(response, 200, {});
    });
    const { upstream } = upstreamAt(`${new URL(service.url).origin}/payments/`);
    for (let count = 0; count < 3; count += 1) {
      await upstream.send(WALLET);
      await turns();
    }
    expect(service.received.map(({ path }) => path)).toEqual(Array(3).fill('/payments/v1/wallet'));
    expect(ports.size).toBe(1);
  });

  test.each([
    [204, '', null],
    [302, '{"a":1}', { a: 1 }],
    [400, '{"error":"no"}', { error: 'no' }],
    [404, '<h1>Not found</h1>', null],
    [409, '', null],
  ])('a request is answered by %i with %s', async (status, body, parsed) => {
    const { upstream, service } = await start((response) =>
      response.writeHead(status, { location: '/v1/elsewhere' }).end(body),
    );
    expect(await upstream.send(PAYOUT)).toMatchObject({ status, body: parsed });
    expect(service.received).toHaveLength(1);
  });

  test.each([
    '/v2/wallet',
    '/v1/a b',
    '/v1/a#b',
    '/v1/../admin',
    '/v1/payouts/%2E%2e',
    '/v1/é',
    '/v1/a\r\nx: 1',
  ])('a request with the path %j is not sent', async (path) => {
    const { upstream, service, slots } = await start();
    await expect(upstream.send({ ...WALLET, path: path as '/v1/' })).rejects.toThrow(TypeError);
    expect(service.received).toEqual([]);
    expect(slots).toEqual([]);
  });

  test('a request without a key for its environment is not sent', async () => {
    const { upstream, slots } = await start(undefined, { keys: { live: KEY } });
    await expect(upstream.send({ ...WALLET, environment: 'sandbox' })).rejects.toThrow('no key');
    expect(slots).toEqual([]);
  });
});

describe('a service that gives no answer', () => {
  test('a service that refuses connections is certainly not reached, and the slot is free again', async () => {
    const { upstream, service, slots, outcomes } = await start();
    await service.shut();
    expect(await faultOf(upstream.send(PAYOUT))).toEqual({
      kind: 'unreachable',
      reached: 'no',
      detail: 'ECONNREFUSED',
    });
    expect(slots).toEqual(['not_sent']);
    expect(outcomes).toEqual(['money unreachable 0']);
  });

  test('a service whose name does not resolve is certainly not reached', async () => {
    const { upstream } = upstreamAt('http://nobody.invalid');
    expect(await faultOf(upstream.send(PAYOUT))).toMatchObject({ kind: 'unreachable', reached: 'no' });
  });

  test('silence leaves the outcome unknown when the time is over, for a write later than for a read', async () => {
    const { upstream, service, clock, slots } = await start(() => undefined);
    const [write, read] = [faultOf(upstream.send(PAYOUT)), faultOf(upstream.send(WALLET))];
    await service.next();
    await service.next();
    clock.advance(10_000);
    expect(await read).toEqual({ kind: 'timeout', reached: 'maybe', detail: null });
    expect(slots).toEqual(['held', 'broken_off']);
    clock.advance(5_000);
    expect(await write).toEqual({ kind: 'timeout', reached: 'maybe', detail: null });
    expect(slots).toEqual(['broken_off', 'broken_off']);
  });

  test('an answer of one byte a second is over when its time is', async () => {
    const arrived = deferred<ServerResponse>();
    const { upstream, clock } = await start((response) => {
      response.writeHead(200);
      response.flushHeaders();
      arrived.resolve(response);
    });
    const read = faultOf(upstream.send(WALLET));
    const response = await arrived.promise;
    let isOver = false;
    void read.then(() => {
      isOver = true;
    });
    for (let second = 0; second < 9; second += 1) {
      response.write(' ');
      await turns();
      clock.advance(1_000);
    }
    await turns();
    expect(isOver).toBe(false);
    clock.advance(1_000);
    expect(await read).toEqual({ kind: 'timeout', reached: 'maybe', detail: null });
  });

  test.each([
    ['with a reset', (socket: Socket) => socket.once('data', () => socket.resetAndDestroy())],
    ['without an answer', (socket: Socket) => socket.once('data', () => socket.destroy())],
    [
      'within its answer',
      (socket: Socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"a":')),
    ],
  ])('a connection that is broken %s leaves the outcome unknown', async (_, accept) => {
    let connections = 0;
    const url = await startSockets((socket) => {
      connections += 1;
      accept(socket);
    });
    const { upstream, slots } = upstreamAt(url);
    expect(await faultOf(upstream.send(PAYOUT))).toMatchObject({ kind: 'reset', reached: 'maybe' });
    expect(slots).toEqual(['broken_off']);
    expect(connections).toBe(1);
  });

  test('a kept connection that the service has closed is not used: the next request takes another', async () => {
    const sockets: Socket[] = [];
    const url = await startSockets((socket) => {
      sockets.push(socket);
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'));
    });
    const { upstream } = upstreamAt(url);
    await upstream.send(PAYOUT);
    const closed = new Promise((resolve) => sockets[0]!.once('close', resolve));
    sockets[0]!.end();
    await closed;
    expect(await upstream.send(PAYOUT)).toMatchObject({ status: 200 });
    expect(sockets).toHaveLength(2);
  });

  test('a kept connection that is closed on a request leaves its outcome unknown, and the request is sent once', async () => {
    let requests = 0;
    const url = await startSockets((socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
        else socket.destroy();
      });
    });
    const { upstream } = upstreamAt(url);
    await upstream.send(PAYOUT);
    expect(await faultOf(upstream.send(PAYOUT))).toMatchObject({ kind: 'reset', reached: 'maybe' });
    await turns();
    expect(requests).toBe(2);
  });

  test.each([500, 502, 503, 504])('an answer with %i leaves the outcome unknown', async (status) => {
    const { upstream, slots } = await start((response) =>
      json(response, status, { error: 'Internal error' }),
    );
    expect(await faultOf(upstream.send(PAYOUT))).toEqual({
      kind: 'server_error',
      reached: 'maybe',
      detail: String(status),
    });
    expect(slots).toEqual(['answered']);
  });

  test.each([
    ['no JSON', (response: ServerResponse) => response.end('<html>')],
    ['half a JSON', (response: ServerResponse) => response.end('{"a":')],
    ['no UTF-8', (response: ServerResponse) => response.end(Buffer.from([0x22, 0xff, 0x22]))],
    ['more than 4 MB', (response: ServerResponse) => response.end(`"${'a'.repeat(4 * 1024 * 1024)}"`)],
  ])('an answer of %s leaves the outcome unknown', async (_, answer) => {
    const { upstream } = await start(answer);
    expect(await faultOf(upstream.send(PAYOUT))).toMatchObject({ kind: 'unreadable', reached: 'maybe' });
  });

  test('an answer that is not HTTP leaves the outcome unknown', async () => {
    const url = await startSockets((socket) => socket.once('data', () => socket.end('220 mail ready\r\n')));
    const { upstream } = upstreamAt(url);
    expect(await faultOf(upstream.send(PAYOUT))).toEqual({
      kind: 'unreadable',
      reached: 'maybe',
      detail: null,
    });
  });

  test('a fault names neither the service, nor the key, nor what was sent', async () => {
    const { upstream, service } = await start((response) =>
      json(response, 500, { error: 'ana@example.com' }),
    );
    const { host } = new URL(service.url);
    const seen = [await errorOf(upstream.send(PAYOUT))];
    await service.shut();
    seen.push(await errorOf(upstream.send(PAYOUT)));
    for (const error of seen) {
      const { stack, ...own } = error as Error;
      const text = `${stack} ${JSON.stringify(own)} ${(error as Error).cause}`;
      for (const secret of [KEY, host, '/v1/payouts', '25.5', 'ana@example.com'])
        expect(text).not.toContain(secret);
    }
  });
});

describe('a slot', () => {
  test('a slot that comes too late sends nothing', async () => {
    const { upstream, service, clock, slots } = await start(undefined, {
      budget: {
        ...createOpenBudget(),
        take: async () => ({ sendBy: new Date(0), end: (how) => slots.push(how) }),
      },
    });
    expect(clock.now().getTime()).toBeGreaterThan(0);
    expect(await faultOf(upstream.send(PAYOUT))).toEqual({ kind: 'timeout', reached: 'no', detail: null });
    await turns();
    expect(service.received).toEqual([]);
    expect(slots).toEqual(['not_sent']);
  });
});

describe('a read', () => {
  /** Advances the clock until a promise has settled. */
  async function through<Result>(
    clock: { advance(ms: number): void },
    work: Promise<Result>,
  ): Promise<Result> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    for (let step = 0; step < 10_000 && !isOver; step += 1) {
      await turns(1);
      clock.advance(1);
    }
    return work;
  }

  test('a read is tried twice more, after a pause, each time with a slot of its own', async () => {
    let count = 0;
    const { upstream, clock, slots, service } = await start((response) => {
      count += 1;
      if (count < 3) json(response, 502, {});
      else json(response, 200, { ok: true });
    });
    expect(await through(clock, upstream.get(WALLET))).toMatchObject({ status: 200 });
    expect(service.received).toHaveLength(3);
    expect(slots).toEqual(['answered', 'answered', 'answered']);
  });

  test('a read fails after its third try', async () => {
    const { upstream, clock, service } = await start((response) => json(response, 502, {}));
    expect(await faultOf(through(clock, upstream.get(WALLET)))).toMatchObject({ kind: 'server_error' });
    expect(service.received).toHaveLength(3);
  });

  test.each([400, 404])('a read that is answered with %i is not tried again', async (status) => {
    const { upstream, service } = await start((response) => json(response, status, {}));
    expect(await upstream.get(WALLET)).toMatchObject({ status });
    expect(service.received).toHaveLength(1);
  });

  test('a read of what the service does not have is not tried again', async () => {
    const { upstream, clock, service } = await start((response) => json(response, 501, {}));
    const fault = await faultOf(through(clock, upstream.get(WALLET)));
    expect(fault).toEqual({ kind: 'server_error', reached: 'maybe', detail: '501' });
    expect(service.received).toHaveLength(1);
  });

  test('a read that has used up its time is not tried again', async () => {
    const { upstream, service, clock } = await start(() => undefined);
    const read = faultOf(upstream.get(WALLET));
    await service.next();
    clock.advance(10_000);
    expect(await read).toMatchObject({ kind: 'timeout' });
    expect(service.received).toHaveLength(1);
  });

  test('a read without a slot for its second try gives the fault of the first', async () => {
    const { upstream, clock, budget } = await start((response) => json(response, 502, {}));
    const read = faultOf(upstream.get({ ...WALLET, requestOptions: { priority: 'poll' } }));
    await turns(50);
    await budget.block(60_000);
    expect(await through(clock, read)).toMatchObject({ kind: 'server_error' });
  });
});

describe('a 429', () => {
  const refuse = (headers: Record<string, string>) => (response: ServerResponse) =>
    json(response, 429, { error: 'Too many requests' }, headers);
  const refusalOf = (sent: Promise<unknown>) =>
    sent.then(
      () => null,
      (error: unknown) => ({
        limited: error instanceof RateLimitError,
        seconds: (error as RateLimitError).retryAfterSeconds,
      }),
    );

  test.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '37' }, 37],
    [
      'a date, by its own clock',
      { 'retry-after': 'Mon, 02 Mar 2026 15:00:20 GMT', date: 'Mon, 02 Mar 2026 15:00:00 GMT' },
      20,
    ],
    ['a date that is past', { 'retry-after': 'Mon, 02 Mar 2020 15:00:20 GMT' }, 1],
    ['the end of the window', { 'ratelimit-remaining': '0', 'ratelimit-reset': '12' }, 12],
    ['no header', {}, 5],
    ['headers that cannot be read', { 'retry-after': 'soon', 'ratelimit-reset': '1772452800' }, 5],
  ])('a 429 with %s is about the minute: nothing is sent until it is over', async (_, headers, seconds) => {
    const { upstream, service, clock } = await start(refuse(headers));
    const request = { ...PAYOUT, requestOptions: { priority: 'money', waitMs: 0 } } as const;
    expect(await refusalOf(upstream.send(request))).toEqual({ limited: true, seconds });
    expect(await refusalOf(upstream.send(request))).toEqual({ limited: true, seconds });
    expect(service.received).toHaveLength(1);
    clock.advance(seconds * 1_000);
    service.answer = (response) => json(response, 200, {});
    expect(await upstream.send(request)).toMatchObject({ status: 200 });
    expect(upstream.state()).toMatchObject({ circuit: 'closed' });
    expect(upstream.budget()).toMatchObject({ blockedUntil: null });
  });

  test.each<[string, Record<string, string>, number]>([
    ['a time longer than a window', { 'retry-after': '2400' }, 2400],
    ['a part of the window left', { 'retry-after': '30', 'ratelimit-remaining': '70' }, 30],
  ])('a 429 with %s is about one operation: all others are sent', async (_, headers, seconds) => {
    const { upstream, service } = await start(refuse(headers));
    expect(await refusalOf(upstream.send(PAYOUT))).toEqual({ limited: true, seconds });
    service.answer = (response) => json(response, 200, {});
    expect(await upstream.send(WALLET)).toMatchObject({ status: 200 });
    expect(upstream.budget().blockedUntil).toBeNull();
  });

  test('a 429 was not processed: the request is sent again when it may be, within its time', async () => {
    let count = 0;
    const { upstream, service, clock, slots, outcomes } = await start((response) => {
      count += 1;
      if (count === 1) json(response, 429, {}, { 'retry-after': '4' });
      else json(response, 200, { ok: true });
    });
    const sent = upstream.send(PAYOUT);
    await service.next();
    while (upstream.budget().blockedUntil === null) await turns(1);
    expect(service.received).toHaveLength(1);
    clock.advance(4_000);
    expect(await sent).toMatchObject({ status: 200 });
    expect(slots).toEqual(['answered', 'answered']);
    expect(outcomes).toEqual(['money rate_limited 0', 'money answered 0']);
  });

  test('a 429 is foreseen where an answer says that nothing is left', async () => {
    const { upstream, service } = await start((response) =>
      json(response, 200, {}, { 'ratelimit-remaining': '0', 'ratelimit-reset': '9' }),
    );
    await upstream.send(WALLET);
    await turns();
    expect(await refusalOf(upstream.send(WALLET))).toEqual({ limited: true, seconds: 9 });
    expect(service.received).toHaveLength(1);
  });

  test('a 429 whose block cannot be stored is a refusal all the same', async () => {
    const faults: unknown[] = [];
    const { upstream } = await start(refuse({ 'retry-after': '3' }), {
      onFault: (fault) => faults.push(fault),
      budget: {
        ...createOpenBudget(),
        block: () => Promise.reject(new Error('lost')),
      },
    });
    expect(await refusalOf(upstream.send(PAYOUT))).toEqual({ limited: true, seconds: 3 });
    expect(faults).toEqual([new Error('lost')]);
  });
});

describe('the circuit', () => {
  test('the circuit opens after five faults in a row, then admits one request at a time, and closes on an answer', async () => {
    const held: ServerResponse[] = [];
    const { upstream, service, clock, slots, outcomes } = await start((response) => json(response, 500, {}));
    const state = () => upstream.state().circuit;
    for (let count = 0; count < 4; count += 1) await faultOf(upstream.send(WALLET));
    service.answer = (response) => json(response, 404, {});
    await upstream.send(WALLET);
    service.answer = (response) => json(response, 500, {});
    for (let count = 0; count < 4; count += 1) await faultOf(upstream.send(WALLET));
    expect(state()).toBe('closed');
    await faultOf(upstream.send(WALLET));
    expect(state()).toBe('open');
    expect(upstream.state().since).toEqual(clock.now());

    const [requests, taken] = [service.received.length, slots.length];
    expect(await faultOf(upstream.send(WALLET))).toEqual({
      kind: 'circuit_open',
      reached: 'no',
      detail: null,
    });
    expect(service.received).toHaveLength(requests);
    expect(slots).toHaveLength(taken);
    expect(outcomes.at(-1)).toBe('query circuit_open null');

    // The clock advances five seconds less a tenth.
    clock.advance(4_499);
    expect(state()).toBe('open');
    clock.advance(1);
    expect(state()).toBe('half_open');
    service.answer = (response) => held.push(response);
    const probe = faultOf(upstream.send(WALLET));
    await service.next();
    expect(await faultOf(upstream.send(WALLET))).toMatchObject({ kind: 'circuit_open' });
    json(held[0]!, 503, {});
    expect(await probe).toMatchObject({ kind: 'server_error' });
    expect(state()).toBe('open');

    clock.advance(8_999);
    expect(state()).toBe('open');
    clock.advance(1);
    expect(state()).toBe('half_open');
    service.answer = (response) => json(response, 200, {});
    await upstream.send(WALLET);
    expect(state()).toBe('closed');
    expect(upstream.state().since).toEqual(clock.now());
  });

  test('the circuit stays open for a minute at most', async () => {
    const { upstream, service, clock } = await start();
    await service.shut();
    for (let count = 0; count < 5; count += 1) await faultOf(upstream.send(WALLET));
    for (let count = 0; count < 10; count += 1) {
      clock.advance(60_000);
      expect(await faultOf(upstream.send(WALLET))).toMatchObject({ kind: 'unreachable' });
    }
    clock.advance(53_999);
    expect(upstream.state().circuit).toBe('open');
    clock.advance(1);
    expect(upstream.state().circuit).toBe('half_open');
  });

  test('the circuit stays open for a minute at most where the clock is set back', async () => {
    const manual = createManualClock();
    const clock = createOffsetClock(manual);
    clock.setOffset(60 * 60_000);
    const { upstream, service } = await start((response) => json(response, 500, {}), {
      clock,
      budget: createOpenBudget(manual),
    });
    for (let count = 0; count < 5; count += 1) await faultOf(upstream.send(WALLET));
    expect(upstream.state().circuit).toBe('open');
    clock.setOffset(0);
    service.answer = (response) => json(response, 200, {});
    manual.advance(60_000);
    expect(upstream.state().circuit).toBe('half_open');
    await upstream.send(WALLET);
    expect(upstream.state().circuit).toBe('closed');
  });

  test('a payer whom the service fails does not keep the merchant, nor other payers, from it', async () => {
    const { upstream, service } = await start((response) => json(response, 500, {}));
    const startOf = (token: string) => ({
      ...PAYOUT,
      requestOptions: { priority: 'payer', subject: { token, network: 'n' } } as const,
    });
    for (let count = 0; count < 8; count += 1) await faultOf(upstream.send(startOf('stranger')));
    expect(upstream.state().circuit).toBe('closed');
    expect(await faultOf(upstream.send(startOf('another')))).toMatchObject({ kind: 'server_error' });
    // The service has answered none of several payers.
    expect(upstream.state().circuits).toMatchObject({ payer: 'open', query: 'closed', money: 'closed' });
    expect(await faultOf(upstream.send(startOf('third')))).toMatchObject({ kind: 'circuit_open' });
    service.answer = (response) => json(response, 200, {});
    await upstream.send(WALLET);
    expect(upstream.state().circuits.payer).toBe('closed');
    await upstream.send(startOf('third'));
  });

  test('a service that one payer alone does not reach is left alone', async () => {
    const { upstream, service } = await start();
    await service.shut();
    const requestOptions = { priority: 'payer', subject: { token: 'only', network: 'n' } } as const;
    for (let count = 0; count < 5; count += 1) await faultOf(upstream.send({ ...PAYOUT, requestOptions }));
    expect(await faultOf(upstream.send({ ...PAYOUT, requestOptions }))).toMatchObject({
      kind: 'circuit_open',
    });
  });

  test('what moves money always probes a service that fails, one request at a time', async () => {
    const held: ServerResponse[] = [];
    const { upstream, service } = await start((response) => json(response, 500, {}));
    for (let count = 0; count < 6; count += 1)
      expect(await faultOf(upstream.send(PAYOUT))).toMatchObject({ kind: 'server_error' });
    for (let count = 0; count < 5; count += 1) await faultOf(upstream.send(WALLET));
    expect(upstream.state().circuits).toMatchObject({ money: 'half_open', query: 'open' });
    service.answer = (response) => held.push(response);
    const probe = upstream.send(PAYOUT);
    await service.next();
    expect(await faultOf(upstream.send(PAYOUT))).toMatchObject({ kind: 'circuit_open', reached: 'no' });
    json(held[0]!, 200, {});
    await probe;
    expect(upstream.state().circuit).toBe('closed');
  });

  test('the circuit is not opened by an unreadable answer, nor by a refusal, nor by endpoints that are not there', async () => {
    const { upstream, service } = await start((response) => response.end('<html>'));
    for (let count = 0; count < 6; count += 1) await faultOf(upstream.send(WALLET));
    service.answer = (response) => json(response, 501, {});
    for (let count = 0; count < 6; count += 1) await faultOf(upstream.send(WALLET));
    service.answer = (response) => json(response, 429, {}, { 'retry-after': '3600' });
    for (let count = 0; count < 6; count += 1) await errorOf(upstream.send(WALLET));
    expect(upstream.state().circuit).toBe('closed');
  });
});

describe('closing', () => {
  test('closing ends after the requests under way, and sends nothing more', async () => {
    const held: ServerResponse[] = [];
    const { upstream, service } = await start((response) => held.push(response));
    const sent = upstream.send(PAYOUT);
    await service.next();
    const closed = upstream.close();
    expect(await faultOf(upstream.send(PAYOUT))).toEqual({
      kind: 'unreachable',
      reached: 'no',
      detail: 'closed',
    });
    json(held[0]!, 200, { ok: true });
    expect(await sent).toMatchObject({ body: { ok: true } });
    await closed;
  });

  test('closing ends the pause before a second try', async () => {
    const { upstream } = await start((response) => json(response, 502, {}));
    const read = faultOf(upstream.get(WALLET));
    await turns(50);
    await upstream.close();
    expect(await read).toMatchObject({ kind: 'server_error' });
  });
});

describe('a list that ignores what was asked for', () => {
  const rows = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ id: `r${from + index}` }));

  test.each([
    ['ignores limit and offset', { rows: rows(0, 20_000), total: 20_000 }, 20_000],
    ['ignores limit alone', { rows: rows(200, 20_000), total: 20_000 }, 20_000],
    ['gives its own length as the total', { rows: rows(0, 900), total: 900, limit: 900 }, 900],
    ['has no total', { rows: rows(0, 900) }, 900],
    ['is bare', rows(0, 900), 900],
  ])('of a list that %s the page is taken', async (_, body, total) => {
    const { upstream } = await start((response) => json(response, 200, body));
    const path = '/v1/payouts?limit=100&offset=200' as const;
    const answer = await upstream.get({ ...WALLET, path });
    expect(Object.values(answer.body as object)).toContainEqual(rows(200, 300));
    expect(answer.body).toMatchObject({ total });
  });

  test('what is no longer than asked for stays as it is, and so does a resource', async () => {
    const body = { rows: rows(0, 100), total: 900, etiquetas: ['a'] };
    const { upstream } = await start((response) => json(response, 200, body));
    const get = async (path: `/v1/${string}`) => (await upstream.get({ ...WALLET, path })).body;
    expect(await get('/v1/payouts?limit=100&offset=0')).toEqual(body);
    expect(await get('/v1/payouts/1')).toEqual(body);
  });
});
