import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sendRaw } from '../support/raw-http.ts';
import { openRawSocket, type RawSocket } from '../support/raw-socket.ts';
import { scale } from '../support/scale.ts';
import { ANSWERED, bodyOf, CREATE, type Operation, REFUSED } from './documents.ts';
import { LIVE_KEY, report, startTargetServer, type TargetServer } from './target-server.ts';

// Documents and requests that ask for more than they may: each is refused as its sender's mistake, runs nothing,
// and costs little to refuse. The cost is compared only in the large sizes.

const TIMES = scale('REFUSALS');
const MOST_CPU_MS = 50;
/** A text larger than the buffers on its way. */
const LARGEST_TOLD = 400_000;
/** The limits of an HTTP body and of a message. */
const BODY_LIMIT = 100_000;
/** Texts that no answer may have: stacks, SQL, paths of the server. */
const OURS = /node_modules|\bat \S+ \(|\.[jt]s:\d|ps_live_a|postgres|dist\//;

let target: TargetServer;
let browsersToken: string;
let socket: RawSocket;
let changes: number;
const slowest: [name: string, ms: number][] = [];

beforeAll(async () => {
  target = await startTargetServer();
  const { createCheckoutToken } = await target.live.request(
    `mutation { createCheckoutToken(input: { amount: { fixedCents: 100 }, reusable: true, allowedOrigins: ["https://shop.example"] }) {
      ... on CreateCheckoutTokenSuccess { token } } }`,
  );
  browsersToken = createCheckoutToken.token;
  await target.live.request('{ wallet { currency } }');
  changes = await target.changes();
});
afterEach(async () => {
  expect(await target.changes()).toBe(changes);
});
afterAll(async () => {
  socket?.socket.terminate();
  slowest.sort(([, left], [, right]) => right - left);
  report('the dearest refusals, in ms of CPU', Object.fromEntries(slowest.slice(0, 12)));
  expect(await target.faults()).toEqual([]);
  await target.stop();
});

/**
 * Measures the server's CPU time for a request: the least of many, because other work only adds. Returns the last
 * answer.
 */
async function weighed<Answer>(name: string, once: (time: number) => Promise<Answer>): Promise<Answer> {
  const spent: number[] = [];
  let answer = await once(0);
  for (let time = 1; time < TIMES; time += 1) {
    const before = await target.cpuMs();
    answer = await once(time);
    spent.push((await target.cpuMs()) - before);
  }
  if (spent.length > 0) {
    const least = Math.min(...spent);
    slowest.push([name, least]);
    expect(least).toBeLessThan(MOST_CPU_MS);
  }
  return answer;
}

/** The same query as a new text that the server does not know yet. */
function another(operation: Operation, time: number): Operation {
  const { query } = operation;
  return typeof query === 'string' && query !== '' && time > 0
    ? { ...operation, query: `${query}\n#${time} ${names++}` }
    : operation;
}
let names = 0;

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever it answers
  body: any;
  text: string;
}

async function ask(
  body: string | Uint8Array<ArrayBuffer> | null,
  { path = '', method = 'POST', ...headers }: Record<string, string> = {},
): Promise<Answer> {
  if (body !== null && body.length > LARGEST_TOLD) return askRaw(body, headers);
  const response = await fetch(`${target.url}/graphql${path}`, {
    method,
    headers: {
      authorization: `Bearer ${LIVE_KEY}`,
      accept: 'application/graphql-response+json, text/event-stream;q=0.5',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === null ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, text, body: text === '' ? null : JSON.parse(text) };
}

/** Sends raw bytes. A client that still sends when it is answered may find the connection closed. */
async function askRaw(body: string | Uint8Array, headers: Record<string, string>): Promise<Answer> {
  const lines = Object.entries({
    host: 'x',
    authorization: `Bearer ${LIVE_KEY}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  const said = await sendRaw(
    target.port,
    `POST /graphql HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
    /\}\]\}$/,
  );
  // A client whose request is cut off may lose the answer.
  if (said === '') return { status: 413, text: '', body: { errors: [] } };
  const [head = '', text = ''] = said.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), text, body: JSON.parse(text) };
}

