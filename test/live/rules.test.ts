import { parse, print } from 'graphql';
import { createClient as createSseClient } from 'graphql-sse';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type ErrorCode, retryOf } from '../../server/src/kernel/error-codes.ts';
import { eventStreamClient } from '../../widget/src/live/event-stream.ts';
import { live } from '../../widget/src/live/live.ts';
import type { Subscribe } from '../../widget/src/live/protocol.ts';
import {
  type LiveClient,
  type LiveRequest,
  type LiveSink,
  type ResumeOptions,
  relaySubscribe,
  resumable,
  streamOptions,
  type Tokens,
  tokens,
  urqlForward,
} from '../../widget/src/live/resume.ts';
import { noteAnswer } from '../../widget/src/live/tokens.ts';

const QUERY = 'subscription ($after: String) { payoutUpdates(id: "1", after: $after) { cursor } }';
const ALL = 'subscription ($after: String) { allPayoutUpdates(after: $after) { cursor } }';

/** A wrapped client whose operations the test ends and answers. */
function scripted(options: ResumeOptions = {}) {
  const operations: { request: LiveRequest; sink: LiveSink; left: boolean }[] = [];
  const waits: number[] = [];
  const client = {
    subscribe(request: LiveRequest, sink: LiveSink): () => void {
      const operation = { request: structuredClone(request), sink, left: false };
      operations.push(operation);
      return () => {
        operation.left = true;
      };
    },
  };
  const wrapped = resumable(client, {
    wait: async (ms) => {
      waits.push(ms);
    },
    ...options,
  });
  const outcome: unknown[] = [];
  const leave = (query = QUERY, variables?: Record<string, unknown>) =>
    wrapped.subscribe(
      { query, ...(variables && { variables }) },
      {
        next: ({ data, errors }) => outcome.push(data ?? errors),
        error: (error) => outcome.push(error),
        complete: () => outcome.push('complete'),
      },
    );
  return { operations, waits, outcome, wrapped, subscribe: leave };
}

/** A sink that ignores everything. */
const IGNORED = { next: () => undefined, error: () => undefined, complete: () => undefined };
const settled = () => new Promise((resolve) => setImmediate(resolve));
const update = (cursor: string) => ({ data: { payoutUpdates: { cursor } } });
const refused = (code: ErrorCode, more = {}) => [
  { message: code, extensions: { code, retryPolicy: retryOf(code), ...more } },
];

test('a subscription that has lost its connection is sent again with the last cursor, and drops what it has had', async () => {
  const { operations, outcome, subscribe } = scripted();
  subscribe();
  operations[0]!.sink.next(update('a'));
  operations[0]!.sink.error({ code: 1006, reason: '' });
  // An ended operation delivers nothing more.
  operations[0]!.sink.next(update('b'));
  await settled();
  expect(operations.map(({ request }) => request.variables)).toEqual([{}, { after: 'a' }]);
  operations[1]!.sink.next(update('a'));
  operations[1]!.sink.next(update('b'));
  operations[1]!.sink.complete();
  expect(outcome).toEqual([update('a').data, update('b').data, 'complete']);
});

test('a subscription to all begins at a cursor that it asks for, unless it is given one', async () => {
  const asking = scripted();
  asking.subscribe(ALL);
  expect(asking.operations[0]!.request.query).toBe('{updatesCursor}');
  asking.operations[0]!.sink.next({ data: { updatesCursor: 'now' } });
  asking.operations[0]!.sink.complete();
  expect(asking.operations[1]!.request).toEqual({ query: ALL, variables: { after: 'now' } });

  const given = scripted();
  given.subscribe(ALL, { after: 'a' });
  expect(given.operations[0]!.request).toEqual({ query: ALL, variables: { after: 'a' } });
});

