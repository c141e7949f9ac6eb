import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { openFreshDatabase } from '../../support/database.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { recordStatements } from '../../support/statements.ts';

const CARD = {
  number: '4242424242424242',
  holder: 'ANA',
  expiryMonth: 12,
  expiryYear: 2030,
  securityCode: '123',
};
const NOWHERE = 'PSC-000000000000000000000000';
const GRANT = { amount: { kind: 'fixed', cents: 4990 }, reusable: true };

let app: TestApp;
let statements: string[];
let other: GraphQLClient;
let codes: string[];

beforeAll(async () => {
  const clock = createManualClock();
  const recorded = recordStatements(await openFreshDatabase(clock));
  statements = recorded.statements;
  app = await startApp({ database: recorded.database, clock });
  other = app.client(await addKey(app, { accountId: await addAccount(app) }));
  codes = [];
  for (const valueCents of [1000, 2000, 3000, 4000, 5000]) codes.push(await create(app.live, valueCents));
  await app.cardPayments.pay(codes[1]!, CARD);
  await app.cardPayments.pay(codes[3]!, CARD);
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function create(client: GraphQLClient, valueCents = 4990): Promise<string> {
  const { createCardPayment } = await client.request(
    `mutation ($valueCents: Cents!) {
      createCardPayment(input: { valueCents: $valueCents, metadata: "{\\"a\\": 1}", customer: { name: "Ana" } }) {
        ... on CreateCardPaymentSuccess { cardPayment { orderCode } } ... on UserError { message }
      }
    }`,
    { valueCents },
  );
  return createCardPayment.cardPayment.orderCode;
}

describe('viewer', () => {
  const VIEWER = '{ viewer { environment credential permissions rateLimit { limit remaining resetAt } } }';

  test.each([
    ['a live key', 'LIVE', () => app.live],
    ['a test key', 'SANDBOX', () => app.sandbox],
  ] as const)('the viewer with %s is unrestricted', async (_, environment, client) => {
    const { viewer } = await client().request(VIEWER);
    expect(viewer).toMatchObject({
      environment,
      credential: 'API_KEY',
      permissions: [],
      rateLimit: { limit: 1200 },
    });
  });

  test('the viewer with a restricted key has its permissions', async () => {
    const restricted = app.client(await addKey(app, { permissions: ['subcontas.sacar'] }));
    expect((await restricted.request(VIEWER)).viewer.permissions).toEqual(['subcontas.sacar']);
  });

  test.each([
    ['CHECKOUT_TOKEN', 'checkout', GRANT],
    ['PAYMENT_TOKEN', 'payment', { orderCode: NOWHERE }],
    ['DASHBOARD_TOKEN', 'dashboard', { scopes: [] }],
  ] as const)(
    'the viewer with a %s has a smaller limit, and no permissions of a key',
    async (credential, kind, grant) => {
      const client = app.client(await addToken(app, { kind, grant }));
      const { viewer } = await client.request(VIEWER);
      expect(viewer).toMatchObject({
        environment: 'LIVE',
        credential,
        permissions: null,
        rateLimit: { limit: 120 },
      });
    },
  );

  test.each([null, 'ps_live_', 'ps_live_unknown0123456789abcdef', 'ps_checkout_unknown', 'nonsense', 'a b'])(
    'the viewer is refused with the credential %j',
    async (credential) => {
      const { status, headers, body } = await app.client(credential).send(VIEWER);
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe('Bearer');
      expect(body.errors[0].extensions).toMatchObject({ code: 'UNAUTHENTICATED' });
    },
  );

  test('the viewer is refused with an unknown key of the other environment', async () => {
    const { status } = await app.client('ps_test_test0123456789abcdeX').send(VIEWER);
    expect(status).toBe(401);
  });
});

describe('wallet', () => {
  const WALLET = `{ wallet { id currency balanceCents disputeBlockedCents withdrawableCents pendingReleaseCents
    receivableCents subaccountsBalanceCents assignableCents cryptoBalanceLtc sandbox } }`;

  test('the wallet shows the balances of the ledger', async () => {
    expect((await app.live.request(WALLET)).wallet).toEqual({
      id: expect.any(String),
      currency: 'BRL',
      balanceCents: 0,
      disputeBlockedCents: 0,
      withdrawableCents: 0,
      pendingReleaseCents: 6000,
      receivableCents: 0,
      subaccountsBalanceCents: 0,
      assignableCents: 0,
      cryptoBalanceLtc: '0.00000000',
      sandbox: false,
    });
  });

  test('the wallet is another one for each environment and account, by its id too', async () => {
    const wallets = await Promise.all([app.live, app.sandbox, other].map((client) => client.request(WALLET)));
    expect(new Set(wallets.map(({ wallet }) => wallet.id)).size).toBe(3);
    expect(wallets[1].wallet).toMatchObject({ sandbox: true, pendingReleaseCents: 0 });
    expect(wallets[2].wallet).toMatchObject({ sandbox: false, pendingReleaseCents: 0 });
  });
});

describe('cardPayment', () => {
  const ONE = 'query ($code: String!) { cardPayment(orderCode: $code) { orderCode amountCents } }';

  test('a card payment is null for a code that nobody has, without an error', async () => {
    const codes = ['', NOWHERE, 'a\u0000b', '\ud800', 'x'.repeat(200), "'; drop table card_payment; --"];
    for (const code of codes) expect(await app.live.request(ONE, { code })).toEqual({ cardPayment: null });
  });

  test('a card payment is shown to its payment token, and no other payment is', async () => {
    const client = app.client(await addToken(app, { kind: 'payment', grant: { orderCode: codes[0] } }));
    expect((await client.request(ONE, { code: codes[0] })).cardPayment.amountCents).toBe(1000);
    expect(await client.request(ONE, { code: codes[1] })).toEqual({ cardPayment: null });
  });

  test('a card payment hides customer and metadata from a browser’s token', async () => {
    const query = 'query ($code: String!) { cardPayment(orderCode: $code) { customer { name } metadata } }';
    const token = app.client(await addToken(app, { kind: 'payment', grant: { orderCode: codes[0] } }));
    const seen = { customer: { name: 'Ana' }, metadata: '{"a": 1}' };
    expect((await app.live.request(query, { code: codes[0] })).cardPayment).toEqual(seen);
    expect((await token.request(query, { code: codes[0] })).cardPayment).toEqual({
      customer: null,
      metadata: null,
    });
  });

  test('a card payment under 20 aliases takes one statement', async () => {
    const aliases = Array.from(
      { length: 20 },
      (_, index) => `a${index}: cardPayment(orderCode: "${codes[index % 4]}") { status }`,
    );
    await app.live.request('{ __typename }');
    statements.length = 0;
    const answer = await app.live.request(`{ ${aliases.join(' ')} }`);
    expect(Object.keys(answer)).toEqual(Array.from({ length: 20 }, (_, index) => `a${index}`));
    expect(statements.filter((statement) => statement.includes('"card_payment"'))).toHaveLength(1);
    // The caller is cached from the request before.
    expect(statements).toHaveLength(1);
  });

  test('a card payment counts its seconds to the expiry by the server’s clock, down to 0', async () => {
    const query =
      'query ($code: String!) { cardPayment(orderCode: $code) { createdAt expiresAt expiresInSeconds } }';
    const { cardPayment } = await app.live.request(query, { code: codes[0] });
    const lifetimeMs = Date.parse(cardPayment.expiresAt) - Date.parse(cardPayment.createdAt);
    expect(lifetimeMs).toBe(30 * 60_000);
    expect(cardPayment.expiresInSeconds).toBe(
      (Date.parse(cardPayment.expiresAt) - app.clock.now().getTime()) / 1000,
    );
  });
});

describe('node and nodes', () => {
  const NODES =
    'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on CardPayment { orderCode } } }';
  const NODE = 'query ($id: ID!) { node(id: $id) { __typename id } }';
  const idOf = async (client: GraphQLClient, code: string) =>
    (await client.request('query ($code: String!) { cardPayment(orderCode: $code) { id } }', { code }))
      .cardPayment.id;
  const encoded = (text: string) => Buffer.from(text).toString('base64');

  test('a node is found by every id that the schema gives', async () => {
    const { wallet } = await app.live.request('{ wallet { id } }');
    const id = await idOf(app.live, codes[0]!);
    expect(await app.live.request(NODE, { id: wallet.id })).toEqual({
      node: { __typename: 'Wallet', id: wallet.id },
    });
    expect(await app.live.request(NODE, { id })).toEqual({ node: { __typename: 'CardPayment', id } });
  });

  test('nodes keep order, repetitions and gaps', async () => {
    const first = await idOf(app.live, codes[0]!);
    const second = await idOf(app.live, codes[1]!);
    const gap = encoded(`CardPayment:${NOWHERE}`);
    statements.length = 0;
    const { nodes } = await app.live.request(NODES, { ids: [second, gap, first, second] });
    expect(nodes.map((node: { id: string } | null) => node?.id)).toEqual([second, undefined, first, second]);
    expect(statements.filter((statement) => statement.includes('"card_payment"'))).toHaveLength(1);
  });

  test('a node of another tenant is null', async () => {
    const { wallet } = await other.request('{ wallet { id } }');
    const ids = [await idOf(app.live, codes[0]!), wallet.id];
    expect((await app.sandbox.request(NODES, { ids })).nodes).toEqual([null, null]);
    expect((await other.request(NODES, { ids: ids.slice(0, 1) })).nodes).toEqual([null]);
    expect((await app.live.request(NODES, { ids: ids.slice(1) })).nodes).toEqual([null]);
  });

  test.each([`CardPayment:${NOWHERE}`, 'CardPayment:\u0000', 'Wallet:live'])(
    'a node is null for an id of %j',
    async (text) => {
      expect(await app.live.request(NODE, { id: encoded(text) })).toEqual({ node: null });
    },
  );

  test.each([
    ...['', 'x', '%', 'Q2FyZA', ' ', 7],
    ...['no colon', 'Wallet:', '__proto__:1', 'constructor:1', 'Nonsense:1'].map(encoded),
    // Types whose objects have no id.
    ...['Viewer:1', 'CardPaymentConnection:1', 'Query:1', 'String:1', 'Node:1'].map(encoded),
  ])('a node with the id %j is refused, naming the id', async (id) => {
    const { body } = await app.live.send(NODE, { id });
    expect(body.data).toEqual({ node: null });
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ path: 'id' }] });
    expect((await app.live.send(NODES, { ids: [id] })).body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('nodes are at most 100 at once', async () => {
    const ids = Array.from({ length: 101 }, () => encoded(`CardPayment:${NOWHERE}`));
    const { body } = await app.live.send(NODES, { ids });
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ path: 'ids' }] });
    expect((await app.live.request(NODES, { ids: ids.slice(1) })).nodes).toHaveLength(100);
  });
});

