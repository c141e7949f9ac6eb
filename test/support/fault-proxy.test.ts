import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createManualClock } from './clock.ts';
import { deferred } from './deferred.ts';
import { type Arrival, type Fault, inTurn, PASS, type Plan, seeded, startFaultProxy } from './fault-proxy.ts';

/** An upstream that records its requests, and the proxy in front of it, on the test's clock. */
async function start(plan?: Plan) {
  const asked: { method: string | undefined; path: string | undefined; key: string; body: string }[] = [];
  const upstream = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { method, url: path, headers } = request;
      asked.push({ method, path, key: headers.authorization ?? '', body });
      response
        .writeHead(method === 'POST' ? 201 : 200, { 'ratelimit-limit': '120' })
        .end(`{"n":${asked.length}}`);
    });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const clock = createManualClock();
  const { port } = upstream.address() as AddressInfo;
  const proxy = await startFaultProxy({ target: `http://127.0.0.1:${port}`, clock, ...(plan && { plan }) });
  onTestFinished(async () => {
    await proxy.close();
    upstream.closeAllConnections();
    upstream.close();
  });
  const get = (path = '/v1/wallet', init: RequestInit = {}) =>
    fetch(`${proxy.url}${path}`, {
      ...init,
      headers: { authorization: 'Bearer ps_live_secret' },
    });
  const post = (body: object) => get('/v1/payouts', { method: 'POST', body: JSON.stringify(body) });
  return { asked, clock, proxy, get, post };
}