test.each([
  ['without `cursor`', QUERY, { data: { payoutUpdates: { id: '1' } } }, /select `cursor`/],
  ['without `$after`', 'subscription { allPayoutUpdates { cursor } }', null, /declare `\$after: String`/],
])('a subscription %s is refused with what to change', async (_, query, result, message) => {
  const { operations, outcome, subscribe } = scripted();
  subscribe(query);
  if (result) operations[0]!.sink.next(result);
  await settled();
  expect(outcome).toEqual([expect.objectContaining({ message: expect.stringMatching(message) })]);
  expect(operations.filter(({ left }) => !left)).toEqual([]);
});

test.each([
  ['an error of the document', refused('BAD_USER_INPUT')],
  ['a missing permission', refused('FORBIDDEN')],
  ['an expired cursor without onGap', refused('CURSOR_EXPIRED')],
  ['a malformed message', { code: 4400, reason: '' }],
  ['a request that the server cannot read', Object.assign(new Error('400'), { response: { status: 400 } })],
])('%s ends a subscription', async (_, cause) => {
  const { operations, outcome, subscribe } = scripted();
  subscribe();
  operations[0]!.sink.error(cause);
  await settled();
  expect(operations).toHaveLength(1);
  expect(outcome).toEqual([cause]);
});

test.each([
  ['a server that stops', { code: 1001, reason: '' }],
  ['a client that was too slow', refused('SLOW_CONSUMER')],
  ['a failure of the network', new TypeError('fetch failed')],
  ['an answer of a proxy', Object.assign(new Error('502'), { response: { status: 502 } })],
])('%s is come back from', async (_, cause) => {
  const { operations, outcome, subscribe } = scripted();
  subscribe();
  operations[0]!.sink.error(cause);
  await settled();
  expect(operations).toHaveLength(2);
  expect(outcome).toEqual([]);
});

test('the waits grow until a result comes, and are never shorter than the server asks for', async () => {
  const { operations, waits, subscribe } = scripted();
  subscribe();
  for (let index = 0; index < 12; index += 1) {
    operations[index]!.sink.error({ code: 1006, reason: '' });
    await settled();
  }
  operations[12]!.sink.next(update('a'));
  operations[12]!.sink.error(refused('RATE_LIMITED', { retryAfterSeconds: 40 }));
  await settled();
  expect(waits[0]).toBeLessThanOrEqual(150);
  expect(Math.max(...waits.slice(0, 12))).toBeGreaterThan(15_000);
  expect(Math.max(...waits.slice(0, 12))).toBeLessThanOrEqual(45_000);
  expect(waits[12]).toBeGreaterThanOrEqual(40_000);
});

test('twenty seconds after an answer reset the wait; an attempt without one does not', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
  onTestFinished(() => {
    random.mockRestore();
    vi.useRealTimers();
  });
  const token = tokens(() => 'token');
  const { operations, waits, subscribe } = scripted({ tokens: token });
  subscribe();
  const attempts = [
    { isAnswered: true, ms: 19_000, wait: 100 },
    { isAnswered: false, ms: 70_000, wait: 200 },
    { isAnswered: true, ms: 21_000, wait: 100 },
    { isAnswered: false, ms: 70_000, wait: 200 },
    { isAnswered: false, ms: 91_000, wait: 100 },
  ];
  for (const [index, { isAnswered, ms }] of attempts.entries()) {
    if (isAnswered) noteAnswer(token);
    vi.setSystemTime(Date.now() + ms);
    operations[index]!.sink.error({ code: 1006, reason: '' });
    await settled();
  }
  expect(waits).toEqual(attempts.map(({ wait }) => wait));
});

test('no server is waited for longer than an hour and a quarter', async () => {
  const { operations, waits, subscribe } = scripted();
  subscribe();
  operations[0]!.sink.error(refused('RATE_LIMITED', { retryAfterSeconds: 2_592_000 }));
  await settled();
  expect(waits[0]).toBeGreaterThanOrEqual(3_600_000);
  expect(waits[0]).toBeLessThanOrEqual(4_500_000);
});