/** Asserts a refusal with this status: errors with a code, no data, nothing internal. */
function expectRefused(
  { status, body, text }: Answer,
  expected = 400,
  code = expected === 405 ? 'METHOD_NOT_ALLOWED' : 'BAD_USER_INPUT',
): void {
  expect(status).toBe(expected);
  // A field that was refused is null.
  expect(Object.values(body.data ?? {}).filter((value) => value !== null)).toEqual([]);
  for (const error of body.errors) expect(error.extensions).toMatchObject({ code });
  expectHarmless(text);
}

function expectHarmless(text: string): void {
  expect(text).not.toMatch(OURS);
  // An answer is no larger than a request may be, so that the server cannot be used to flood others.
  expect(text.length).toBeLessThan(BODY_LIMIT);
}

async function speak(operation: Operation): Promise<{ type: string; text: string }> {
  if (!socket || socket.socket.readyState !== socket.socket.OPEN) {
    socket = openRawSocket(target.url);
    await socket.init(LIVE_KEY);
  }
  socket.send(`{"id":"a","type":"subscribe","payload":${bodyOf(operation)}}`);
  return socket.next().then(
    async (message) => {
      if (message.type === 'next') await socket.next();
      return { type: message.payload.data ? 'data' : 'error', text: JSON.stringify(message.payload) };
    },
    async () => ({ type: String((await socket.closed).code), text: '' }),
  );
}

describe('an operation that may not be', () => {
  test.each(REFUSED)('An operation that is not allowed is refused over HTTP: %s', async (name, operation) => {
    const tooLarge = bodyOf(operation).length > BODY_LIMIT;
    const answer = await weighed(name, (time) => ask(bodyOf(another(operation, time))));
    expectRefused(answer, tooLarge ? 413 : 400);
  });

  test.each(REFUSED)(
    'An operation that is not allowed is refused over a WebSocket: %s',
    async (name, operation) => {
      const { type, text } = await weighed(`${name} (WebSocket)`, (time) => speak(another(operation, time)));
      expect(['error', '4400', '1009']).toContain(type);
      expectHarmless(text);
      if (type === 'error') expect(text).toContain('"code":"BAD_USER_INPUT"');
    },
  );
});

describe('an odd operation', () => {
  test.each(ANSWERED)(
    'An unusual operation is answered as it is written: %s',
    async (name, operation, data) => {
      const { body, text } = await weighed(name, () => ask(bodyOf(operation)));
      expect(body).toEqual({ data });
      expectHarmless(text);
      expect((await speak(operation)).type).toBe('data');
    },
  );
});

