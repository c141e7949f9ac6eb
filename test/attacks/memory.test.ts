import { Agent, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRawSocket, type RawSocket } from '../support/raw-socket.ts';
import { scale } from '../support/scale.ts';
import { LIVE_KEY, type Memory, report, startTargetServer, type TargetServer } from './target-server.ts';

// Requests that all differ: what the server keeps of one, it keeps of each. The server has a heap of 256 MB, as
// every server in these tests, and its memory must stop growing.

const REQUESTS = scale('DISTINCT_REQUESTS');
const AT_ONCE = 32;
/** The most that the server may hold, its own code included. */
const MOST_HELD_MB = 120;
/** The most that it may grow in the last quarter, when every cache is full. */
const MOST_GROWTH_MB = 12;
const QUARTERS = 4;
const HEAVY = /large variables|wrong/;
const HEAVY_REQUESTS = 100;
/** A sample of 18 requests. */
const MOST_GROWTH_OF_HEAVY_MB = 4;

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: object;
}

const subscription = 'subscription { allPayoutUpdates { cursor } }';
const ignored = 'x'.repeat(90_000);
const valid = (index: number) => `{ wallet { currency } rateLimit { limit } n${index}: __typename }`;
const code = (index: number) => index.toString(32).toUpperCase().padStart(8, '0');

/** The request with a part that is never the same twice. */
const KINDS: Record<string, (index: number) => Sent> = {
  'a document that is not allowed, with large variables': (index) => ({
    headers: ACCEPT,
    body: { query: `{q${index < 0 ? `_${-index}` : index}}`, variables: { ignored } },
  }),
  'a document that is not allowed': (index) => ({ body: { query: `{q${index}}` } }),
  'a document that is none': (index) => ({ body: { query: `{${index}` } }),
  'a document that anybody may send': (index) => ({ body: { query: `{n${index}:__typename}` } }),
  'a long one': (index) => ({ body: { query: `{n${index}:__typename}#${ignored.slice(0, 20_000)}` } }),
  'a dense one': (index) => ({
    body: { query: `{${Array.from({ length: 90 }, (_, at) => `n${index}_${at}:__typename`).join(' ')}}` },
  }),
  'a document of a key': (index) => ({ headers: KEY, body: { query: valid(index) } }),
  'a document of a key, asked for until it is compiled': (index) => ({
    headers: KEY,
    body: { query: valid(Math.floor(index / 4)) },
  }),
  'variables of a key': (index) => ({
    headers: KEY,
    body: {
      query: 'query ($code: String!) { cardPayment(orderCode: $code) { status } }',
      variables: { code: `ORD-${code(index)}` },
    },
  }),
  'variables that are wrong': (index) => ({
    headers: { ...KEY, ...ACCEPT },
    body: {
      query: 'query ($n: Int) { payouts(first: $n) { nodes { id } } }',
      variables: { n: [index, ignored] },
    },
  }),
  'the name of an operation': (index) => ({
    headers: KEY,
    body: { query: `query A${index % 50} { wallet { currency } }`, operationName: `B${index}` },
  }),
  'a credential': (index) => ({
    headers: { authorization: `Bearer ps_live_${code(index)}${'z'.repeat(24)}` },
    body: { query: '{ wallet { currency } }' },
  }),
  'what is accepted': (index) => ({
    headers: { ...KEY, accept: `application/json, text/x-${index}` },
    body: { query: '{ wallet { currency } }' },
  }),
  'an event stream': (index) => ({
    headers: { accept: 'text/event-stream' },
    body: { query: `${subscription} # ${index}` },
  }),
  'an origin': (index) => ({
    headers: { origin: `https://shop-${index}.example` },
    body: { query: '{ wallet { currency } }' },
  }),
  'a host': (index) => ({ headers: { host: `h${index}.example` }, method: 'GET', path: '/healthz' }),
  'a query in an address': (index) => ({
    method: 'GET',
    path: `/graphql?query=${encodeURIComponent(`{n${index}:__typename}`)}&ignored=${ignored.slice(0, 8_000)}`,
  }),
  'a path': (index) => ({ method: 'GET', path: `/p${index}/x` }),
  'a path of REST': (index) => ({ method: 'GET', path: `/v1/payouts/${code(index)}`, headers: KEY }),
  'an order code': (index) => ({ method: 'GET', path: `/checkout/ORD-${code(index)}` }),
};
/** An `accept` header that gives each refusal an HTTP status of its own. */
const ACCEPT = { accept: 'application/graphql-response+json' };
const KEY = { authorization: `Bearer ${LIVE_KEY}` };