describe('a fault proxy', () => {
  test('A fault proxy passes requests and responses on unchanged', async () => {
    const { asked, get, post, proxy } = await start();
    const answer = await post({ amountCents: 100, idempotencyKey: 'saque-1' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('ratelimit-limit')).toBe('120');
    expect(await answer.json()).toEqual({ n: 1 });
    await get('/v1/payouts?limit=2');
    expect(asked).toEqual([
      {
        method: 'POST',
        path: '/v1/payouts',
        key: 'Bearer ps_live_secret',
        body: '{"amountCents":100,"idempotencyKey":"saque-1"}',
      },
      { method: 'GET', path: '/v1/payouts?limit=2', key: 'Bearer ps_live_secret', body: '' },
    ]);
    expect(proxy.arrivals).toMatchObject([
      {
        n: 0,
        method: 'POST',
        environment: 'live',
        idempotencyKey: 'saque-1',
        fault: PASS,
        upstreamStatus: 201,
      },
      { n: 1, method: 'GET', path: '/v1/payouts?limit=2', idempotencyKey: null, upstreamStatus: 200 },
    ]);
  });

  test.each<[Fault, status: number, retryAfter: string | null]>([
    [{ kind: 'status', status: 429, when: 'before', retryAfterSeconds: 7 }, 429, '7'],
    [{ kind: 'status', status: 429, when: 'before' }, 429, null],
    [{ kind: 'status', status: 500, when: 'before' }, 500, null],
    [{ kind: 'status', status: 502, when: 'before' }, 502, null],
    [{ kind: 'status', status: 500, when: 'after' }, 500, null],
    [{ kind: 'status', status: 502, when: 'after' }, 502, null],
  ])('A fault proxy answers in place of the upstream: %j', async (fault, status, retryAfter) => {
    const { asked, post, proxy } = await start(() => fault);
    const answer = await post({});
    expect(answer.status).toBe(status);
    expect(answer.headers.get('retry-after')).toBe(retryAfter);
    const wasAsked = 'when' in fault && fault.when === 'after';
    expect(asked).toHaveLength(wasAsked ? 1 : 0);
    expect(proxy.arrivals[0]).toMatchObject({ fault, upstreamStatus: wasAsked ? 201 : null });
  });

  test.each(['before', 'after'] as const)(
    'A fault proxy resets a connection %s it has passed the request on',
    async (when) => {
      const { asked, post } = await start(inTurn([{ kind: 'reset', when }]));
      await expect(post({})).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
      expect(asked).toHaveLength(when === 'after' ? 1 : 0);
      expect((await post({})).status).toBe(201);
    },
  );

  test.each(['before', 'after'] as const)(
    'A fault proxy hangs %s it has passed the request on, until the client gives up',
    async (when) => {
      const planned = deferred<Arrival>();
      const { asked, get, proxy } = await start((arrival) => {
        planned.resolve(arrival);
        return { kind: 'hang', when };
      });
      const client = new AbortController();
      const answer = get('/v1/wallet', { signal: client.signal });
      await planned.promise;
      await proxy.idle();
      expect(asked).toHaveLength(when === 'after' ? 1 : 0);
      client.abort();
      await expect(answer).rejects.toThrow('aborted');
    },
  );

  test.each(['before', 'after'] as const)(
    'A fault proxy waits %s it has passed the request on',
    async (when) => {
      const planned = deferred<Arrival>();
      const { asked, clock, get, proxy } = await start((arrival) => {
        planned.resolve(arrival);
        return { kind: 'delay', when, ms: 5_000 };
      });
      const answer = get();
      await planned.promise;
      await proxy.idle();
      expect(asked).toHaveLength(when === 'after' ? 1 : 0);
      clock.advance(5_000);
      expect((await answer).status).toBe(200);
      expect(asked).toHaveLength(1);
    },
  );

  test('A fault proxy sends one byte of a response a second', async () => {
    const { clock, get } = await start(() => ({ kind: 'slow', bytesPerSecond: 1 }));
    const answer = await get();
    const reader = answer.body!.getReader();
    const read = async () => Buffer.from((await reader.read()).value ?? []).toString();
    expect(await read()).toBe('{');
    clock.advance(1_000);
    expect(await read()).toBe('"');
    clock.advance(5_999);
    let rest = '';
    while (rest.length < 5) rest += await read();
    expect(rest).toBe('n":1}');
    clock.advance(1);
    expect(await reader.read()).toMatchObject({ done: true });
  });

  test('A fault proxy whose upstream cannot be reached resets the connection', async () => {
    const { get, proxy } = await start();
    proxy.target = 'http://127.0.0.1:1';
    await expect(get()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect(proxy.arrivals[0]).toMatchObject({ upstreamStatus: null });
  });

  test('A fault proxy counts the most requests that arrived within any span', async () => {
    const { clock, get, proxy } = await start();
    for (const pauseMs of [0, 30, 29, 1, 40, 59]) {
      clock.advance(pauseMs);
      await get();
    }
    // The requests arrive at 0, 30, 59, 60, 100 and 159.
    expect(proxy.maxInWindow(60)).toBe(3);
    expect(proxy.maxInWindow(61)).toBe(4);
    expect(proxy.maxInWindow(1)).toBe(1);
    expect(proxy.maxInWindow(1_000)).toBe(6);
  });

  test('A fault proxy names the keys that the upstream has handled twice', async () => {
    const { post, proxy } = await start(
      inTurn([PASS, { kind: 'reset', when: 'before' }, { kind: 'reset', when: 'after' }]),
    );
    for (const idempotencyKey of ['a', 'b', 'b', 'b', 'c']) await post({ idempotencyKey }).catch(() => null);
    expect(proxy.repeated(({ idempotencyKey }) => idempotencyKey)).toEqual(['b']);
    expect(proxy.repeated(() => null)).toEqual([]);
  });

  test('A seeded plan fails the same requests for the same seed, and about as many as it is set to', () => {
    const plan = (seed: number) =>
      seeded(seed, {
        of: 10,
        faults: [
          [1, { kind: 'reset', when: 'after' }],
          [2, { kind: 'hang', when: 'before' }],
        ],
      });
    const kinds = (seed: number) => {
      const decide = plan(seed);
      return Array.from({ length: 1_000 }, () => decide({} as Arrival).kind);
    };
    expect(kinds(7)).toEqual(kinds(7));
    expect(kinds(7)).not.toEqual(kinds(8));
    const share = (kind: string) => kinds(7).filter((each) => each === kind).length;
    expect(share('reset')).toBeGreaterThan(70);
    expect(share('reset')).toBeLessThan(130);
    expect(share('hang')).toBeGreaterThan(160);
    expect(share('hang')).toBeLessThan(240);
  });
});
