import type { Duplex } from 'node:stream';
import { createClient } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { createAdministration } from '../../../server/src/access/administration.ts';
import { firstTenant } from '../../../server/src/access/service.ts';
import { selectCursorKey } from '../../../server/src/access/store.ts';
import { createCursors } from '../../../server/src/kernel/cursor.ts';
import { type Tenant, tenantKey } from '../../../server/src/kernel/tenant.ts';
import { createCommitter } from '../../../server/src/state/commit/committer.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { connectTo, openFreshDatabase, takePostgresDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { openRawSocket, type RawSocket } from '../../support/raw-socket.ts';
import { recordStatements } from '../../support/statements.ts';

const CARD = {
  number: '4242424242424242',
  holder: 'ANA',
  expiryMonth: 12,
  expiryYear: 2030,
  securityCode: '123',
};
const ONE = `subscription ($orderCode: String!, $after: String) {
  cardPaymentUpdates(orderCode: $orderCode, after: $after) {
    cursor occurredAt previousStatus cardPayment { orderCode status version final }
  }
}`;
const ALL = `subscription ($after: String) {
  allCardPaymentUpdates(after: $after) { cursor previousStatus cardPayment { orderCode status version } }
}`;
const CREATE =
  'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }';
const CURSOR = '{ updatesCursor }';

let app: TestApp;
let statements: string[];
const sockets: RawSocket[] = [];
beforeAll(async () => {
  const clock = createManualClock();
  const recorded = recordStatements(await openFreshDatabase(clock));
  statements = recorded.statements;
  app = await startApp({ database: recorded.database, clock });
});
afterEach(() => {
  for (const { socket } of sockets.splice(0)) socket.terminate();
  expect(app.faults).toEqual([]);
});
afterAll(() => app.close());

const raw = (options?: Parameters<typeof openRawSocket>[1], url = app.url) => {
  const socket = openRawSocket(url, options);
  sockets.push(socket);
  return socket;
};
async function create(client: GraphQLClient = app.live): Promise<string> {
  const { createCardPayment } = await client.request(CREATE);
  return createCardPayment.cardPayment.orderCode;
}
const countPayments = async (): Promise<number> =>
  (await app.live.request('{ cardPayments { totalCount } }')).cardPayments.totalCount;
const cursorOf = async (client: GraphQLClient = app.live): Promise<string> =>
  (await client.request(CURSOR)).updatesCursor;