describe('a request that may not be', () => {
  const json = JSON.stringify({ query: CREATE });
  const form = new URLSearchParams({ query: CREATE }).toString();
  const multipart = `--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${json}\r\n--x--\r\n`;
  const type = (text: string) => ({ 'content-type': text });
  const get = (parameters: Record<string, string>) => ({
    method: 'GET',
    path: `?${new URLSearchParams(parameters)}`,
  });

  const REQUESTS: [
    name: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    how: Record<string, string>,
    status: number,
    code?: string,
  ][] = [
    ['a batch of 1,000', JSON.stringify(Array.from({ length: 1_000 }, () => ({ query: CREATE }))), {}, 400],
    ['a batch of one', `[${json}]`, {}, 400],
    ['an empty batch', '[]', {}, 400],
    ['a batch in a batch', `[[${json}]]`, {}, 400],
    ['90,000 brackets', '['.repeat(90_000), {}, 400],
    ['45,000 brackets in brackets', `${'['.repeat(45_000)}${']'.repeat(45_000)}`, {}, 400],
    ['10 MB', JSON.stringify({ query: CREATE, variables: { padding: 'x'.repeat(10_000_000) } }), {}, 413],
    [
      '10 MB that is called compressed',
      gzipSync(Buffer.alloc(10_000_000, json)),
      { 'content-encoding': 'gzip' },
      415,
    ],
    ['a body that is compressed', gzipSync(json), { 'content-encoding': 'gzip' }, 415],
    ['a form', form, type('application/x-www-form-urlencoded'), 415],
    ['a multipart form', multipart, type('multipart/form-data; boundary=x'), 415],
    ['plain text', json, type('text/plain'), 415],
    ['GraphQL as it is', CREATE, type('application/graphql'), 415],
    ['JSON of another kind', json, type('application/vnd.api+json'), 415],
    ['JSON with a comma behind its type', json, type('application/json, text/plain'), 415],
    ['JSON in UTF-16', json, type('application/json; charset=utf-16'), 415],
    ['JSON in two charsets', json, type('application/json; charset=utf-8; charset=utf-7'), 415],
    ['a mutation by GET', null, get({ query: CREATE }), 405],
    [
      'a mutation by GET behind a query',
      null,
      get({
        query: `query A { wallet { id } } ${CREATE.replace('mutation', 'mutation B')}`,
        operationName: 'B',
      }),
      405,
    ],
    ['variables that are none, by GET', null, get({ query: '{ wallet { id } }', variables: '[[' }), 400],
    [
      'two queries by GET',
      null,
      {
        method: 'GET',
        path: `?query=${encodeURIComponent(CREATE)}&query=${encodeURIComponent('{ wallet { id } }')}`,
      },
      400,
    ],
    [
      'the id of a document that nobody knows',
      JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } }),
      {},
      404,
      'PERSISTED_QUERY_NOT_FOUND',
    ],
    [
      'the hash of another document',
      JSON.stringify({
        query: CREATE,
        extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } },
      }),
      {},
      400,
    ],
    [
      'an id in place of a document',
      JSON.stringify({ id: 'createCardPayment', documentId: 'x' }),
      {},
      404,
      'PERSISTED_QUERY_NOT_FOUND',
    ],
    ['a parameter that nobody knows', JSON.stringify({ query: CREATE, __proto__x: 1 }), {}, 400],
    [
      'a query in the address, and none in the body',
      '{}',
      { path: `?query=${encodeURIComponent(CREATE)}` },
      400,
    ],
    ['a body with NUL before it', `\0${json}`, {}, 400],
    ['a body that is not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), {}, 400],
    ['nothing but a mark of byte order', '\uFEFF', {}, 400],
    ['a number', '1', {}, 400],
    ['a text', '"{ wallet { id } }"', {}, 400],
  ];

  test.each(REQUESTS)(
    'A request that is not allowed is refused: %s',
    async (name, body, how, status, code) => {
      const answer = await weighed(name, () => ask(body, how));
      expectRefused(answer, status, code);
    },
  );

  test('A request of 10 MB in chunks is refused before the rest of it is read', async () => {
    const chunk = `${(50_000).toString(16)}\r\n${'x'.repeat(50_000)}\r\n`;
    const head = `POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${LIVE_KEY}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    const answer = await weighed('10 MB in chunks', () =>
      sendRaw(target.port, head + chunk.repeat(200), /\}\]\}$/),
    );
    expect(answer).toMatch(/^(HTTP\/1\.1 413 |$)/);
  });

  test('A browser’s token is refused where it asks for the schema or comes from another page', async () => {
    const authorization = `Bearer ${browsersToken}`;
    for (const query of [
      '{ __schema { types { name } } }',
      '{ __type(name: "Query") { name } }',
      'query A { __schema { queryType { name } } } query B { viewer { credential } }',
    ]) {
      const answer = await ask(
        JSON.stringify({ query, ...(query.startsWith('query A') && { operationName: 'B' }) }),
        { authorization, origin: 'https://shop.example' },
      );
      expectRefused(answer, 403, 'FORBIDDEN');
    }
    for (const origin of [
      'https://evil.example',
      'null',
      'https://shop.example.evil.example',
      'https://shop.example:444',
      'http://shop.example',
    ])
      expectRefused(
        await ask(JSON.stringify({ query: '{ viewer { credential } }' }), { authorization, origin }),
        403,
        'FORBIDDEN',
      );
  });

  test('A request without a valid credential is refused', async () => {
    for (const authorization of [
      '',
      'Bearer',
      'Bearer x',
      `Basic ${btoa(`a:${LIVE_KEY}`)}`,
      `Bearer ${'x'.repeat(10_000)}`,
      `Bearer ${LIVE_KEY} x`,
      `Bearer ${LIVE_KEY}, Bearer ${LIVE_KEY}`,
    ])
      expectRefused(
        await ask(JSON.stringify({ query: CREATE.replace('mutation', 'mutation ') }), { authorization }),
        401,
        'UNAUTHENTICATED',
      );
  });
});