test('a getToken that gives no token in time is asked again by the next connection', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const token = tokens(() => {
    asked += 1;
    return asked === 1 ? new Promise<string>(() => undefined) : 'second';
  });
  const first = token.authorization().catch(String);
  vi.advanceTimersByTime(14_999);
  expect(await Promise.race([first, settled()])).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(await first).toContain('getToken');
  expect(await token.authorization()).toBe('Bearer second');
});

test('a refused credential is dropped; the third in a row is final', async () => {
  let asked = 0;
  const token = tokens(() => {
    asked += 1;
    return String(asked);
  });
  const { operations, outcome, subscribe } = scripted({ tokens: token });
  subscribe();
  const values: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    values.push(await token.authorization());
    operations[index]!.sink.error({ code: 4403, reason: 'expired' });
    await settled();
  }
  expect(values).toEqual(['Bearer 1', 'Bearer 2', 'Bearer 3']);
  expect(operations).toHaveLength(3);
  expect(outcome).toEqual([{ code: 4403, reason: 'expired' }]);
});

test.each<[string, (endpoint: string, token: Tokens, fetch: typeof globalThis.fetch) => LiveClient]>([
  ['no library', (endpoint, shared, fetch) => eventStreamClient({ endpoint, tokens: shared, fetch })],
  ['graphql-sse', (url, shared, fetchFn) => createSseClient({ url, ...streamOptions(shared), fetchFn })],
])('a refusal that comes late forgets no token that has come meanwhile: %s', async (_, create) => {
  let asked = 0;
  const shared = tokens(() => {
    asked += 1;
    return String(asked);
  });
  const requests: { token: string | null; refuse(): void }[] = [];
  const hold: typeof fetch = (_url, init) =>
    new Promise((resolve) => {
      const token = new Headers(init?.headers).get('authorization');
      requests.push({ token, refuse: () => resolve(new Response(null, { status: 401 })) });
    });
  const client = resumable(create('https://psa.example/graphql', shared, hold), {
    tokens: shared,
    wait: () => Promise.resolve(),
  });
  const leave = [1, 2].map(() => (client.subscribe as Subscribe)({ query: QUERY }, IGNORED));
  const sent = async (count: number) => {
    await expect.poll(() => requests).toHaveLength(count);
    return requests.map(({ token }) => token);
  };
  await sent(2);
  requests[0]!.refuse();
  await sent(3);
  requests[1]!.refuse();
  expect(await sent(4)).toEqual(['Bearer 1', 'Bearer 1', 'Bearer 2', 'Bearer 2']);
  requests[2]!.refuse();
  expect((await sent(5)).at(-1)).toBe('Bearer 3');
  for (const end of leave) end();
});

test('an expired cursor is reported, and the subscription goes on from the cursor that onGap gives', async () => {
  const { operations, outcome, subscribe } = scripted({ onGap: async () => 'new' });
  subscribe(ALL, { after: 'old' });
  operations[0]!.sink.next({ errors: refused('CURSOR_EXPIRED') });
  await settled();
  expect(operations[1]!.request.variables).toEqual({ after: 'new' });
  expect(outcome).toEqual([]);
});

test('who leaves while it waits is not connected again', async () => {
  const { operations, outcome, subscribe } = scripted();
  const leave = subscribe();
  operations[0]!.sink.error({ code: 1006, reason: '' });
  leave();
  await settled();
  expect(operations).toHaveLength(1);
  expect(outcome).toEqual(['complete']);
});

const FRAGMENT = 'fragment subscription on PixSubscription { status } ';