describe.each(['ws', 'sse'] as const)('over %s', (transport) => {
  test('a subscription to one payment gives its state at once, then each change with its cursor and the previous status', async () => {
    const orderCode = await create();
    const updates = app.live[transport](ONE, { orderCode });
    const first = (await updates.data()).cardPaymentUpdates;
    expect(first).toMatchObject({
      previousStatus: null,
      cardPayment: { orderCode, status: 'PENDING', version: 1, final: false },
    });
    await create();
    await app.cardPayments.pay(orderCode, CARD);
    const second = (await updates.data()).cardPaymentUpdates;
    expect(second).toMatchObject({
      occurredAt: app.clock.now().toISOString(),
      previousStatus: 'PENDING',
      cardPayment: { status: 'PAID', version: 2 },
    });
    expect(second.cursor).not.toBe(first.cursor);
    expect((await updates.next()).done).toBe(true);
  });

  test('a subscription to a payment that is final gives its state and completes', async () => {
    const orderCode = await create();
    await app.cardPayments.pay(orderCode, CARD);
    const updates = app.live[transport](ONE, { orderCode });
    expect((await updates.data()).cardPaymentUpdates.cardPayment.status).toBe('PAID');
    expect((await updates.next()).done).toBe(true);
  });

  test('a subscription to one payment with after gives the changes since, and nothing else', async () => {
    const before = await cursorOf();
    const orderCode = await create();
    const created = await cursorOf();
    await app.cardPayments.pay(orderCode, CARD);
    const statuses = async (after: string) => {
      const seen: string[] = [];
      for await (const { data } of app.live[transport](ONE, { orderCode, after }))
        seen.push(data.cardPaymentUpdates.cardPayment.status);
      return seen;
    };
    expect(await statuses(before)).toEqual(['PENDING', 'PAID']);
    expect(await statuses(created)).toEqual(['PAID']);
    expect(await statuses(await cursorOf())).toEqual([]);
  });

  test('a subscription to all payments gives changes only, in the order of the log, none missed and none twice', async () => {
    const client = app.client(await addKey(app, { accountId: await addAccount(app) }));
    await create(client);
    const after = await cursorOf(client);
    const updates = app.client(null);
    expect(updates).toBeTruthy();
    const stream = client[transport](ALL, { after });
    const codes: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      codes.push(await create(client));
      await app.cardPayments.pay(codes[index]!, CARD);
    }
    const seen: string[] = [];
    for (let index = 0; index < 10; index += 1) {
      const { cardPayment } = (await stream.data()).allCardPaymentUpdates;
      seen.push(`${cardPayment.orderCode} ${cardPayment.status}`);
    }
    expect(seen).toEqual(codes.flatMap((code) => [`${code} PENDING`, `${code} PAID`]));
    await stream.close();
  });

  test('a subscription to all payments gives none of another tenant', async () => {
    const other = app.client(await addKey(app, { accountId: await addAccount(app) }));
    const stream = other[transport](ALL, { after: await cursorOf(other) });
    await create();
    const mine = await create(other);
    expect((await stream.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(mine);
    await stream.close();
  });

  test.each([
    ['a payment that is not there', ONE, { orderCode: 'PSC-0' }, 'NOT_FOUND'],
    ['a payment whose code no database holds', ONE, { orderCode: '\u0000' }, 'NOT_FOUND'],
    ['a malformed cursor', ALL, { after: 'x' }, 'BAD_USER_INPUT'],
    ['a document that does not parse', 'subscription {', {}, 'BAD_USER_INPUT'],
    ['a field that is not there', 'subscription { nothing }', {}, 'BAD_USER_INPUT'],
    [
      'two root fields',
      'subscription { a: walletUpdates { cursor } b: walletUpdates { cursor } }',
      {},
      'BAD_USER_INPUT',
    ],
    ['a variable that is missing', ONE, {}, 'BAD_USER_INPUT'],
  ] as const)(
    'a subscription with %s is refused with its code and its retry alone',
    async (_, query, variables, code) => {
      const { errors } = await refusal(app.live, query, variables);
      expect(errors[0].extensions.code).toBe(code);
      expect(
        Object.keys(errors[0].extensions).filter((name) => !['code', 'retryPolicy', 'fields'].includes(name)),
      ).toEqual([]);
    },
  );

  test('a cursor of the account that is beyond its log is refused as expired', async () => {
    const cursorsFor = createCursors((await selectCursorKey(app.database.sql))!);
    const accountId = await addAccount(app);
    const after = cursorsFor({ accountId, environment: 'live' }, 'updates').encode(1);
    const { errors } = await refusal(app.client(await addKey(app, { accountId })), ALL, { after });
    expect(errors[0].extensions).toMatchObject({ code: 'CURSOR_EXPIRED' });
  });

  test('a payment of another account is not found', async () => {
    const orderCode = await create();
    const other = app.client(await addKey(app, { accountId: await addAccount(app) }));
    expect((await refusal(other, ONE, { orderCode })).errors[0].extensions.code).toBe('NOT_FOUND');
    expect((await refusal(app.sandbox, ONE, { orderCode })).errors[0].extensions.code).toBe('NOT_FOUND');
  });

  async function refusal(client: GraphQLClient, query: string, variables: Record<string, unknown>) {
    if (transport === 'sse') {
      const { value } = await client.sse(query, variables).next();
      return value;
    }
    return client
      .ws(query, variables)
      .next()
      .then(
        ({ value }) => value,
        (errors) => ({ errors }),
      );
  }

  test('a subscription continues at its cursor after the server has restarted', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const started = async () => startApp({ database: await connectTo(databaseUrl, clock), clock });
    const before = await started();
    const orderCode = await create(before.live);
    const stream = before.live[transport](ONE, { orderCode });
    const { cursor } = (await stream.data()).cardPaymentUpdates;
    const ended = stream.next().catch(() => 'cut off');
    await before.close();
    await ended;

    const after = await started();
    await after.cardPayments.pay(orderCode, CARD);
    const resumed = after.live[transport](ONE, { orderCode, after: cursor });
    expect((await resumed.data()).cardPaymentUpdates).toMatchObject({
      previousStatus: 'PENDING',
      cardPayment: { status: 'PAID' },
    });
    expect((await resumed.next()).done).toBe(true);
    expect([...before.faults, ...after.faults]).toEqual([]);
    await after.close();
  });
});

