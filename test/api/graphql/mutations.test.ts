import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { openRawSocket } from '../../support/raw-socket.ts';

const ERRORS = `__typename
  ... on UserError { code message }
  ... on ValidationError { fields { path message } }
  ... on PermissionError { requiresAnyOf }
  ... on RateLimitError { retryAfterSeconds limit }`;
const PAYMENT =
  'orderCode status amountCents description customer { name email } metadata successUrl cancelUrl';
const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { replayed cardPayment { ${PAYMENT} } } ${ERRORS} }
}`;
const MINT = `mutation ($input: CreateCheckoutTokenInput!) {
  createCheckoutToken(input: $input) { ... on CreateCheckoutTokenSuccess { token expiresAt expiresInSeconds } ${ERRORS} }
}`;
const START = `mutation ($input: StartCheckoutInput!) {
  startCheckout(input: $input) { ... on StartCheckoutSuccess { replayed paymentToken cardPayment { ${PAYMENT} } } ${ERRORS} }
}`;
const REVOKE = `mutation ($token: String!) {
  revokeToken(token: $token) { __typename ... on RevokeTokenSuccess { revoked replayed } ... on UserError { code message } }
}`;
const CARD = {
  number: '4242424242424242',
  holder: 'ANA',
  expiryMonth: 12,
  expiryYear: 2030,
  securityCode: '123',
};

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const create = async (input: object, client = app.live) =>
  (await client.request(CREATE, { input })).createCardPayment;
const mint = async (input: object, client = app.live) =>
  (await client.request(MINT, { input })).createCheckoutToken;
const start = async (client: GraphQLClient, input: object) =>
  (await client.request(START, { input })).startCheckout;
const revoke = async (token: string, client = app.live) =>
  (await client.request(REVOKE, { token })).revokeToken;
const page = async (input: object) => app.client((await mint(input)).token);
const attemptId = () => `attempt-${randomUUID()}`;
const anotherKey = async () => app.client(await addKey(app, { accountId: await addAccount(app) }));

describe('createCardPayment', () => {
  test('createCardPayment returns the payment', async () => {
    const input = {
      valueCents: 4990,
      description: 'Caneca',
      callbackUrl: 'https://shop.example/webhook',
      customer: { name: 'Ana', email: 'ana@example.com', externalId: '7' },
      metadata: '{"b": 1,  "a": [2.0]}',
      successUrl: 'https://shop.example/ok',
      cancelUrl: 'http://localhost:3000/no',
    };
    expect(await create(input)).toEqual({
      __typename: 'CreateCardPaymentSuccess',
      replayed: false,
      cardPayment: {
        orderCode: expect.stringMatching(/^PSC-[0-9A-Z]{24}$/),
        status: 'PENDING',
        amountCents: 4990,
        description: 'Caneca',
        customer: { name: 'Ana', email: 'ana@example.com' },
        metadata: '{"b": 1,  "a": [2.0]}',
        successUrl: 'https://shop.example/ok',
        cancelUrl: 'http://localhost:3000/no',
      },
    });
  });

  test('createCardPayment accepts more than 32 bits of cents', async () => {
    expect((await create({ valueCents: 2_147_483_648 })).cardPayment.amountCents).toBe(2_147_483_648);
  });

  test('createCardPayment returns the same payment for a repeated key, and IdempotencyError for another input', async () => {
    const first = await create({ valueCents: 100, idempotencyKey: 'a-key' });
    const second = await create({ valueCents: 100, idempotencyKey: 'a-key' });
    expect(second).toEqual({ ...first, replayed: true });
    expect(await create({ valueCents: 101, idempotencyKey: 'a-key' })).toMatchObject({
      __typename: 'IdempotencyError',
      code: 'IDEMPOTENCY_CONFLICT',
    });
    const other = await create({ valueCents: 100, idempotencyKey: 'a-key' }, await anotherKey());
    expect(other).toMatchObject({ replayed: false });
    expect(other.cardPayment.orderCode).not.toBe(first.cardPayment.orderCode);
  });

  test('createCardPayment names every wrong field', async () => {
    expect(
      await create({
        valueCents: 79,
        description: 'x'.repeat(201),
        callbackUrl: 'ftp://shop.example/',
        customer: { email: 'nobody' },
        metadata: '{',
        successUrl: 'javascript:alert(1)',
        cancelUrl: '',
        idempotencyKey: ' ',
      }),
    ).toMatchObject({
      __typename: 'ValidationError',
      code: 'BAD_USER_INPUT',
      fields: expect.arrayContaining(
        [
          'valueCents',
          'description',
          'callbackUrl',
          'customer.email',
          'metadata',
          'successUrl',
          'cancelUrl',
          'idempotencyKey',
        ].map((field) => ({ path: `input.${field}`, message: expect.any(String) })),
      ),
    });
  });

  test('createCardPayment gives PreconditionError in the sandbox, and for an account without cards', async () => {
    expect(await create({ valueCents: 100 }, app.sandbox)).toMatchObject({
      __typename: 'PreconditionError',
      code: 'NOT_IN_SANDBOX',
    });
    const accountId = await addAccount(app, { cardPaymentsEnabled: false });
    expect(await create({ valueCents: 100 }, app.client(await addKey(app, { accountId })))).toMatchObject({
      __typename: 'PreconditionError',
      code: 'CARD_PAYMENTS_NOT_CONFIGURED',
    });
  });

  test('createCardPayment gives PermissionError to a restricted key', async () => {
    const restricted = app.client(await addKey(app, { permissions: ['subcontas.gerenciar'] }));
    expect(await create({ valueCents: 100 }, restricted)).toMatchObject({
      __typename: 'PermissionError',
      code: 'FORBIDDEN',
      requiresAnyOf: [],
    });
  });

  test('createCardPayment gives RateLimitError beyond the limit', async () => {
    const limited = await startApp({ environment: { PSA_GRAPHQL_LIMIT: '1' } });
    try {
      expect(await create({ valueCents: 100 }, limited.live)).toMatchObject({
        __typename: 'CreateCardPaymentSuccess',
      });
      expect(await create({ valueCents: 100 }, limited.live)).toMatchObject({
        __typename: 'RateLimitError',
        code: 'RATE_LIMITED',
        retryAfterSeconds: 60,
        limit: '1 root fields a minute',
      });
    } finally {
      await limited.close();
    }
  });
});

describe('createCheckoutToken', () => {
  const inHours = (hours: number) => new Date(app.clock.now().getTime() + hours * 3_600_000).toISOString();

  test.each([
    ['a fixed amount', { fixedCents: 80 }],
    ['a range', { range: { minCents: 80, maxCents: 80 } }],
  ])('createCheckoutToken mints an opaque token for %s, valid for a day', async (_, amount) => {
    const { token, expiresAt } = await mint({ amount, metadata: '{"secret":1}' });
    expect(token).toMatch(/^ps_checkout_[A-Za-z0-9_-]{43}$/);
    expect(expiresAt).toBe(inHours(24));
  });

  test('createCheckoutToken mints reusable tokens without an expiry, and either kind with a given expiry', async () => {
    const amount = { fixedCents: 4990 };
    expect(await mint({ amount, reusable: true })).toMatchObject({ expiresAt: null, expiresInSeconds: null });
    expect((await mint({ amount, reusable: true, expiresInSeconds: 7200 })).expiresAt).toBe(inHours(2));
    expect(await mint({ amount, expiresInSeconds: 60 })).toMatchObject({
      expiresAt: inHours(1 / 60),
      expiresInSeconds: 60,
    });
    const { createDashboardToken } = await app.live.request(
      'mutation { createDashboardToken(input: { scopes: [WALLET], expiresInSeconds: 90 }) { ... on CreateDashboardTokenSuccess { expiresInSeconds } } }',
    );
    expect(createDashboardToken.expiresInSeconds).toBe(90);
  });

  test('createCheckoutToken gives NotFoundError for an unknown product', async () => {
    expect(await mint({ amount: { productId: 'ab'.repeat(12) } })).toMatchObject({
      __typename: 'NotFoundError',
      code: 'NOT_FOUND',
    });
  });

  test('createCheckoutToken names each wrong field', async () => {
    for (const [wrong, path] of [
      [{ amount: { fixedCents: 79 } }, 'input.amount.fixedCents'],
      [{ amount: { range: { minCents: 500, maxCents: 499 } } }, 'input.amount.range.maxCents'],
      [{ amount: { range: { minCents: 1, maxCents: 500 } } }, 'input.amount.range.minCents'],
      [{ amount: { productId: '../../x' } }, 'input.amount.productId'],
      [{ allowedOrigins: ['https://shop.example/path'] }, 'input.allowedOrigins.0'],
      [{ allowedOrigins: ['*'] }, 'input.allowedOrigins.0'],
      [{ allowedOrigins: ['null'] }, 'input.allowedOrigins.0'],
      [{ allowedOrigins: Array(21).fill('https://shop.example') }, 'input.allowedOrigins'],
      [{ expiresInSeconds: 59 }, 'input.expiresInSeconds'],
      [{ expiresInSeconds: 31_536_001 }, 'input.expiresInSeconds'],
      [{ expiresInSeconds: -1 }, 'input.expiresInSeconds'],
      [{ description: '' }, 'input.description'],
      [{ callbackUrl: 'http://user:word@shop.example/' }, 'input.callbackUrl'],
      [{ metadata: 'not json' }, 'input.metadata'],
    ] as const)
      expect([wrong, await mint({ amount: { fixedCents: 4990 }, ...wrong })]).toMatchObject([
        ...[wrong, { __typename: 'ValidationError', fields: [{ path, message: expect.any(String) }] }],
      ]);
  });

  test('createCheckoutToken takes exactly one amount', async () => {
    for (const amount of [
      {},
      { fixedCents: 100, productId: 'ab'.repeat(12) },
      { fixedCents: null },
      { fixedCents: 100, range: null },
      { fixedCents: -1 },
      { fixedCents: 1.5 },
      { fixedCents: '100' },
      { fixedCents: 9_007_199_254_740_992 },
    ]) {
      const { body } = await app.live.send(MINT, { input: { amount } });
      expect([amount, body.errors[0]]).toMatchObject([
        ...[
          amount,
          { message: expect.stringContaining('input.amount'), extensions: { code: 'BAD_USER_INPUT' } },
        ],
      ]);
      expect(body.data).toBeUndefined();
    }
  });

  test('createCheckoutToken gives PreconditionError in the sandbox, and PermissionError to all but unrestricted keys', async () => {
    const input = { amount: { fixedCents: 4990 } };
    expect(await mint(input, app.sandbox)).toMatchObject({
      __typename: 'PreconditionError',
      code: 'NOT_IN_SANDBOX',
    });
    const restricted = app.client(await addKey(app, { permissions: ['subcontas.sacar'] }));
    expect(await mint(input, restricted)).toMatchObject({ __typename: 'PermissionError' });
    expect(await mint(input, await page(input))).toMatchObject({ __typename: 'PermissionError' });
  });
});

describe('startCheckout', () => {
  test('startCheckout starts the payment of the token, and shows nothing that is for the merchant alone', async () => {
    const input = {
      amount: { fixedCents: 4990 },
      description: 'Caneca',
      customer: { name: 'Ana' },
      metadata: '{"margin":0.4}',
      callbackUrl: 'https://shop.example/secret-path',
    };
    const started = await start(await page(input), { attemptId: attemptId() });
    expect(started).toMatchObject({
      __typename: 'StartCheckoutSuccess',
      paymentToken: expect.stringMatching(/^ps_payment_[A-Za-z0-9_-]{43}$/),
      cardPayment: {
        status: 'PENDING',
        amountCents: 4990,
        description: 'Caneca',
        customer: null,
        metadata: null,
      },
    });
    const { orderCode } = started.cardPayment;
    const query =
      'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { customer { name } metadata } }';
    expect(await app.client(started.paymentToken).request(query, { orderCode })).toEqual({
      cardPayment: { customer: null, metadata: null },
    });
    expect(await app.live.request(query, { orderCode })).toEqual({
      cardPayment: { customer: { name: 'Ana' }, metadata: '{"margin":0.4}' },
    });
  });

  test('startCheckout returns the same payment for the same attempt id, and IdempotencyError for another amount', async () => {
    const client = await page({ amount: { range: { minCents: 100, maxCents: 900 } } });
    const id = attemptId();
    const first = await start(client, { attemptId: id, valueCents: 500 });
    const again = await start(client, { attemptId: id, valueCents: 500 });
    expect(again.cardPayment).toEqual(first.cardPayment);
    expect([first.replayed, again.replayed]).toEqual([false, true]);
    expect(await start(client, { attemptId: id, valueCents: 501 })).toMatchObject({
      __typename: 'IdempotencyError',
    });
  });

  test('startCheckout gives a second device the open payment of a single-use token, and a token that follows it', async () => {
    const client = await page({ amount: { fixedCents: 4990 } });
    const first = await start(client, { attemptId: attemptId() });
    const second = await start(client, { attemptId: attemptId() });
    expect(second.cardPayment).toEqual(first.cardPayment);
    expect(second.replayed).toBe(true);
    expect(second.paymentToken).not.toBe(first.paymentToken);
    const { orderCode } = first.cardPayment;
    await app.cardPayments.pay(orderCode, CARD);
    const query = 'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { status } }';
    for (const { paymentToken } of [first, second])
      expect(await app.client(paymentToken).request(query, { orderCode })).toEqual({
        cardPayment: { status: 'PAID' },
      });
  });

  test('startCheckout gives PreconditionError in plain words where the order was paid elsewhere', async () => {
    const client = await page({ amount: { fixedCents: 4990 }, externalId: 'graphql-1042' });
    const { cardPayment } = await create({ valueCents: 4990, externalId: 'graphql-1042' });
    await app.cardPayments.pay(cardPayment.orderCode, CARD);
    expect(await start(client, { attemptId: attemptId() })).toMatchObject({
      __typename: 'PreconditionError',
      code: 'ORDER_PAID',
      message: 'This order has already been paid',
    });
  });

  test('A payment’s externalId is shown to its merchant, and to no browser', async () => {
    const client = await page({ amount: { fixedCents: 4990 }, externalId: 'graphql-1043' });
    const { cardPayment, paymentToken } = await start(client, { attemptId: attemptId() });
    const query = 'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { externalId } }';
    const { orderCode } = cardPayment;
    const read = (by: typeof client) => by.request(query, { orderCode });
    expect(await read(app.live)).toEqual({ cardPayment: { externalId: 'graphql-1043' } });
    expect(await read(app.client(paymentToken))).toEqual({ cardPayment: { externalId: null } });
    const document =
      'mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) { ... on StartCheckoutSuccess { cardPayment { externalId } } } }';
    expect(await client.request(document, { input: { attemptId: attemptId() } })).toEqual({
      startCheckout: { cardPayment: { externalId: null } },
    });
    expect(await read(app.client(await addKey(app, { permissions: [] })))).toEqual({
      cardPayment: { externalId: 'graphql-1043' },
    });
  });

  test('createCheckoutToken gives another token of the same order, and IdempotencyError for another input', async () => {
    const input = { amount: { fixedCents: 4990 }, externalId: 'graphql-1044', allowedOrigins: [] };
    const [first, again] = [await mint(input), await mint({ ...input, expiresInSeconds: 600 })];
    expect(again.token).not.toBe(first.token);
    const started = [];
    for (const { token } of [first, again])
      started.push(await start(app.client(token), { attemptId: attemptId() }));
    expect(started[1].cardPayment.orderCode).toBe(started[0].cardPayment.orderCode);
    const count = async () =>
      (await app.database.sql.selectFrom('token').select('id').where('kind', '=', 'checkout').execute())
        .length;
    const before = await count();
    expect(await mint({ ...input, amount: { fixedCents: 4991 } })).toMatchObject({
      __typename: 'IdempotencyError',
      code: 'IDEMPOTENCY_CONFLICT',
    });
    expect(await mint({ ...input, reusable: true })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: 'input.externalId', message: expect.stringContaining('reusable') }],
    });
    for (const externalId of ['', 'x'.repeat(101), 'line\nbreak'])
      expect(await mint({ ...input, externalId })).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: 'input.externalId' }],
      });
    expect(await count()).toBe(before);
  });

  test('createCheckoutToken takes amountCents for a fixed amount, and orderId for the order', async () => {
    const named = { amountCents: 4990, orderId: 'graphql-1045' };
    const [first, again] = [
      await mint(named),
      await mint({ amount: { fixedCents: 4990 }, externalId: 'graphql-1045' }),
    ];
    const started = [];
    for (const { token } of [first, again])
      started.push(await start(app.client(token), { attemptId: attemptId() }));
    expect(started[1].cardPayment.orderCode).toBe(started[0].cardPayment.orderCode);
    for (const [input, path, other] of [
      [{ ...named, amount: { fixedCents: 4990 } }, 'input.amount', 'amountCents'],
      [{ orderId: 'graphql-1045' }, 'input.amount', 'amountCents'],
      [{ ...named, amountCents: 79 }, 'input.amountCents', '80'],
      [{ ...named, externalId: 'graphql-1046' }, 'input.orderId', 'externalId'],
      [{ ...named, reusable: true }, 'input.orderId', 'reusable'],
    ] as const)
      expect(await mint(input)).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path, message: expect.stringContaining(other) }],
      });
  });

  test('startCheckout refuses what the token does not grant, by the name of the field', async () => {
    for (const [grant, input, path] of [
      [{ amount: { fixedCents: 4990 } }, { valueCents: 4991 }, 'input.valueCents'],
      [{ amount: { range: { minCents: 100, maxCents: 900 } } }, {}, 'input.amountCents'],
      [{ amount: { range: { minCents: 100, maxCents: 900 } } }, { amountCents: 901 }, 'input.amountCents'],
      [{ amountCents: 4990 }, { amountCents: 4991 }, 'input.amountCents'],
      [{ amountCents: 4990 }, { amountCents: 4990, valueCents: 4990 }, 'input.amountCents'],
      [{ amount: { range: { minCents: 100, maxCents: 900 } } }, { valueCents: 99 }, 'input.valueCents'],
      [{ amount: { range: { minCents: 100, maxCents: 900 } } }, { valueCents: 901 }, 'input.valueCents'],
      [{ amount: { fixedCents: 4990 } }, { attemptId: 'short' }, 'input.attemptId'],
      [{ amount: { fixedCents: 4990 } }, { attemptId: 'x'.repeat(129) }, 'input.attemptId'],
      [{ amount: { fixedCents: 4990 } }, { customer: { email: 'nobody' } }, 'input.customer.email'],
    ] as const) {
      const refused = await start(await page(grant), { attemptId: attemptId(), ...input });
      expect([grant, input, refused]).toMatchObject([
        ...[grant, input, { __typename: 'ValidationError', fields: [{ path }] }],
      ]);
    }
  });

  test('startCheckout gives PermissionError for every other credential', async () => {
    const { paymentToken } = await start(await page({ amount: { fixedCents: 4990 } }), {
      attemptId: attemptId(),
    });
    for (const client of [app.live, app.sandbox, app.client(paymentToken)])
      expect(await start(client, { attemptId: attemptId() })).toMatchObject({
        __typename: 'PermissionError',
      });
  });

  test('startCheckout is refused after the token has expired', async () => {
    const client = await page({ amount: { fixedCents: 4990 }, expiresInSeconds: 60 });
    app.clock.advance(59_999);
    expect(await start(client, { attemptId: attemptId() })).toMatchObject({
      __typename: 'StartCheckoutSuccess',
    });
    app.clock.advance(1);
    const { status, body } = await client.send(START, { input: { attemptId: attemptId() } });
    expect(status).toBe(401);
    expect(body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  test('startCheckout with a token of allowed origins works on those pages alone', async () => {
    const { token } = await mint({
      amount: { fixedCents: 4990 },
      allowedOrigins: ['https://shop.example', 'http://localhost:3000/'],
    });
    for (const origin of ['https://shop.example', 'http://localhost:3000']) {
      const { viewer } = await app.client(token, { origin }).request('{ viewer { credential } }');
      expect(viewer.credential).toBe('CHECKOUT_TOKEN');
    }
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://shop.example' },
      {},
    ]) {
      const { status, body } = await app.client(token, headers).send('{ viewer { credential } }');
      expect(status).toBe(403);
      expect(body.errors[0].extensions.code).toBe('FORBIDDEN');
    }
  });
});

describe('revokeToken', () => {
  test('revokeToken ends a token at once, and nobody is admitted with it', async () => {
    const { token } = await mint({ amount: { fixedCents: 4990 }, reusable: true });
    expect(await revoke(token)).toEqual({
      ...{ __typename: 'RevokeTokenSuccess', revoked: true, replayed: false },
    });
    expect((await app.client(token).send('{ viewer { credential } }')).status).toBe(401);
    // The answer to the first may have been lost.
    expect(await revoke(token)).toEqual({
      ...{ __typename: 'RevokeTokenSuccess', revoked: true, replayed: true },
    });
  });

  test('revokeToken gives NotFoundError for a token of another tenant, which stays valid', async () => {
    const { token } = await mint({ amount: { fixedCents: 4990 }, reusable: true });
    for (const client of [await anotherKey(), app.sandbox])
      expect(await revoke(token, client)).toMatchObject({ __typename: 'NotFoundError', code: 'NOT_FOUND' });
    expect((await app.client(token).send('{ viewer { credential } }')).status).toBe(200);
    for (const unknown of ['', 'ps_checkout_x', '\u0000', 'x'.repeat(5_000)])
      expect(await revoke(unknown)).toMatchObject({ __typename: 'NotFoundError' });
  });

  test('revokeToken gives PermissionError to a restricted key and to the token itself', async () => {
    const { token } = await mint({ amount: { fixedCents: 4990 }, reusable: true });
    const restricted = app.client(await addKey(app, { permissions: ['subcontas.gerenciar'] }));
    for (const client of [restricted, app.client(token)])
      expect(await revoke(token, client)).toMatchObject({ __typename: 'PermissionError' });
  });

  test('revokeToken closes the token’s open socket with 4403 and ends its event stream with UNAUTHENTICATED', async () => {
    const token = await addToken(app, { kind: 'dashboard', grant: { scopes: ['card_payments'] } });
    const stays = await addToken(app, { kind: 'dashboard', grant: { scopes: ['card_payments'] } });
    const { updatesCursor } = await app.live.request('{ updatesCursor }');
    const query = `subscription { allCardPaymentUpdates(after: "${updatesCursor}") { cardPayment { orderCode } } }`;
    const [socket, other] = [openRawSocket(app.url), openRawSocket(app.url)];
    expect(await socket.init(token)).toMatchObject({ type: 'connection_ack' });
    expect(await other.init(stays)).toMatchObject({ type: 'connection_ack' });
    for (const each of [socket, other]) each.send({ id: '1', type: 'subscribe', payload: { query } });
    const stream = app.client(token).sse(query);
    const { cardPayment } = await create({ valueCents: 100 });
    const next = { allCardPaymentUpdates: { cardPayment: { orderCode: cardPayment.orderCode } } };
    expect(await stream.data()).toEqual(next);
    expect((await socket.next()).payload.data).toEqual(next);
    expect((await other.next()).payload.data).toEqual(next);

    expect(await revoke(token)).toMatchObject({ revoked: true });

    expect((await socket.closed).code).toBe(4403);
    const last = await stream.next();
    expect(last.value.errors[0].extensions).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await stream.next()).done).toBe(true);
    const { cardPayment: later } = await create({ valueCents: 100 });
    expect((await other.next()).payload.data.allCardPaymentUpdates.cardPayment).toEqual({
      orderCode: later.orderCode,
    });
    other.socket.close();
  });
});

test('a payment token follows its payment to the end, and no other', async () => {
  const { paymentToken, cardPayment } = await start(await page({ amount: { fixedCents: 4990 } }), {
    attemptId: attemptId(),
  });
  const query =
    'subscription ($orderCode: String!) { cardPaymentUpdates(orderCode: $orderCode) { cardPayment { status metadata } } }';
  const updates = app.client(paymentToken).ws(query, { orderCode: cardPayment.orderCode });
  expect((await updates.data()).cardPaymentUpdates.cardPayment.status).toBe('PENDING');
  await app.cardPayments.pay(cardPayment.orderCode, CARD);
  expect((await updates.data()).cardPaymentUpdates.cardPayment).toEqual({ status: 'PAID', metadata: null });
  expect((await updates.next()).done).toBe(true);

  const { cardPayment: other } = await create({ valueCents: 100 });
  await expect(app.client(paymentToken).ws(query, { orderCode: other.orderCode }).data()).rejects.toThrow(
    'NOT_FOUND',
  );
});
