import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LIVE_KEY, startApp, type TestApp } from '../support/app.ts';
import { createManualClock } from '../support/clock.ts';
import { openFreshDatabase } from '../support/database.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { recordStatements } from '../support/statements.ts';

// Requests of one network without a valid credential: a few a minute are answered, and the rest cost nothing.

const LIMIT = 20;
const ENVIRONMENT = { PSA_TRUSTED_PROXIES: '127.0.0.1' };
const VALID = '{ viewer { credential } }';

let app: TestApp;
let statements: string[];
beforeEach(async () => {
  const clock = createManualClock();
  const recorded = recordStatements(await openFreshDatabase(clock));
  statements = recorded.statements;
  app = await startApp({
    clock,
    database: recorded.database,
    environment: ENVIRONMENT,
    strangerLimit: LIMIT,
  });
});
afterEach(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const NETWORK = { 'x-forwarded-for': '198.51.100.7' };
const ELSEWHERE = { 'x-forwarded-for': '198.51.100.8' };
const queries = (table: string) => statements.filter((text) => text.includes(`from "${table}"`)).length;

/** The statuses of this number of requests, each with its count. */
async function statuses(
  count: number,
  ask: (index: number) => Promise<number>,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let index = 0; index < count; index += 1) {
    const status = await ask(index);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

describe.each<[string, number, (index: number) => { credential: string | null; query: string }]>([
  ['a document without a credential', 401, () => ({ credential: null, query: VALID })],
  ['a document that is refused', 400, (index) => ({ credential: null, query: `{ no${index} }` })],
  [
    'a refused document with an unknown key',
    400,
    (index) => ({ credential: key(index), query: `{${index}` }),
  ],
  ['an unknown key', 401, (index) => ({ credential: key(index), query: VALID })],
  ['one unknown key again and again', 401, () => ({ credential: key(0), query: VALID })],
  ['an unknown token', 401, (index) => ({ credential: `ps_checkout_${index}`, query: VALID })],
  ['what is no credential', 401, () => ({ credential: 'ç', query: VALID })],
])('%s', (_, status, of) => {
  test(`One network gets ${LIMIT} responses a minute to requests of this kind`, async () => {
    const ask = async (index: number, headers: Record<string, string> = NETWORK) => {
      const { credential, query } = of(index);
      const answer = await fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json',
          ...headers,
          ...(credential !== null && { authorization: `Bearer ${encodeURIComponent(credential)}` }),
        },
        body: JSON.stringify({ query }),
      });
      return {
        status: answer.status,
        retryAfter: answer.headers.get('retry-after'),
        body: await answer.json(),
      };
    };
    const asked = await statuses(30, async (index) => (await ask(index)).status);
    expect(asked).toEqual({ [status]: LIMIT, 429: 10 });
    const refused = await ask(99);
    expect(refused.retryAfter).toBe('60');
    expect(refused.body).toEqual({
      errors: [
        {
          message: `Rate limit exceeded: ${LIMIT} requests without a known credential a minute`,
          extensions: { code: 'RATE_LIMITED', retryPolicy: 'SAME_KEY', retryAfterSeconds: 60 },
        },
      ],
    });
    expect((await ask(0, ELSEWHERE)).status).toBe(status);
    app.clock.advance(60_000);
    expect((await ask(1)).status).toBe(status);
  });
});

function key(index: number): string {
  return `ps_live_${String(index).padStart(24, '0')}`;
}

test('Unknown keys cause at most one query of the database for each response, and one key causes one a second', async () => {
  const ask = (credential: string) => app.client(credential, NETWORK).send(VALID);
  const before = queries('api_key');
  await Promise.all(Array.from({ length: 60 }, (_, index) => ask(key(index))));
  // Keys that come at once share a query.
  expect(queries('api_key') - before).toBeGreaterThan(0);
  expect(queries('api_key') - before).toBeLessThanOrEqual(LIMIT);
  app.clock.advance(60_000);
  const again = queries('api_key');
  for (let time = 0; time < 10; time += 1) await ask(key(99));
  expect(queries('api_key') - again).toBe(1);
  app.clock.advance(1_000);
  await ask(key(99));
  expect(queries('api_key') - again).toBe(2);
});