describe('the credential of a socket', () => {
  test.each([
    ['none', {}],
    ['an unknown key', { payload: { authorization: 'Bearer ps_live_unknown0123456789' } }],
    ['a key without Bearer', { payload: { authorization: LIVE_KEY } }],
    ['a number', { payload: { authorization: 7 } }],
    ['one under another name', { payload: { token: `Bearer ${LIVE_KEY}` } }],
    ['headers that are a text', { payload: { headers: `authorization: Bearer ${LIVE_KEY}` } }],
    [
      'an unknown key beside a known one',
      { payload: { authorization: `Bearer ${LIVE_KEY}`, Authorization: 'Bearer x' } },
    ],
    [
      'an unknown key in headers, beside a known one',
      { payload: { authorization: `Bearer ${LIVE_KEY}`, headers: { authorization: 'Bearer x' } } },
    ],
    [
      'an empty one, beside a known one in headers',
      { payload: { authorization: '', headers: { authorization: `Bearer ${LIVE_KEY}` } } },
    ],
  ])('a socket is closed with 4403 for this credential: %s', async (_, init) => {
    const socket = raw();
    socket.send({ type: 'connection_init', ...init });
    expect((await socket.closed).code).toBe(4403);
  });

  const known = `Bearer ${LIVE_KEY}`;
  test.each<[string, object, { headers?: Record<string, string> }]>([
    ['authorization in the payload', { payload: { authorization: known } }, {}],
    ['Authorization in the payload', { payload: { Authorization: known } }, {}],
    ['authorization in headers of the payload', { payload: { headers: { authorization: known } } }, {}],
    ['Authorization in headers of the payload', { payload: { headers: { Authorization: known } } }, {}],
    [
      'two places that hold the same credential',
      { payload: { authorization: known, headers: { Authorization: known } } },
      {},
    ],
    ['a header of the upgrade', {}, { headers: { authorization: known } }],
    [
      'the payload, which goes before the header',
      { payload: { authorization: known } },
      { headers: { authorization: 'Bearer x' } },
    ],
  ])('a socket is opened with a credential in %s', async (_, init, options) => {
    const socket = raw(options);
    socket.send({ type: 'connection_init', ...init });
    expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
    socket.socket.terminate();
  });

  test.each<[string, { connectionParams?: Record<string, unknown>; headers?: Record<string, string> }]>([
    ['connectionParams.authorization', { connectionParams: { authorization: known } }],
    ['connectionParams.Authorization', { connectionParams: { Authorization: known } }],
    ['connectionParams.headers', { connectionParams: { headers: { authorization: known } } }],
    ['a header of its WebSocket', { headers: { authorization: known } }],
  ])('graphql-ws opens a socket with a credential in %s', async (_, { connectionParams, headers }) => {
    expect(await connectsAs({ connectionParams, headers })).toBe('connected');
  });

  test('graphql-ws reports what is missing to a client without a credential', async () => {
    expect(await connectsAs({})).toBe(
      '4403 No credential: send { "authorization": "Bearer …" } as the payload of connection_init',
    );
  });

  test('an empty credential in the payload is refused, and a header of the upgrade does not replace it', async () => {
    const socket = raw({ headers: { authorization: known } });
    socket.send({ type: 'connection_init', payload: { authorization: '' } });
    expect((await socket.closed).code).toBe(4403);
  });

  test('graphql-ws reports that two credentials differ', async () => {
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    expect(await connectsAs({ connectionParams: { authorization: known, headers } })).toBe(
      '4403 Two different credentials in the payload of connection_init: send one, as { "authorization": "Bearer …" }',
    );
  });

  /** Connects by the library `graphql-ws`. Returns `connected`, or the code and reason of the close. */
  async function connectsAs({
    connectionParams,
    headers = {},
  }: {
    connectionParams?: Record<string, unknown> | undefined;
    headers?: Record<string, string> | undefined;
  }): Promise<string> {
    const outcome = deferred<string>();
    const client = createClient({
      url: `${app.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: class extends WebSocket {
        constructor(url: string, protocols: string) {
          super(url, protocols, { headers });
        }
      },
      ...(connectionParams && { connectionParams }),
      lazy: false,
      retryAttempts: 0,
      onNonLazyError: () => undefined,
      on: {
        connected: () => outcome.resolve('connected'),
        closed: (event) => {
          const { code, reason } = event as { code: number; reason: string };
          outcome.resolve(`${code} ${reason}`);
        },
      },
    });
    try {
      return await outcome.promise;
    } finally {
      await client.dispose();
    }
  }

  test('a socket without a credential is closed with what is missing', async () => {
    const socket = raw();
    socket.send({ type: 'connection_init', payload: {} });
    expect(await socket.closed).toEqual({
      code: 4403,
      reason: 'No credential: send { "authorization": "Bearer …" } as the payload of connection_init',
    });
  });

  test('a token of other pages closes the socket with 4403, and is refused with 403 over HTTP', async () => {
    const token = await addToken(app, {
      kind: 'dashboard',
      grant: { scopes: ['card_payments'] },
      allowedOrigins: ['https://shop.example'],
    });
    for (const headers of [{ origin: 'https://evil.example' }, {}]) {
      const refused = raw({ headers: headers as Record<string, string> });
      await refused.init(token).catch(() => undefined);
      expect((await refused.closed).code).toBe(4403);
      expect((await app.client(token, headers as Record<string, string>).send(ALL)).status).toBe(403);
    }
    const headers = { origin: 'https://shop.example' };
    expect(await raw({ headers }).init(token)).toEqual({ type: 'connection_ack' });
    const stream = app.client(token, headers).sse(ALL, { after: await cursorOf() });
    const orderCode = await create();
    expect((await stream.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(orderCode);
    await stream.close();
  });

  test('an expired credential closes the socket with 4403 at once, and ends an event stream with UNAUTHENTICATED', async () => {
    const token = await addToken(app, {
      kind: 'dashboard',
      grant: { scopes: ['card_payments'] },
      expiresAt: new Date(app.clock.now().getTime() + 60_000),
    });
    const socket = raw();
    const expiresAt = new Date(app.clock.now().getTime() + 60_000).toISOString();
    expect(await socket.init(token)).toEqual({ type: 'connection_ack', payload: { psa: { expiresAt } } });
    const variables = { after: await cursorOf() };
    socket.send({ id: 'a', type: 'subscribe', payload: { query: ALL, variables } });
    const stream = app.client(token).sse(ALL, variables);
    await create();
    expect((await socket.next()).type).toBe('next');
    await stream.data();

    app.clock.advance(59_999);
    await create();
    expect((await socket.next()).type).toBe('next');
    await stream.data();

    app.clock.advance(1);
    expect(await socket.closed).toEqual({ code: 4403, reason: 'This token has expired' });
    const { value } = await stream.next();
    expect(value.errors[0]).toMatchObject({
      message: 'This token has expired',
      extensions: { code: 'UNAUTHENTICATED', retryPolicy: 'AFTER_CHANGE' },
    });
    expect((await stream.next()).done).toBe(true);
  });

  test('a client that does not answer the close of its revoked key changes nothing more', async () => {
    const { database, clock } = app;
    const onCommit = (committed: readonly { tenant: Tenant }[]) =>
      void database.notify('psa_stream', ...committed.map(({ tenant }) => tenantKey(tenant)));
    const committer = createCommitter({ database, clock, onCommit });
    const administration = createAdministration({ database, committer, clock });
    const { key, secret } = await administration.createKey({
      ...(await firstTenant(database.sql)),
      permissions: [],
      name: null,
    });
    const [stays, leaves] = [raw(), raw()];
    for (const socket of [stays, leaves]) await socket.init(secret);
    // The client does not read the frame that closes its socket, and goes on sending.
    stays.socket.pause();
    await administration.revokeKey({ id: key.id });
    expect((await leaves.closed).code).toBe(4403);
    const before = await countPayments();
    stays.send({ id: 'a', type: 'subscribe', payload: { query: CREATE } });
    stays.socket.resume();
    expect((await stays.closed).code).toBe(4403);
    await create();
    expect(await countPayments()).toBe(before + 1);
  });

  test('a socket without connection_init is closed with 4408 after the deadline', async () => {
    const impatient = await startApp({ initTimeoutMs: 20 });
    const socket = raw({}, impatient.url);
    expect((await socket.closed).code).toBe(4408);
    await impatient.close();
  });

  test('a second connection_init closes the socket with 4429, and an operation before the first with 4401', async () => {
    const twice = raw();
    await twice.init(LIVE_KEY);
    twice.send({ type: 'connection_init' });
    expect((await twice.closed).code).toBe(4429);
    const early = raw();
    early.send({ id: 'a', type: 'subscribe', payload: { query: ALL } });
    expect((await early.closed).code).toBe(4401);
  });
});

describe('a socket', () => {
  const survives = async () => expect(await app.live.request('{ wallet { currency } }')).toBeTruthy();

  test('a socket runs queries and mutations, and hides an internal fault', async () => {
    const broken = await startApp();
    const socket = raw({}, broken.url);
    await socket.init(LIVE_KEY);
    socket.send({ id: 'a', type: 'subscribe', payload: { query: '{ wallet { currency } }' } });
    expect(await socket.next()).toEqual({
      id: 'a',
      type: 'next',
      payload: { data: { wallet: { currency: 'BRL' } } },
    });
    expect(await socket.next()).toEqual({ id: 'a', type: 'complete' });
    await broken.database.sql.schema.dropTable('card_payment').cascade().execute();
    for (const query of [
      '{ cardPayments { totalCount } }',
      'subscription { cardPaymentUpdates(orderCode: "PSC-0123456789ABCDEFGHJKMNPQ") { cursor } }',
    ]) {
      socket.send({ id: 'b', type: 'subscribe', payload: { query } });
      const { payload } = await socket.next();
      const [error] = payload.errors ?? payload;
      expect(error).toMatchObject({
        message: 'Internal error',
        extensions: { code: 'INTERNAL_SERVER_ERROR', retryPolicy: 'LOOK_UP' },
      });
      expect(JSON.stringify(payload)).not.toMatch(/card_payment|relation|stack/);
      if (payload.errors) await socket.next();
    }
    expect(broken.faults).toHaveLength(2);
    await broken.close();
  });

  test.each([
    ['a condition that is true', 'subscription { walletUpdates @skip(if: true) { cursor } }'],
    [
      'a condition that is a variable',
      'subscription ($is: Boolean!) { walletUpdates @include(if: $is) { cursor } }',
    ],
    [
      'a condition in a fragment',
      'subscription ($is: Boolean!) { ...A } fragment A on Subscription { ...B @skip(if: $is) ...A } fragment B on Subscription { walletUpdates { cursor } }',
    ],
    [
      'fields that exclude each other',
      'subscription ($is: Boolean!) { ... { a: walletUpdates @skip(if: $is) { cursor } } b: walletUpdates @include(if: $is) { cursor } }',
    ],
  ])(
    'a subscription whose root has %s is refused, over HTTP and on a socket that goes on',
    async (_, query) => {
      const message = 'A subscription may not have @skip or @include at its root';
      const variables = { is: true };
      await expect(app.live.sse(query, variables).data()).rejects.toThrow(message);
      const socket = raw();
      await socket.init(LIVE_KEY);
      socket.send({ id: 'a', type: 'subscribe', payload: { query, variables } });
      expect((await socket.next()).payload).toContainEqual(
        expect.objectContaining({
          message,
          extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
        }),
      );
      socket.send({ id: 'b', type: 'subscribe', payload: { query: '{ wallet { currency } }' } });
      expect((await socket.next()).payload.data).toEqual({ wallet: { currency: 'BRL' } });
    },
  );

  test('a value that is nested deeply is refused as any other of a wrong type, and the socket goes on', async () => {
    const orderCode = '['.repeat(40_000) + ']'.repeat(40_000);
    const payload = `{"query":${JSON.stringify(ONE)},"variables":{"orderCode":${orderCode}}}`;
    const refusal = {
      message: expect.stringContaining('"$orderCode"'),
      extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
    };
    const answer = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${LIVE_KEY}`,
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, text/event-stream',
      },
      body: payload,
    });
    expect(await answer.json()).toMatchObject({ errors: [refusal] });
    const socket = raw();
    await socket.init(LIVE_KEY);
    socket.socket.send(`{"id":"a","type":"subscribe","payload":${payload}}`);
    expect((await socket.next()).payload).toMatchObject({ errors: [refusal] });
    expect(await socket.next()).toEqual({ id: 'a', type: 'complete' });
    socket.send({ id: 'b', type: 'subscribe', payload: { query: '{ wallet { currency } }' } });
    expect((await socket.next()).payload.data).toEqual({ wallet: { currency: 'BRL' } });
  });

  test('conditions below the root of a subscription are those of each update', async () => {
    const query =
      'subscription ($is: Boolean!) { walletUpdates { cursor @skip(if: $is) occurredAt @include(if: $is) } }';
    const updates = app.live.sse(query, { is: true });
    expect(Object.keys((await updates.data()).walletUpdates)).toEqual(['occurredAt']);
    await updates.close();
  });

  test('a socket refuses introspection to a browser’s token', async () => {
    const socket = raw();
    await socket.init(await addToken(app, { kind: 'payment', grant: { orderCode: 'PSC-1' } }));
    socket.send({ id: 'a', type: 'subscribe', payload: { query: '{ __schema { queryType { name } } }' } });
    expect((await socket.next()).payload.errors[0].extensions).toMatchObject({ code: 'FORBIDDEN' });
  });

  test('a socket counts root fields as HTTP does', async () => {
    const limited = await startApp({ environment: { PSA_GRAPHQL_LIMIT: '2' } });
    const socket = raw({}, limited.url);
    await socket.init(LIVE_KEY);
    const query = '{ a: viewer { credential } b: viewer { credential } c: viewer { credential } }';
    socket.send({ id: 'a', type: 'subscribe', payload: { query } });
    const { payload } = await socket.next();
    expect(payload.errors[0].extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 60 });
    await limited.close();
  });

  test('a socket is closed with 1009 by a message that is too large, before and after its credential', async () => {
    const large = `{"type":"connection_init","payload":{"padding":"${'x'.repeat(1_000_000)}"}}`;
    for (const credential of [null, LIVE_KEY]) {
      const socket = raw();
      if (credential) await socket.init(credential);
      socket.send(large);
      expect((await socket.closed).code).toBe(1009);
    }
    await survives();
  });

  test.each([
    ['a message that is not JSON', '{', 4400],
    ['a message that is not an object', '[]', 4400],
    ['a message of an unknown type', { type: 'x' }, 4400],
    ['a message that only a server sends', { id: 'a', type: 'next', payload: { data: {} } }, 4400],
    ['a subscription without a query', { id: 'a', type: 'subscribe', payload: {} }, 4400],
    [
      'variables that are a list',
      { id: 'a', type: 'subscribe', payload: { query: ALL, variables: [] } },
      4400,
    ],
    [
      'a member that is given twice',
      `{"id":"a","type":"subscribe","payload":{"query":${JSON.stringify(ALL)},"variables":{"after":"a","after":null}}}`,
      4400,
    ],
  ])('a socket is closed by %s', async (_, message, code) => {
    const socket = raw();
    await socket.init(LIVE_KEY);
    socket.send(message);
    expect((await socket.closed).code).toBe(code);
    await survives();
  });

  test('a socket with another protocol or path is not opened', async () => {
    expect((await raw({ protocol: 'graphql-ws' }).closed).code).toBe(1006);
    const { status } = await fetch(`${app.url}/other`, { headers: { connection: 'keep-alive' } });
    expect(status).toBe(404);
    expect((await raw({}, `${app.url}/other`).closed).code).toBe(1006);
  });

  test('a socket refuses the 101st operation at once, and accepts another when one has ended', async () => {
    const socket = raw();
    await socket.init(LIVE_KEY);
    const payload = { query: ALL, variables: { after: await cursorOf() } };
    for (let id = 0; id <= 100; id += 1) socket.send({ id: String(id), type: 'subscribe', payload });
    expect(await socket.next()).toMatchObject({
      id: '100',
      type: 'error',
      payload: [
        {
          message: expect.stringContaining('at most 100'),
          extensions: { code: 'LIMIT_REACHED', retryPolicy: 'AFTER_CHANGE' },
        },
      ],
    });
    await create();
    const got = new Set<string>();
    for (let count = 0; count < 100; count += 1) got.add((await socket.next()).id);
    expect(got.size).toBe(100);

    socket.send({ id: '7', type: 'complete' });
    socket.send({ id: '101', type: 'subscribe', payload });
    expect(await socket.next()).toMatchObject({ id: '101', type: 'next' });
    await create();
    const then = new Set<string>();
    for (let count = 0; count < 100; count += 1) then.add((await socket.next()).id);
    expect([then.has('7'), then.has('101')]).toEqual([false, true]);
  });

  test('a socket with two operations of one id is closed with 4409', async () => {
    const socket = raw();
    await socket.init(LIVE_KEY);
    for (let count = 0; count < 2; count += 1)
      socket.send({ id: 'a', type: 'subscribe', payload: { query: ALL } });
    expect((await socket.closed).code).toBe(4409);
  });

  test.each([
    ['a query', '{ wallet { currency } }'],
    ['a document that is not valid', '{ nothing }'],
    ['a subscription', 'subscription { walletUpdates { occurredAt } }'],
    ['a subscription that is still being opened', 'subscription { allCardPaymentUpdates { cursor } }'],
  ])(
    'an id that is used again right after its completion is the new operation’s: %s',
    async (kind, query) => {
      const socket = raw();
      await socket.init(LIVE_KEY);
      const { _socket: wire } = socket.socket as unknown as { _socket: Duplex };
      const together = (...messages: object[]) => {
        wire.cork();
        for (const message of messages) socket.send({ id: '1', ...message });
        wire.uncork();
      };
      const begin = (text: string, variables = {}) => ({
        type: 'subscribe',
        payload: { query: text, variables },
      });
      const all = begin(ALL, { after: (await app.live.request(CURSOR)).updatesCursor });
      if (kind === 'a subscription') {
        together(begin(query));
        await socket.next();
        together({ type: 'complete' }, all);
      } else together(begin(query), { type: 'complete' }, all);
      socket.send({ id: '2', ...begin(CURSOR) });
      expect(await socket.next()).toMatchObject({ id: '2', type: 'next' });
      expect(await socket.next()).toEqual({ id: '2', type: 'complete' });
      const orderCode = await create();
      const { payload, ...message } = await socket.next();
      expect(message).toEqual({ id: '1', type: 'next' });
      expect(payload.data.allCardPaymentUpdates.cardPayment.orderCode).toBe(orderCode);
      together({ type: 'complete' }, begin('{ wallet { currency } }'));
      expect((await socket.next()).payload).toEqual({ data: { wallet: { currency: 'BRL' } } });
      expect(await socket.next()).toEqual({ id: '1', type: 'complete' });
    },
  );

  test('a socket is closed with 1001 when the server closes', async () => {
    const closing = await startApp();
    const socket = raw({}, closing.url);
    await socket.init(LIVE_KEY);
    socket.send({ id: 'a', type: 'subscribe', payload: { query: ALL } });
    const closed = closing.close();
    expect((await socket.closed).code).toBe(1001);
    await closed;
    expect(closing.faults).toEqual([]);
  });

  test('the client library reconnects by itself, with the last cursor', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const open = () => connectTo(databaseUrl, clock);
    const before = await startApp({ database: await open(), clock });
    const orderCode = await create(before.live);
    const back = deferred();
    const client = before.live.socket({ retryAttempts: 1, retryWait: () => back.promise });
    const variables: Record<string, unknown> = { orderCode };
    const stream = client.iterate<{
      cardPaymentUpdates: { cursor: string; cardPayment: { status: string } };
    }>({ query: ONE, variables });
    const first = await stream.next();
    variables.after = first.value.data.cardPaymentUpdates.cursor;
    const next = stream.next();
    await before.close();

    const port = new URL(before.url).port;
    const after = await startApp({ database: await open(), clock, environment: { PORT: port } });
    await after.cardPayments.pay(orderCode, CARD);
    back.resolve();
    expect((await next).value.data.cardPaymentUpdates.cardPayment.status).toBe('PAID');
    expect((await stream.next()).done).toBe(true);
    await client.dispose();
    await after.close();
  });
});