describe('updatesCursor', () => {
  test('an updatesCursor leaves no gap between a list and the subscription', async () => {
    const client = app.client(await addKey(app, { accountId: await addAccount(app) }));
    await create(client);
    const { updatesCursor, cardPayments } = await client.request(
      '{ updatesCursor cardPayments { totalCount } }',
    );
    expect(cardPayments.totalCount).toBe(1);
    const between = await create(client);
    const updates = client.sse(
      'subscription ($after: String) { allCardPaymentUpdates(after: $after) { cardPayment { orderCode } } }',
      { after: updatesCursor },
    );
    const later = create(client);
    expect((await updates.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(between);
    expect((await updates.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(await later);
    await updates.close();
  });

  test('an updatesCursor of an account without events can be followed', async () => {
    const client = app.client(await addKey(app, { accountId: await addAccount(app) }));
    const { updatesCursor } = await client.request('{ updatesCursor }');
    const updates = client.ws(
      'subscription ($after: String) { allCardPaymentUpdates(after: $after) { cardPayment { orderCode } } }',
      { after: updatesCursor },
    );
    const orderCode = create(client);
    expect((await updates.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(await orderCode);
    await updates.close();
  });
});

test('fields are in the order of the query, whichever is ready first', async () => {
  const answer = await app.live.request(
    `{ z: wallet { sandbox id currency } updatesCursor viewer { rateLimit { remaining limit } environment } a: cardPayment(orderCode: "x") { id } }`,
  );
  expect(Object.keys(answer)).toEqual(['z', 'updatesCursor', 'viewer', 'a']);
  expect(Object.keys(answer.z)).toEqual(['sandbox', 'id', 'currency']);
  expect(Object.keys(answer.viewer)).toEqual(['rateLimit', 'environment']);
});

describe('the schema', () => {
  const full = getIntrospectionQuery({
    descriptions: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
  });

  test('introspection is answered to API keys', async () => {
    expect((await app.live.request(full)).__schema.types.length).toBeGreaterThan(20);
    const restricted = app.client(await addKey(app, { permissions: ['subcontas.sacar'] }));
    expect(await restricted.request('{ __type(name: "Wallet") { name } }')).toEqual({
      __type: { name: 'Wallet' },
    });
  });

  test.each([
    ['checkout', GRANT],
    ['payment', { orderCode: NOWHERE }],
    ['dashboard', { scopes: ['wallet'] }],
  ] as const)('introspection is refused to a %s token', async (kind, grant) => {
    const client = app.client(await addToken(app, { kind, grant }));
    for (const query of [
      full,
      '{ __type(name: "Wallet") { name } }',
      '{ ...F } fragment F on Query { s: __schema { queryType { name } } }',
    ]) {
      const { status, body } = await client.send(query);
      expect(status).toBe(403);
      expect(body).toMatchObject({
        errors: [
          { message: expect.any(String), extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' } },
        ],
      });
    }
    expect(await client.request('{ __typename viewer { __typename } }')).toEqual({
      __typename: 'Query',
      viewer: { __typename: 'Viewer' },
    });
  });

  test('introspection is answered to GraphiQL in a demo, and elsewhere refused without a key', async () => {
    expect((await app.client(null).request(full)).__schema).toBeTruthy();
    const closed = await startApp({ environment: { PSA_DEMO: 'off' } });
    try {
      const { status, body } = await closed.client(null).send(full);
      expect(status).toBe(401);
      expect(body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
      expect((await closed.live.request(full)).__schema).toBeTruthy();
      const page = await fetch(`${closed.url}/graphql`, { headers: { accept: 'text/html' } });
      expect(await page.text()).not.toContain('GraphiQL');
    } finally {
      await closed.close();
    }
  });
});