test.each([
  ['a query', '{ wallet { balanceCents } }'],
  ['the field `subscription`', 'query { subscription(subscriptionId: "psa_sub_1") { status } }'],
  ['that field without a keyword', '{ subscription(subscriptionId: "psa_sub_1") { status } }'],
  ['a query of that name', 'query subscription { wallet { balanceCents } }'],
  [
    'a mutation that selects it',
    print(
      parse(
        `mutation createSubscription($input: CreateSubscriptionInput!) { createSubscription(input: $input) {
          ... on CreateSubscriptionSuccess { subscription { subscriptionId } } } }`,
      ),
    ),
  ],
  ['a fragment of that name', `${FRAGMENT}query { subscription(subscriptionId: "1") { ...subscription } }`],
  ['a comment', '# } subscription { $after: String\n{ wallet { balanceCents } }'],
  ['a string with brackets', 'mutation { create(text: "} subscription { ") { id } }'],
  ['a quote in a string', String.raw`mutation { create(text: "\"} subscription { ") { id } }`],
  [
    'a block string',
    String.raw`mutation { create(text: """
    } "subscription \""" { """) { id } }`,
  ],
])('a request passes through, whatever it names: %s', (_, query) => {
  const { operations, outcome, subscribe } = scripted();
  subscribe(query);
  const cut = { code: 1006, reason: '' };
  operations[0]!.sink.error(cut);
  // A mutation is never sent twice.
  expect(operations.map(({ request }) => request)).toEqual([{ query }]);
  expect(outcome).toEqual([cut]);
});

test.each([
  // A backtracking pattern would take minutes.
  ['many blanks behind it', `${QUERY}${' '.repeat(50_000)}`],
  ['many comments behind it', `${QUERY}\n${'# note\n'.repeat(10_000)}`],
  ['a fragment before it', `${FRAGMENT}${QUERY}`],
  ['a fragment behind it', `${QUERY} ${FRAGMENT}`],
  ['a comment before it', `# query { }\n${QUERY}`],
  ['a default with brackets', QUERY.replace('String', 'String, $filter: F = { name: "){" }')],
  ['a directive', QUERY.replace(') {', ') @live(if: true) {')],
])('a subscription is resumed with %s', async (_, query) => {
  const { operations, subscribe } = scripted();
  subscribe(query);
  operations[0]!.sink.error({ code: 1006, reason: '' });
  await settled();
  expect(operations).toHaveLength(2);
});

const WALLET_AND_UPDATES = `query Wallet { wallet { balanceCents } } ${QUERY.replace('subscription', 'subscription Updates')}`;

test.each([
  ['Updates', 2],
  ['Wallet', 1],
])('of several operations the named one counts: %s is sent %i times', async (operationName, times) => {
  const { operations, wrapped } = scripted();
  wrapped.subscribe({ query: WALLET_AND_UPDATES, operationName }, IGNORED);
  operations[0]!.sink.error({ code: 1006, reason: '' });
  await settled();
  expect(operations).toHaveLength(times);
});

test.each([
  ['query', 1],
  ['mutation', 1],
  ['subscription', 2],
])(
  'of a persisted document the kind of Relay and urql counts: a %s is sent %i times',
  async (kind, times) => {
    const { operations, wrapped } = scripted();
    const operation = { text: null, id: 'hash', name: 'Wallet', operationKind: kind };
    const sources = [
      relaySubscribe(wrapped, { from: (source) => source })(operation, {}),
      urqlForward(wrapped)({ variables: {}, extensions: {} }, { kind }),
    ];
    for (const source of sources) {
      operations.length = 0;
      source.subscribe(IGNORED);
      operations[0]!.sink.error({ code: 1006, reason: '' });
      await settled();
      expect(operations).toHaveLength(times);
      for (const { request } of operations) expect(request).not.toHaveProperty('operationKind');
    }
  },
);

test('several connections share one request for a token, and a failed one is repeated', async () => {
  let asked = 0;
  const token = tokens(async () => {
    asked += 1;
    if (asked === 1) throw new Error('offline');
    return { token: String(asked), expiresAt: new Date(Date.now() + 3_600_000) };
  });
  await expect(Promise.all([token.authorization(), token.authorization()])).rejects.toThrow('offline');
  expect(await Promise.all([token.authorization(), token.authorization()])).toEqual(['Bearer 2', 'Bearer 2']);
  expect(asked).toBe(2);
});