describe('subscriptions without a subscriber', () => {
  /** The reads of the log while the clock passes some polls: one that is still under way takes the place of the next. */
  const readsOfTheLog = async () => {
    statements.length = 0;
    for (let polls = 0; polls < 3; polls += 1) {
      app.clock.advance(5_000);
      await app.live.request(CURSOR);
    }
    return statements.filter((statement) => /from "?event\b/.test(statement));
  };

  test('a completed subscription, a closed socket and an abandoned stream leave nothing behind', async () => {
    const socket = raw();
    await socket.init(LIVE_KEY);
    const variables = { after: await cursorOf() };
    socket.send({ id: 'a', type: 'subscribe', payload: { query: ALL, variables } });
    const left = app.live.sse(ALL, variables);
    const ended = app.live.ws(ALL, variables);
    await create();
    await Promise.all([socket.next(), left.data(), ended.data()]);
    await expect.poll(readsOfTheLog).not.toEqual([]);

    await left.close();
    await ended.close();
    socket.socket.close();
    await socket.closed;
    await expect.poll(readsOfTheLog).toEqual([]);
  });

  test('a client that leaves before its subscription is open leaves nothing behind', async () => {
    const variables = { after: await cursorOf() };
    for (let count = 0; count < 20; count += 1) {
      const socket = raw();
      socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${LIVE_KEY}` } });
      socket.socket.once('open', () => setImmediate(() => socket.socket.terminate()));
      await socket.closed;
      const abort = new AbortController();
      const answer = fetch(`${app.url}/graphql`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${LIVE_KEY}`,
          'content-type': 'application/json',
          accept: 'text/event-stream',
        },
        body: JSON.stringify({ query: ALL, variables }),
        signal: abort.signal,
      }).catch(() => 'left');
      setTimeout(() => abort.abort(), count % 5);
      await answer;
      abort.abort();
    }
    await expect.poll(readsOfTheLog).toEqual([]);
  });
});

