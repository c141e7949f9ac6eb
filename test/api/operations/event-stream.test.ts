import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { onResult, type ResultListener } from '../../../server/src/api/operations/shared-execution.ts';
import type { SerializedResult } from '../../../server/src/api/operations/shared-result.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { deferred } from '../../support/deferred.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { openRawSocket } from '../../support/raw-socket.ts';
import { sliceAfter } from '../../support/slice-clock.ts';

const ALL = `subscription ($after: String) {
  allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode description } } }`;
const CARD = {
  number: '4242424242424242',
  holder: 'ANA',
  expiryMonth: 12,
  expiryYear: 2030,
  securityCode: '123',
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { PSA_SUBSCRIPTION_LIMIT: '60' } });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function create(): Promise<string> {
  const { createCardPayment } = await app.live.request(
    'mutation { createCardPayment(input: { valueCents: 4990, description: "ü" }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
  );
  return createCardPayment.cardPayment.orderCode;
}
const cursorOf = async () => (await app.live.request('{ updatesCursor }')).updatesCursor as string;

/** A whole stream begins with the first state, and ends if nothing follows. */
describe('an event stream', () => {
  let orderCode: string;
  let events: string[];
  let chunks: string;
  beforeAll(async () => {
    orderCode = await create();
    await app.cardPayments.pay(orderCode, CARD);
    events = [
      ':\n\n',
      `id: ${await cursorOf()}\nevent: next\ndata: {"data":{"cardPaymentUpdates":{"cardPayment":{"status":"PAID","description":"ü"}}}}\n\n`,
      'event: complete\ndata:\n\n',
    ];
    const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
    chunks = `${events.map(chunk).join('')}0\r\n\r\n`;
  });
  const request = (version: string, query = 'cardPaymentUpdates') => {
    const body = JSON.stringify({
      query: `subscription { ${query}(orderCode: "${orderCode}") { cardPayment { status description } } }`,
    });
    return `POST /graphql HTTP/${version}\r\nHost: localhost\r\nAuthorization: Bearer ${LIVE_KEY}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
  test('an event stream has each event as one chunk', async () => {
    const [head = '', body] = (await sendRaw(app.port, request('1.1'), /\r\n0\r\n\r\n$/)).split(
      /\r\n\r\n([\s\S]*)/,
    );
    expect(head.toLowerCase().split('\r\n')).toEqual(
      expect.arrayContaining([
        'http/1.1 200 ok',
        'content-type: text/event-stream',
        'cache-control: no-cache',
        'content-encoding: none',
        'transfer-encoding: chunked',
        'connection: keep-alive',
        'x-content-type-options: nosniff',
        'access-control-allow-origin: *',
      ]),
    );
    expect(body).toBe(chunks);
  });

  test('an event stream over HTTP/1.0 is not chunked', async () => {
    const answer = await sendRaw(app.port, request('1.0'));
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(events.join(''));
  });

  test('an event stream is whole behind the response to the request before it, and before the next', async () => {
    const wallet = `GET /graphql?query=%7Bwallet%7Bcurrency%7D%7D HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${LIVE_KEY}\r\nConnection: `;
    const answer = await sendRaw(
      app.port,
      `${wallet}keep-alive\r\n\r\n${request('1.1')}${wallet}close\r\n\r\n`,
    );
    const [first, stream, last, ...more] = answer.split(/(?=HTTP\/1\.1 )/);
    for (const each of [first, last]) expect(each).toContain('{"data":{"wallet":{"currency":"BRL"}}}');
    expect(stream!.slice(stream!.indexOf('\r\n\r\n') + 4)).toBe(chunks);
    expect(more).toEqual([]);
  });

  test('a refused event stream has the status of its error', async () => {
    expect(await sendRaw(app.port, request('1.0').replace(LIVE_KEY, 'x'))).toMatch(/^HTTP\/1\.1 401 /);
    expect(await sendRaw(app.port, request('1.0', 'nothing'))).toMatch(
      /^HTTP\/1\.1 \d+ [\s\S]*BAD_USER_INPUT/,
    );
  });
});

describe('Last-Event-ID', () => {
  const paid = (orderCode: string) => app.cardPayments.pay(orderCode, CARD);
  const read = async (lastEventId: string, after?: string) => {
    const stream = app.client(LIVE_KEY, { 'last-event-id': lastEventId }).sse(ALL, after ? { after } : {});
    const { cursor, cardPayment } = (await stream.data()).allCardPaymentUpdates;
    await stream.close();
    return { cursor, orderCode: cardPayment.orderCode };
  };

  test('an event stream goes on behind the event that the client names', async () => {
    const before = await cursorOf();
    const [one, two] = [await create(), await create()];
    const first = await read(before);
    expect(first.orderCode).toBe(one);
    expect((await read(first.cursor)).orderCode).toBe(two);
  });

  test('of Last-Event-ID and `after` the later position holds', async () => {
    const early = await cursorOf();
    await create();
    const late = await cursorOf();
    const orderCode = await create();
    expect((await read(early, late)).orderCode).toBe(orderCode);
    expect((await read(late, early)).orderCode).toBe(orderCode);
  });

  test('the stream of one resource goes on without its first state', async () => {
    const orderCode = await create();
    const lastEventId = await cursorOf();
    await paid(orderCode);
    const stream = app
      .client(LIVE_KEY, { 'last-event-id': lastEventId })
      .sse(`subscription { cardPaymentUpdates(orderCode: "${orderCode}") { cardPayment { status } } }`);
    expect((await stream.data()).cardPaymentUpdates.cardPayment.status).toBe('PAID');
    expect((await stream.next()).done).toBe(true);
  });

  test.each([
    [
      'of another tenant',
      async () => {
        const other = app.client(await addKey(app, { accountId: await addAccount(app) }));
        return (await other.request('{ updatesCursor }')).updatesCursor as string;
      },
    ],
    [
      'of a list',
      async () => {
        const list = '{ cardPayments(first: 1) { pageInfo { endCursor } } }';
        return (await app.live.request(list)).cardPayments.pageInfo.endCursor as string;
      },
    ],
    ['that is none', async () => 'x'.repeat(22)],
  ])('a cursor %s is refused', async (_, cursorFrom) => {
    const answer = app
      .client(LIVE_KEY, { 'last-event-id': await cursorFrom() })
      .sse(ALL, {})
      .data();
    await expect(answer).rejects.toThrow(/BAD_USER_INPUT.*Last-Event-ID/);
  });

  test('it means nothing to a query, and nothing where it is empty', async () => {
    const strange = app.client(LIVE_KEY, { 'last-event-id': 'x' });
    expect(await strange.request('{ updatesCursor }')).toEqual({ updatesCursor: await cursorOf() });
    const stream = app.client(LIVE_KEY, { 'last-event-id': '' }).sse(ALL, { after: await cursorOf() });
    const orderCode = await create();
    expect((await stream.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(orderCode);
    await stream.close();
  });
});

test('one event is serialized once for all streams with the same operation', async () => {
  const after = await cursorOf();
  const streams = Array.from({ length: 5 }, () => app.live.sse(ALL, { after }));
  const written = vi.spyOn(Socket.prototype, 'write');
  try {
    // A stream that still replays has results of its own, so that the first events may be written more than once.
    await expect
      .poll(async () => {
        written.mockClear();
        const orderCode = await create();
        for (const stream of streams)
          expect((await stream.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(orderCode);
        const events = written.mock.calls.map(([data]) => data).filter((data) => isEvent(data));
        expect(events).toHaveLength(streams.length);
        return new Set(events).size;
      })
      .toBe(1);
  } finally {
    written.mockRestore();
    for (const stream of streams) await stream.close();
  }
});

function isEvent(data: unknown): boolean {
  return Buffer.isBuffer(data) && data.includes('event: next');
}

test('a result that thousands wait for is delivered in slices, between which other work runs', async () => {
  const { promise, resolve } = deferred<SerializedResult>();
  const answer = { rest: Buffer.from('x') } as SerializedResult;
  const served: unknown[] = [];
  const SLICE = 20;
  const serve = sliceAfter(SLICE);
  const add = (each: unknown) => {
    served.push(each);
    serve();
  };
  const who: ResultListener = { resume: add, fail: add };
  for (let count = 0; count < 2 * SLICE + 1; count += 1) onResult(promise, who);
  resolve(answer);
  await promise;
  await undefined;
  expect(served).toEqual(Array.from({ length: SLICE }, () => answer));
  await turn();
  expect(served).toHaveLength(2 * SLICE);
  await turn();
  expect(served).toHaveLength(2 * SLICE + 1);

  onResult(Promise.reject(new Error('none')), who);
  await turn();
  expect(served.at(-1)).toEqual(new Error('none'));
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('limits on open subscriptions', () => {
  const refusal = (count: number, whose: string) => ({
    message: `Rate limit exceeded: ${count} open subscriptions of one ${whose}`,
    extensions: { code: 'RATE_LIMITED', retryPolicy: 'SAME_KEY', retryAfterSeconds: 30 },
  });
  let query: string;
  beforeAll(async () => {
    query = `subscription { cardPaymentUpdates(orderCode: "${await create()}") { cursor } }`;
  });
  /** A socket with this number of subscriptions. Each gets the first state, or is refused. */
  async function follow(credential: string, count: number) {
    const socket = openRawSocket(app.url);
    await socket.init(credential);
    const open = async (id: string) => {
      socket.send({ id, type: 'subscribe', payload: { query } });
      const message = await socket.next();
      expect(message).toMatchObject({ id, type: 'next' });
      const { errors } = message.payload;
      if (errors) expect(await socket.next()).toEqual({ id, type: 'complete' });
      return errors?.[0] ?? null;
    };
    for (let at = 0; at < count; at += 1) expect(await open(`a${at}`)).toBeNull();
    return { open, socket };
  }
  const stream = (credential: string, operation = query) =>
    fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${credential}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: operation }),
    });

  test('open subscriptions are limited for each credential and for the tenant, over both transports, and an ended one frees its place', async () => {
    const token = await addToken(app, { kind: 'dashboard', grant: { scopes: ['card_payments'] } });
    const byToken = await follow(token, 3);
    expect(await byToken.open('more')).toMatchObject(refusal(3, 'token'));
    const refused = await stream(token);
    expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({
      status: 429,
      retryAfter: '30',
    });
    expect(await refused.text()).toContain('3 open subscriptions of one token');

    const [one, other] = [await addKey(app), await addKey(app)];
    const byKey = await follow(one, 30);
    expect(await byKey.open('more')).toMatchObject(refusal(30, 'API key'));
    const byOther = await follow(other, 27);
    expect(await byOther.open('more')).toMatchObject(refusal(60, 'account and environment'));
    expect((await stream(LIVE_KEY)).status).toBe(429);
    // Another tenant has a limit of its own.
    const elsewhere = await follow(await addKey(app, { accountId: await addAccount(app) }), 0);
    expect((await elsewhere.open('x')).extensions.code).toBe('NOT_FOUND');

    byKey.socket.send({ id: 'a0', type: 'complete' });
    expect(await byOther.open('again')).toBeNull();
    expect(await byOther.open('more')).toMatchObject(refusal(60, 'account and environment'));
    for (const { socket } of [byToken, byKey, byOther]) {
      socket.socket.close();
      await socket.closed;
    }
    const events = app.live.sse(query, {});
    expect(await events.data()).toMatchObject({ cardPaymentUpdates: { cursor: expect.any(String) } });
    await events.close();
  });

  test('a payer’s token has few operations of its own and no place of the account, over both transports, and a reason for each refusal', async () => {
    const orderCode = await create();
    const token = await addToken(app, { kind: 'payment', grant: { orderCode } });
    const own = (name: string) =>
      `subscription { cardPaymentUpdates(orderCode: "${orderCode}") { ${name}: cursor } }`;
    const socket = openRawSocket(app.url);
    await socket.init(token);
    const open = async (id: string, payload: object) => {
      socket.send({ id, type: 'subscribe', payload });
      const { payload: first } = await socket.next();
      return first.errors?.[0] ?? null;
    };
    for (const name of ['a', 'b', 'c', 'd']) expect(await open(name, { query: own(name) })).toBeNull();
    expect(await open('e', { query: own('e') })).toMatchObject(refusal(4, 'token'));
    expect(await socket.next()).toEqual({ id: 'e', type: 'complete' });
    const refused = await stream(token, own('f'));
    expect(refused.status).toBe(429);
    await refused.body?.cancel();
    // Keys and dashboard tokens have limits of their own.
    const key = await addKey(app);
    const { socket: other } = await follow(key, 30);
    for (const each of [socket, other]) {
      each.socket.close();
      await each.closed;
    }
  });

  test('an update that is too long for a token ends its subscription with the reason, and not that of a key', async () => {
    const token = await addToken(app, { kind: 'dashboard', grant: { scopes: ['card_payments'] } });
    const fields = Array.from({ length: 10 }, (_, at) => `m${at}: metadata d${at}: description`).join(' ');
    const after = await cursorOf();
    const long = `subscription { allCardPaymentUpdates(after: "${after}") { cardPayment { orderCode ${fields} } } }`;
    const [byKey, byToken] = [app.live.sse(long, {}), app.client(token).ws(long, {})];
    const events = await stream(token, long);
    const short = await create();
    for (const each of [byKey, byToken])
      expect((await each.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(short);
    const metadata = JSON.stringify('中'.repeat(2_040));
    const input = { valueCents: 4990, metadata, description: '中'.repeat(200) };
    const { createCardPayment } = await app.live.request(
      'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } ... on UserError { message } } }',
      { input },
    );
    expect((await byKey.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(
      createCardPayment.cardPayment.orderCode,
    );
    const text = await events.text();
    expect(text).toContain('An update of this subscription is too long for this credential');
    expect(text).toContain('"code":"LIMIT_REACHED"');
    expect(text.endsWith('event: complete\ndata:\n\n')).toBe(true);
    await expect(byToken.data()).rejects.toMatchObject([
      { extensions: { code: 'LIMIT_REACHED', retryPolicy: 'AFTER_CHANGE' } },
    ]);
    await byKey.close();
  });
});