test.each([
  ['expiresInSeconds, on a device whose clock is ahead', { expiresAt: new Date(0), expiresInSeconds: 100 }],
  ['expiresAt', { expiresAt: new Date(1_000_100_000) }],
])('a connection that begins in the last fifth of a token renews it, by %s', async (_, life) => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const token = tokens(() => {
    asked += 1;
    return { token: String(asked), ...life };
  });
  const at = (seconds: number) => {
    vi.setSystemTime(1_000_000_000 + seconds * 1_000);
    return token.authorization();
  };
  expect([await at(0), await at(79), await at(80)]).toEqual(['Bearer 1', 'Bearer 1', 'Bearer 2']);
});

test('an event whose text has a line separator of JavaScript is one event, and ends nothing', async () => {
  const name = 'a\u2028event: complete\u2028data: {}';
  const body = ['one', 'two']
    .map((cursor) => `event: next\ndata: ${JSON.stringify({ data: { update: { cursor, name } } })}\n\n`)
    .join('');
  const updates = live({
    endpoint: 'https://psa.example/graphql',
    getToken: () => 'ps_dash_x',
    query: 'subscription ($after: String) { update: allPaymentUpdates(after: $after) { cursor name } }',
    after: 'zero',
    fetch: async () =>
      new Response(`${body}event: complete\ndata:\n\n`, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const seen: unknown[] = [];
  for await (const update of updates) seen.push(update);
  expect(seen).toEqual([
    { cursor: 'one', name },
    { cursor: 'two', name },
  ]);
});

test('a runtime that gives no part of a response before its end is named, and nothing is sent for ever', async () => {
  const follow = (options: { fetch?: typeof fetch } = {}) =>
    live({
      endpoint: 'https://psa.example/graphql',
      getToken: () => 'ps_dash_x',
      query: ALL,
      after: 'zero',
      wait: () => expect.unreachable(),
      ...options,
    }).next();
  // A `fetch` like React Native's: its promise resolves at the end of a response, which has no body.
  const waiting = vi.fn(() => new Promise<Response>(() => undefined));
  vi.stubGlobal('fetch', waiting);
  vi.stubGlobal('Response', class {});
  onTestFinished(() => void vi.unstubAllGlobals());
  await expect(follow()).rejects.toMatchObject({
    name: 'UnfollowableError',
    message: expect.stringContaining('@psa/checkout/resume'),
  });
  expect(waiting).not.toHaveBeenCalled();
  const headers = new Headers({ 'content-type': 'text/event-stream' });
  const whole = async () => ({ ok: true, status: 200, headers }) as Response;
  await expect(follow({ fetch: whole })).rejects.toMatchObject({ name: 'UnfollowableError' });
});

test('a stream is read where a runtime lacks AbortSignal.any, TextDecoderStream, and a JSON of its own for arrays', async () => {
  vi.stubGlobal('TextDecoderStream', undefined);
  vi.spyOn(AbortSignal, 'any').mockImplementation(() => expect.unreachable());
  const old = Array.prototype as { toJSON?: () => string };
  old.toJSON = () => 'an array of Prototype.js';
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    delete old.toJSON;
  });
  const bytes = new TextEncoder().encode(
    'event: next\ndata: {"data":{"update":{"cursor":"ã"}}}\n\nevent: complete\ndata:\n\n',
  );
  const sent: unknown[] = [];
  const updates = live({
    endpoint: 'https://psa.example/graphql',
    getToken: () => 'ps_dash_x',
    query: ALL,
    variables: { status: ['PAID'], since: new Date(0) },
    after: 'zero',
    async fetch(_, init) {
      sent.push(JSON.parse(String(init?.body)).variables);
      const body = new ReadableStream({
        start(controller) {
          // The cut is in the middle of a letter's bytes.
          const at = bytes.indexOf(0xc3) + 1;
          controller.enqueue(bytes.slice(0, at));
          controller.enqueue(bytes.slice(at));
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const seen: unknown[] = [];
  for await (const update of updates) seen.push(update);
  expect([seen, sent]).toEqual([
    [{ cursor: 'ã' }],
    [{ status: ['PAID'], since: '1970-01-01T00:00:00.000Z', after: 'zero' }],
  ]);
});