describe('a client that does not read', () => {
  // Each character has three bytes.
  const METADATA = JSON.stringify('€'.repeat(2_000));
  const MANY = 495;
  /** An event has 60 kB: all of them are more than the buffers on the way and the queue hold. */
  const LARGE = `subscription ($after: String) { allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode
    ${Array.from({ length: 10 }, (_, index) => `m${index}: metadata`).join(' ')} } } }`;
  const createMany = async (client: GraphQLClient) => {
    const aliases = Array.from(
      { length: 45 },
      (_, index) =>
        `a${index}: createCardPayment(input: { valueCents: 100, metadata: $metadata }) { __typename }`,
    );
    for (let count = 0; count < MANY; count += 45)
      await client.request(`mutation ($metadata: String) { ${aliases.join(' ')} }`, { metadata: METADATA });
  };

  test('a socket is closed with 1013 and an event stream ends with SLOW_CONSUMER, others get every update, and the client continues at its cursor', async () => {
    const client = app.client(await addKey(app, { accountId: await addAccount(app) }));
    const variables = { after: await cursorOf(client) };
    const stuck = raw();
    await stuck.init(await addKey(app, { accountId: await accountOf(client) }));
    stuck.send({ id: 'a', type: 'subscribe', payload: { query: LARGE, variables } });
    const stream = client.sse(LARGE, variables);
    const reader = client.ws(ALL, variables);
    await create(client);
    await Promise.all([stuck.next(), stream.data(), reader.data()]);
    // This statement follows those of the subscriptions: they stand at the live end.
    let cursor = await cursorOf(client);
    stuck.socket.pause();
    const everything = (async () => {
      const codes = new Set<string>();
      for (let count = 0; count < MANY; count += 1)
        codes.add((await reader.data()).allCardPaymentUpdates.cardPayment.orderCode);
      return codes.size;
    })();

    await createMany(client);
    expect(await everything).toBe(MANY);
    await reader.close();
    stuck.socket.resume();
    expect(await stuck.closed).toEqual({ code: 1013, reason: expect.stringContaining('after') });
    let seen = 0;
    let code: string | undefined;
    for await (const { data, errors } of stream) {
      if (errors) code = errors[0]!.extensions!.code as string;
      else {
        seen += 1;
        cursor = data.allCardPaymentUpdates.cursor;
      }
    }
    expect(code).toBe('SLOW_CONSUMER');
    expect(seen).toBeLessThan(MANY);
    const rest = client.sse(ALL, { after: cursor });
    for (; seen < MANY; seen += 1) await rest.data();
    await rest.close();
  });

  async function accountOf(client: GraphQLClient): Promise<string> {
    const { wallet } = await client.request('{ wallet { id } }');
    return /acc_[0-9a-f]+/.exec(Buffer.from(wallet.id, 'base64').toString())![0];
  }
});