test('A known key is admitted beside unknown ones, and does not count against their limit', async () => {
  const live = app.client(LIVE_KEY, NETWORK);
  for (let time = 0; time < 3 * LIMIT; time += 1) await live.request(VALID);
  expect(await statuses(30, async () => (await app.client(null, NETWORK).send(VALID)).status)).toEqual({
    401: LIMIT,
    429: 10,
  });
  await live.request(VALID);
  app.clock.advance(5_000);
  await live.request(VALID);
});

test('REST requests without a known credential count against the same limit as those of GraphQL', async () => {
  const ask = async (index: number) => {
    const answer = await fetch(`${app.url}/v1/wallet`, {
      headers: { ...NETWORK, ...(index % 2 ? { authorization: `Bearer ${key(index)}` } : {}) },
    });
    if (answer.status === 429) {
      expect(answer.headers.get('retry-after')).toBe('60');
      expect((await answer.json()).error).toContain('requests without a known credential a minute');
    }
    return answer.status;
  };
  expect((await app.client(null, NETWORK).send(VALID)).status).toBe(401);
  expect(await statuses(30, ask)).toEqual({ 401: LIMIT - 1, 429: 11 });
  const known = { ...ELSEWHERE, authorization: `Bearer ${LIVE_KEY}` };
  expect((await fetch(`${app.url}/v1/wallet`, { headers: known })).status).toBe(200);
});

test('WebSockets without a known credential are closed with 1013 beyond the limit', async () => {
  const codes: number[] = [];
  for (let index = 0; index < LIMIT + 2; index += 1) {
    const socket = openRawSocket(app.url, { headers: NETWORK });
    await socket.init(index % 2 ? key(index) : null).catch(() => undefined);
    codes.push((await socket.closed).code);
  }
  expect(codes.slice(0, LIMIT)).toEqual(Array(LIMIT).fill(4403));
  expect(codes.slice(LIMIT)).toEqual([1013, 1013]);
  const socket = openRawSocket(app.url, { headers: ELSEWHERE });
  expect(await socket.init(LIVE_KEY)).toEqual({ type: 'connection_ack' });
  socket.socket.close();
});

test('The payer’s page limits forms and unknown order codes for each network, and not the pages of payments', async () => {
  const { createCardPayment } = await app.live.request(
    'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
  );
  const { orderCode } = createCardPayment.cardPayment;
  const page = (code: string, init: RequestInit = {}, headers: Record<string, string> = NETWORK) =>
    fetch(`${app.url}/checkout/${code}`, { redirect: 'manual', headers, ...init });
  const form = { method: 'POST', body: new URLSearchParams({ number: '4' }) };
  expect(await statuses(30, async () => (await page(orderCode)).status)).toEqual({ 200: 30 });
  expect(await statuses(30, async () => (await page(orderCode, form)).status)).toEqual({
    422: LIMIT,
    429: 10,
  });
  const refused = await page(orderCode, form);
  expect(refused.headers.get('retry-after')).toBe('60');
  const text = await refused.text();
  expect(text).toContain('Aguarde um instante');
  expect(text).not.toMatch(/fraude|suspeit/i);
  expect((await page(orderCode, form, ELSEWHERE)).status).toBe(422);

  const before = queries('card_payment');
  const unknown = (index: number) => `PSC-${String(index).padStart(24, '0')}`;
  const paths = (index: number) => (index % 2 ? unknown(index) : `${unknown(index)}/status`);
  expect(await statuses(30, async (index) => (await page(paths(index))).status)).toEqual({
    404: LIMIT,
    429: 10,
  });
  expect(queries('card_payment') - before).toBe(LIMIT);
  expect((await page(orderCode, {}, ELSEWHERE)).status).toBe(200);
});