let target: TargetServer;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

beforeAll(async () => {
  target = await startTargetServer({ environment: { PSA_TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(async () => {
  agent.destroy();
  expect(await target.faults()).toEqual([]);
  await target.stop();
});

/** Each request comes from another network, so that no limit ends it early. */
function ask(
  { method = 'POST', path = '/graphql', headers = {}, body }: Sent,
  index: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(
      {
        agent,
        method,
        path,
        host: '127.0.0.1',
        port: target.port,
        headers: {
          'x-forwarded-for': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode!));
        answer.once('error', reject);
      },
    );
    asked.once('error', reject);
    asked.end(body && JSON.stringify(body));
  });
}

/** Sends the operations one after the other over one socket. */
async function askOverSocket(socket: RawSocket, index: number): Promise<void> {
  const query = [`{q${index}}`, `{n${index}:__typename}`, `subscription { q${index} }`, `{${index}`][
    index % 4
  ]!;
  socket.send({ id: `o${index}`, type: 'subscribe', payload: { query } });
  while ((await socket.next()).type === 'next');
}

test('A refused request leaves nothing of its content in memory', async () => {
  const kinds = Object.entries(KINDS).filter(([name]) => HEAVY.test(name));
  expect(kinds).toHaveLength(2);
  const held: number[] = [];
  // The first round creates what is created once.
  for (const round of [1, 2]) {
    for (const [name, of] of kinds)
      for (let index = 0; index < HEAVY_REQUESTS; index += 1)
        expect([name, await ask(of(-round * HEAVY_REQUESTS - index), index)]).toEqual([name, 400]);
    held.push((await target.memory()).heldMb);
  }
  expect(held[1]! - held[0]!).toBeLessThan(MOST_GROWTH_OF_HEAVY_MB);
});

test(`${REQUESTS} requests, no two of them alike, leave nothing behind that grows`, async () => {
  const kinds = Object.values(KINDS);
  const socket = openRawSocket(target.url);
  await socket.init(LIVE_KEY);
  const memory: Memory[] = [];
  let index = 0;
  const statuses = new Map<number, number>();
  for (let quarter = 0; quarter < QUARTERS; quarter += 1) {
    const until = Math.round((REQUESTS * (quarter + 1)) / QUARTERS);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let own = index++; own < until; own = index++) {
          const status = await ask(kinds[own % kinds.length]!(own), own);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      }),
    );
    for (let own = until - Math.round(REQUESTS / 100); own < until; own += 1)
      await askOverSocket(socket, own);
    index = until;
    memory.push(await target.memory());
  }
  socket.socket.terminate();
  const held = memory.map(({ heldMb }) => heldMb);
  report('MB held after each quarter', Object.fromEntries(held.map((mb, at) => [`${at + 1}`, mb])));
  expect(Math.max(...held)).toBeLessThan(MOST_HELD_MB);
  expect(held.at(-1)! - held.at(-2)!).toBeLessThan(MOST_GROWTH_MB);
  // The server has answered all requests, and none with an internal fault.
  expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
  expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(REQUESTS);
  expect(statuses.get(200)).toBeGreaterThan(REQUESTS / 10);
}, 3_600_000);
