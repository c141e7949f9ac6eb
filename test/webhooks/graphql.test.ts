import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { DESCRIBED_WEBHOOKS } from '../../server/src/webhooks/sent-events.ts';
import { addAccount, addKey, addToken } from '../support/accounts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { approved } from '../support/cards.ts';
import { createManualClock } from '../support/clock.ts';
import { openFreshDatabase } from '../support/database.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import { startReceiver } from '../support/receiver.ts';
import { recordStatements } from '../support/statements.ts';

const CONFIGURE = `mutation ($input: ConfigureWebhookInput!) { configureWebhook(input: $input) {
  __typename ... on ConfigureWebhookSuccess { secret endpoint { url enabled optionalEvents previousSecretValidUntil } }
  ... on UserError { code message } ... on ValidationError { fields { path } } } }`;
const READ = '{ webhookEndpoint { url enabled optionalEvents previousSecretValidUntil } }';
const CREATE = `mutation ($input: CreateCardPaymentInput!) { made: createCardPayment(input: $input) {
  __typename ... on CreateCardPaymentSuccess { cardPayment { orderCode } } ... on ValidationError { fields { path message } } } }`;
const MINT = `mutation ($input: CreateCheckoutTokenInput!) { made: createCheckoutToken(input: $input) {
  __typename ... on CreateCheckoutTokenSuccess { token } ... on ValidationError { fields { path message } } } }`;
const REDELIVER = `mutation ($webhookId: String!) { redeliverWebhook(webhookId: $webhookId) {
  __typename ... on RedeliverWebhookSuccess { delivery { webhookId status } } ... on UserError { code message } } }`;
const LIST = `query ($first: Int, $after: String, $last: Int, $before: String, $status: [WebhookDeliveryStatus!]) {
  webhookDeliveries(first: $first, after: $after, last: $last, before: $before, status: $status) {
    totalCount nodes { id webhookId event url status nextAttemptAt createdAt
      attempts { at responseStatus error durationMs } }
    edges { cursor node { webhookId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
const NOWHERE = `whd_${'0'.repeat(24)}`;

let app: TestApp;
let statements: string[];

beforeAll(async () => {
  const clock = createManualClock();
  const recorded = recordStatements(await openFreshDatabase(clock));
  statements = recorded.statements;
  app = await startApp({ database: recorded.database, clock });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** A merchant with a URL and a paid payment. */
async function merchant() {
  const client = app.client(await addKey(app, { accountId: await addAccount(app) }));
  const receiver = await startReceiver();
  await client.request(CONFIGURE, { input: { url: receiver.url } });
  return { client, receiver };
}

async function pay(client: GraphQLClient, count = 1): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const { createCardPayment } = await client.request(
      'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
    );
    await app.cardPayments.pay(createCardPayment.cardPayment.orderCode, approved());
  }
  await app.work.settled();
}

const listed = async (client: GraphQLClient, variables: Record<string, unknown> = {}) =>
  (await client.request(LIST, variables)).webhookDeliveries;

describe('configureWebhook', () => {
  test('configureWebhook returns the secret once, and a new one on request', async () => {
    const client = app.client(await addKey(app, { accountId: await addAccount(app) }));
    const input = { url: 'https://padaria.example/hook' };
    const configured = async (more: object = {}) =>
      (await client.request(CONFIGURE, { input: { ...input, ...more } })).configureWebhook;
    const first = await configured();
    expect(first).toEqual({
      __typename: 'ConfigureWebhookSuccess',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
      endpoint: { url: input.url, enabled: true, optionalEvents: [], previousSecretValidUntil: null },
    });
    expect((await configured()).secret).toBeNull();
    expect((await configured({ rotateSecret: false })).secret).toBeNull();
    const rotated = await configured({ rotateSecret: true });
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(first.secret);
    expect(rotated.endpoint.previousSecretValidUntil).toBe(
      plusMs(app.clock.now(), 24 * 3_600_000).toISOString(),
    );
    const leaked = await configured({ rotateSecret: true, previousSecretHours: 0 });
    expect(leaked.endpoint.previousSecretValidUntil).toBeNull();
    const weekLater = plusMs(app.clock.now(), 168 * 3_600_000).toISOString();
    expect(
      (await configured({ rotateSecret: true, previousSecretHours: 168 })).endpoint.previousSecretValidUntil,
    ).toBe(weekLater);
    // The previous secret still signs, for longer than the one that it replaced.
    expect((await configured({ rotateSecret: true })).endpoint.previousSecretValidUntil).toBe(weekLater);
    const refused = await configured({ previousSecretHours: 169 });
    expect(refused.fields).toEqual([{ path: 'input.previousSecretHours' }]);
  });

  test.each([
    '',
    'x',
    '/hook',
    'ftp://a.example',
    'https://u:p@a.example',
    '\u0000',
    `https://a.example/${'x'.repeat(500)}`,
  ])('configureWebhook refuses the URL %j and names its field', async (url) => {
    expect((await app.live.request(CONFIGURE, { input: { url } })).configureWebhook).toMatchObject({
      __typename: 'ValidationError',
      code: 'BAD_USER_INPUT',
      fields: [{ path: 'input.url' }],
    });
  });

  test('configureWebhook shows the optional events in force, and leaves them as they were where none are named', async () => {
    const { client, receiver } = await merchant();
    const configured = async (more: object = {}) =>
      (await client.request(CONFIGURE, { input: { url: receiver.url, ...more } })).configureWebhook;
    const all = [
      ...['CARD_PAYMENT_EXPIRED', 'CARD_PAYMENT_FAILED', 'CARD_PAYMENT_REFUNDED'],
      ...['WITHDRAWAL_PROCESSING', 'DISPUTE_OPENED', 'DISPUTE_CLOSED'],
    ];
    expect(await configured({ optionalEvents: all })).toMatchObject({
      secret: null,
      endpoint: { optionalEvents: all },
    });
    expect(await configured()).toMatchObject({ endpoint: { optionalEvents: all } });
    const twice = { optionalEvents: ['DISPUTE_CLOSED', 'CARD_PAYMENT_FAILED', 'DISPUTE_CLOSED'] };
    const once = ['CARD_PAYMENT_FAILED', 'DISPUTE_CLOSED'];
    expect(await configured(twice)).toMatchObject({ endpoint: { optionalEvents: once } });
    expect(await configured({ optionalEvents: [] })).toMatchObject({ endpoint: { optionalEvents: [] } });
  });

  test('configureWebhook refuses UNKNOWN, names its field and changes nothing', async () => {
    const { client, receiver } = await merchant();
    const { url } = receiver;
    await client.request(CONFIGURE, { input: { url, optionalEvents: ['DISPUTE_OPENED'] } });
    const input = { url: `${url}/other`, optionalEvents: ['DISPUTE_CLOSED', 'UNKNOWN'] };
    expect((await client.request(CONFIGURE, { input })).configureWebhook).toMatchObject({
      __typename: 'ValidationError',
      code: 'BAD_USER_INPUT',
      fields: [{ path: 'input.optionalEvents' }],
    });
    await pay(client);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
    expect((await client.request(CONFIGURE, { input: { url } })).configureWebhook).toMatchObject({
      endpoint: { optionalEvents: ['DISPUTE_OPENED'] },
    });
  });

  test('An optional event that only a newer version knows is shown as UNKNOWN', async () => {
    const accountId = await addAccount(app);
    const client = app.client(await addKey(app, { accountId }));
    const input = { url: 'https://padaria.example/hook', optionalEvents: ['DISPUTE_OPENED'] };
    await client.request(CONFIGURE, { input });
    await app.database.sql
      .updateTable('webhook_endpoint')
      .set({ optional_events: ['dispute.opened', 'invoice.sent'] })
      .where('account_id', '=', accountId)
      .execute();
    const { configureWebhook } = await client.request(CONFIGURE, { input: { url: input.url } });
    expect(configureWebhook.endpoint.optionalEvents).toEqual(['DISPUTE_OPENED', 'UNKNOWN']);
  });

  test('An optional event is listed with its own name', async () => {
    const accountId = await addAccount(app);
    const client = app.client(await addKey(app, { accountId }));
    const { url } = await startReceiver();
    await client.request(CONFIGURE, { input: { url, optionalEvents: ['CARD_PAYMENT_REFUNDED'] } });
    await pay(client);
    const { cardPayments } = await client.request('{ cardPayments { nodes { orderCode } } }');
    const { orderCode } = cardPayments.nodes[0];
    expect(await app.cardPayments.refund({ accountId, environment: 'live' }, orderCode)).toBe(true);
    await app.work.settled();
    const { nodes } = await listed(client);
    expect(nodes.map(({ event }: { event: string }) => event)).toEqual([
      'refund.completed',
      'card_payment.refunded',
      'card_payment.paid',
    ]);
  });

  test('What is set can be read, changed in part, switched off and on again with the same secret, in GraphQL and REST', async () => {
    const key = await addKey(app, { accountId: await addAccount(app) });
    const [client, rest] = [app.client(key), app.rest(key)];
    const receiver = await startReceiver();
    const configured = async (input: object) => (await client.request(CONFIGURE, { input })).configureWebhook;
    const read = async () => [
      (await client.request(READ)).webhookEndpoint,
      (await rest.get('/webhook-endpoint')).body,
    ];

    expect(await read()).toMatchObject([null, { error: 'No webhook URL is set' }]);
    for (const input of [{}, { enabled: true }, { rotateSecret: true }, { optionalEvents: [] }])
      expect(await configured(input)).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: 'input.url' }],
      });

    const { secret } = await configured({ url: receiver.url });
    expect(secret).toMatch(/^whsec_/);
    const [payer, events] = [`${receiver.url}/psa`, ['DISPUTE_OPENED', 'CARD_PAYMENT_REFUNDED']];
    expect(await configured({ optionalEvents: events })).toMatchObject({ secret: null });
    const settings = { url: payer, enabled: false, previousSecretValidUntil: null };
    expect((await rest.post('/webhook-endpoint', { url: payer, enabled: false })).body).toEqual({
      ...settings,
      optionalEvents: ['card_payment.refunded', 'dispute.opened'],
      secret: null,
    });
    expect(await read()).toEqual([
      { ...settings, optionalEvents: ['CARD_PAYMENT_REFUNDED', 'DISPUTE_OPENED'] },
      { ...settings, optionalEvents: ['card_payment.refunded', 'dispute.opened'] },
    ]);

    await pay(client);
    expect([receiver.received, await listed(client)]).toMatchObject([[], { totalCount: 0 }]);
    expect(await configured({ enabled: true })).toMatchObject({ secret: null, endpoint: { url: payer } });
    await pay(client);
    expect(receiver.received).toHaveLength(1);
    const { headers, body } = receiver.received[0]!;
    const hmac = createHmac('sha256', secret).update(body).digest('hex');
    expect(headers['x-webhook-signature']).toBe(hmac);
    const rotated = await configured({ rotateSecret: true });
    expect(rotated).toMatchObject({ secret: expect.stringMatching(/^whsec_/), endpoint: { url: payer } });
    expect(JSON.stringify(await read())).not.toContain('whsec_');

    const before = await read();
    for (const input of [
      { url: null },
      { enabled: null },
      { optionalEvents: null },
      { previousSecretHours: null },
    ]) {
      const [member] = Object.keys(input);
      expect(await configured({ url: 'https://other.example', ...input })).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: `input.${member}` }],
      });
      const { status } = await rest.post('/webhook-endpoint', input);
      expect(status).toBe(400);
    }
    const wrong = { optionalEvents: ['payment.paid'] };
    expect((await rest.post('/webhook-endpoint', wrong)).body.error).toMatch(/^optionalEvents: has an event/);
    expect(await read()).toEqual(before);
  });

  test('The settings are read by an unrestricted key or a dashboard token of its scope, and changed by the key alone', async () => {
    const accountId = await addAccount(app);
    const client = app.client(await addKey(app, { accountId }));
    await client.request(CONFIGURE, { input: { url: 'https://padaria.example/hook' } });
    const restricted = await addKey(app, { accountId, permissions: ['subcontas.gerenciar'] });
    const codes = async (of: GraphQLClient) =>
      ((await of.send(READ)).body.errors ?? []).map(
        ({ extensions }: { extensions: { code: string } }) => extensions.code,
      );
    expect(await codes(client)).toEqual([]);
    expect(await codes(app.client(restricted))).toEqual(['FORBIDDEN']);
    for (const [scope, expected] of [
      ['WEBHOOKS', []],
      ['PAYOUTS', ['FORBIDDEN']],
    ] as const) {
      const { made } = await client.request(
        `mutation { made: createDashboardToken(input: { scopes: [${scope}] }) { ... on DashboardTokenSuccess { token } } }`,
      );
      expect(await codes(app.client(made.token))).toEqual(expected);
      const change = await app.client(made.token).send(CONFIGURE, { input: { enabled: false } });
      expect(JSON.stringify(change.body)).toMatch(/FORBIDDEN/);
    }
    const ofRestricted = app.rest(restricted);
    for (const { status } of [
      await ofRestricted.get('/webhook-endpoint'),
      await ofRestricted.post('/webhook-endpoint', {}),
    ])
      expect(status).toBe(403);
  });

  test('Each event can be read with the property of being optional', async () => {
    const { webhookEvents } = await app.live.request(
      '{ webhookEvents { name sandboxName summary resourceType optional optIn } }',
    );
    expect(webhookEvents).toHaveLength(DESCRIBED_WEBHOOKS.length);
    const named = (name: string) => webhookEvents.find((each: { name: string }) => each.name === name);
    expect(named('payment.refunded')).toMatchObject({
      ...{ sandboxName: 'payment.test.refunded', resourceType: 'payment' },
      ...{ optional: true, optIn: 'PAYMENT_REFUNDED' },
    });
    expect(named('withdrawal.requested')).toMatchObject({
      resourceType: 'payout',
      optional: false,
      optIn: null,
    });
    expect(named('card_payment.paid')).toMatchObject({ sandboxName: null, optional: false });
    const { webhooks } = (await (await fetch(`${app.url}/v1/openapi.json`)).json()) as {
      webhooks: Record<string, { post: Record<string, unknown> }>;
    };
    const described = Object.entries(webhooks).map(([name, { post }]) => [name, post['x-psa-optional']]);
    expect(described).toEqual(
      webhookEvents.map(({ name, optional }: { name: string; optional: boolean }) => [name, optional]),
    );
  });

  test.each([
    { url: 7 },
    { url: 'https://a.example', rotateSecret: 'yes' },
    { url: 'https://a.example', more: 1 },
    { url: 'https://a.example', optionalEvents: ['CARD_PAYMENT_PAID'] },
    { url: 'https://a.example', optionalEvents: ['dispute.opened'] },
    { url: 'https://a.example', optionalEvents: [null] },
    { url: 'https://a.example', optionalEvents: 7 },
  ])('configureWebhook refuses the malformed input %j before execution', async (input) => {
    const { body } = await app.live.send(CONFIGURE, { input });
    expect(body.data).toBeUndefined();
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('A private address is refused as a webhook URL where private addresses are switched off', async () => {
    const server = await startApp({ environment: { PSA_WEBHOOK_PRIVATE_ADDRESSES: 'off' } });
    try {
      for (const url of ['http://localhost:3000/hook', 'https://127.0.0.1/', 'http://a.example/'])
        expect((await server.live.request(CONFIGURE, { input: { url } })).configureWebhook).toMatchObject({
          __typename: 'ValidationError',
          fields: [{ path: 'input.url' }],
        });
      for (const callbackUrl of ['http://localhost:3000/hook', 'https://127.0.0.1/', 'http://a.example/']) {
        const input = { valueCents: 4990, callbackUrl };
        const token = { amount: { fixedCents: 4990 }, callbackUrl };
        const refused = {
          __typename: 'ValidationError',
          fields: [{ path: 'input.callbackUrl', message: 'must be a public https URL' }],
        };
        expect((await server.live.request(CREATE, { input })).made).toEqual(refused);
        expect((await server.live.request(MINT, { input: token })).made).toEqual(refused);
        expect(await server.rest().post('/card-payments', input)).toMatchObject({
          status: 400,
          body: { error: 'callbackUrl: must be a public https URL' },
        });
      }
    } finally {
      await server.close();
    }
  });
});

describe('the callbackUrl of a payment', () => {
  test('A callbackUrl may lead by http to a developer’s own machine, as the account’s URL may, and is called', async () => {
    const { client } = await merchant();
    const receiver = await startReceiver();
    const { made } = await client.request(CREATE, { input: { valueCents: 4990, callbackUrl: receiver.url } });
    const { made: minted } = await client.request(MINT, {
      input: { amount: { fixedCents: 4990 }, callbackUrl: receiver.url.replace('127.0.0.1', 'localhost') },
    });
    const { startCheckout } = await app
      .client(minted.token)
      .request(
        'mutation ($id: String!) { startCheckout(input: { attemptId: $id }) { ... on StartCheckoutSuccess { cardPayment { orderCode } } } }',
        { id: 'x'.repeat(30) },
      );
    for (const { orderCode } of [made.cardPayment, startCheckout.cardPayment])
      await app.cardPayments.pay(orderCode, approved());
    await app.work.settled();
    expect(receiver.received.map(({ body }) => JSON.parse(body).event)).toEqual([
      'card_payment.paid',
      'card_payment.paid',
    ]);
  });
});

describe('webhookDeliveries', () => {
  test('webhookDeliveries shows what was sent, how, and what the receiver answered', async () => {
    const { client, receiver } = await merchant();
    receiver.answer = (response) => response.writeHead(503).end();
    await pay(client);
    const { totalCount, nodes } = await listed(client);
    const now = app.clock.now();
    expect(totalCount).toBe(1);
    expect(nodes).toEqual([
      {
        id: expect.any(String),
        webhookId: receiver.received[0]!.headers['x-webhook-id'],
        event: 'card_payment.paid',
        url: receiver.url,
        status: 'PENDING',
        nextAttemptAt: expect.any(String),
        createdAt: now.toISOString(),
        attempts: [
          { at: now.toISOString(), responseStatus: 503, error: 'the receiver answered 503', durationMs: 0 },
        ],
      },
    ]);
    const waitMs = Date.parse(nodes[0].nextAttemptAt) - now.getTime();
    expect(waitMs).toBeGreaterThanOrEqual(5_000);
    expect(waitMs).toBeLessThanOrEqual(6_000);

    receiver.answer = (response) => response.end();
    app.clock.advance(waitMs);
    await app.work.settled();
    const [node] = (await listed(client)).nodes;
    expect(node).toMatchObject({ status: 'DELIVERED', nextAttemptAt: null });
    expect(node.attempts.map(({ error }: { error: string | null }) => error)).toEqual([
      'the receiver answered 503',
      null,
    ]);
    const query = 'query ($id: ID!) { node(id: $id) { __typename ... on WebhookDelivery { webhookId } } }';
    expect(await client.request(query, { id: node.id })).toEqual({
      node: { __typename: 'WebhookDelivery', webhookId: node.webhookId },
    });
    for (const stranger of [app.live, app.sandbox])
      expect(await stranger.request(query, { id: node.id })).toEqual({ node: null });
  });

  test('webhookDeliveries is paged, newest first, and counted by status', async () => {
    const { client, receiver } = await merchant();
    // The payments follow one after the other: deliveries of several payments run at the same time, and arrive in any
    // order.
    for (let count = 0; count < 3; count += 1) await pay(client);
    receiver.answer = (response) => response.writeHead(500).end();
    for (let count = 0; count < 2; count += 1) await pay(client);
    const sent = receiver.received.map(({ headers }) => headers['x-webhook-id']).reverse();
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listed>> = await listed(client, { first: 2, after });
      expect(page.totalCount).toBe(5);
      expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
      seen.push(...page.edges.map((edge: { node: { webhookId: string } }) => edge.node.webhookId));
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after);
    expect(seen).toEqual(sent);
    const last = await listed(client, { last: 3, status: ['PENDING', 'DELIVERED'] });
    expect(last).toMatchObject({ pageInfo: { hasPreviousPage: true, hasNextPage: false } });
    const before = await listed(client, { last: 3, before: last.pageInfo.startCursor });
    expect(before).toMatchObject({ pageInfo: { hasPreviousPage: false, hasNextPage: true } });
    const idsOf = (page: typeof last) => page.nodes.map((node: { webhookId: string }) => node.webhookId);
    expect([...idsOf(before), ...idsOf(last)]).toEqual(sent);
    expect(await listed(client, { status: ['PENDING'] })).toMatchObject({ totalCount: 2 });
    expect((await listed(client, { status: ['DELIVERED'], first: 1 })).nodes[0].webhookId).toBe(sent[2]);
    expect(await listed(client, { status: ['EXHAUSTED'] })).toMatchObject({ totalCount: 0, nodes: [] });
    expect(await listed(client, { status: [] })).toMatchObject({ totalCount: 0, nodes: [] });
  });

  test.each([
    [{ first: 0 }, 'first'],
    [{ first: 101 }, 'first'],
    [{ after: 'nonsense' }, 'after'],
    [{ last: 0 }, 'last'],
    [{ first: 1, last: 1 }, 'last'],
    [{ last: 1, before: 'nonsense' }, 'before'],
  ])('webhookDeliveries refuses %j and names the argument', async (variables, path) => {
    const { status, body } = await app.live.send(LIST, variables);
    expect(status).toBe(400);
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ path }] });
  });

  test('webhookDeliveries with all attempts costs as many statements for 50 deliveries as for one', async () => {
    const { client } = await merchant();
    await pay(client, 50);
    const cost = async (first: number) => {
      await client.request('{ __typename }');
      statements.length = 0;
      const { nodes } = await listed(client, { first });
      expect(nodes.filter((node: { attempts: object[] }) => node.attempts.length === 1)).toHaveLength(first);
      // The queue of the server may look for work in between.
      return statements.filter((statement) => /webhook_(?:delivery|attempt)|list_count/.test(statement))
        .length;
    };
    // The statements: the page, its count, and the attempts.
    expect(await cost(1)).toBe(3);
    expect(await cost(50)).toBe(3);
  });

  test('webhookDeliveries shows no delivery of another account or environment', async () => {
    const { client } = await merchant();
    await pay(client);
    const stranger = app.client(await addKey(app, { accountId: await addAccount(app) }));
    for (const other of [stranger, app.sandbox])
      expect(await listed(other)).toMatchObject({ totalCount: 0, nodes: [] });
  });
});

describe('what was sent and what came back', () => {
  const SHOW = `query ($webhookId: String!) { webhookDelivery(webhookId: $webhookId) {
    webhookId url payload resource { __typename ... on CardPayment { orderCode } }
    attempts { number responseStatus requestHeaders { name value } responseHeaders { name value } responseBody responseBodyTruncated } } }`;
  const FIND = `query ($filter: WebhookDeliveryFilter) { webhookDeliveries(filter: $filter) { totalCount nodes { webhookId } } }`;

  test('Payload, headers and answer are shown to those who may see them, and without secrets', async () => {
    const accountId = await addAccount(app);
    const client = app.client(await addKey(app, { accountId }));
    const receiver = await startReceiver((response) =>
      response
        .writeHead(500, { 'content-type': 'text/html', 'set-cookie': 'sid=planted' })
        .end('<p>whsec_planted</p>'),
    );
    await client.request(CONFIGURE, { input: { url: `${receiver.url}?chave=planted` } });
    await pay(client);
    const { headers, body } = receiver.received[0]!;
    const webhookId = headers['x-webhook-id'] as string;
    const shown = async (of: GraphQLClient) => (await of.request(SHOW, { webhookId })).webhookDelivery;
    const whole = await shown(client);
    const { cardPayments } = await client.request('{ cardPayments { nodes { orderCode } } }');
    expect(whole).toMatchObject({
      webhookId,
      url: `${receiver.url}?chave=planted`,
      payload: body,
      resource: { __typename: 'CardPayment', orderCode: cardPayments.nodes[0].orderCode },
      attempts: [
        { number: 1, responseStatus: 500, responseBody: '<p>whsec_***</p>', responseBodyTruncated: false },
      ],
    });
    const [attempt] = whole.attempts;
    expect(attempt.requestHeaders).toContainEqual({ name: 'x-webhook-signature', value: '***' });
    expect(attempt.requestHeaders).toContainEqual({ name: 'x-webhook-id', value: webhookId });
    expect(attempt.responseHeaders).toContainEqual({ name: 'set-cookie', value: '***' });

    const token = async (...scopes: ('webhooks' | 'webhook_payloads')[]) =>
      app.client(await addToken(app, { kind: 'dashboard', accountId, grant: { scopes } }));
    const narrow = await shown(await token('webhooks'));
    expect(narrow).toMatchObject({ url: `${receiver.url}?chave=***`, payload: null, resource: null });
    expect(narrow.attempts[0]).toEqual({ ...attempt, responseBody: null });
    expect(JSON.stringify(narrow)).not.toContain('planted');
    const wide = { ...whole, resource: null };
    expect(await shown(await token('webhooks', 'webhook_payloads'))).toEqual(wide);
    const supporter = await addKey(app, { accountId, permissions: ['webhooks.payloads'] });
    expect(await shown(app.client(supporter))).toEqual(wide);
    expect((await app.client(supporter).request(REDELIVER, { webhookId })).redeliverWebhook).toMatchObject({
      code: 'FORBIDDEN',
    });
    for (const stranger of [app.live, app.sandbox]) expect(await shown(stranger)).toBeNull();
    for (const id of ['', NOWHERE, '\u0000', 'x'.repeat(5_000)])
      expect(await client.request(SHOW, { webhookId: id })).toEqual({ webhookDelivery: null });
  });

  test('A delivery keeps the exchanges of its last ten attempts', async () => {
    const { client, receiver } = await merchant();
    await pay(client);
    const webhookId = receiver.received[0]!.headers['x-webhook-id'] as string;
    for (let count = 0; count < 11; count += 1) {
      receiver.answer = (response) =>
        response.writeHead(200, { 'content-type': 'text/plain' }).end(`answer ${count}`);
      await client.request(REDELIVER, { webhookId });
      await app.work.settled();
    }
    const { webhookDelivery } = await client.request(SHOW, { webhookId });
    expect(
      webhookDelivery.attempts.map((each: Record<string, unknown>) => [
        each.number,
        each.requestHeaders !== null,
        each.responseBody,
      ]),
    ).toEqual([
      [1, false, null],
      [2, false, null],
      ...Array.from({ length: 10 }, (_, index) => [index + 3, true, `answer ${index + 1}`]),
    ]);
    const { rows } = await sql<{ kept: number }>`
      select count(*)::integer as kept from webhook_attempt where webhook_id = ${webhookId} and exchange is not null
    `.execute(app.database.sql);
    expect(rows).toEqual([{ kept: 10 }]);
  });

  test('Deliveries are found by their resource, by what is ordered with it, and by the last answer', async () => {
    const accountId = await addAccount(app);
    const client = app.client(await addKey(app, { accountId }));
    const receiver = await startReceiver();
    await client.request(CONFIGURE, {
      input: { url: receiver.url, optionalEvents: ['CARD_PAYMENT_REFUNDED'] },
    });
    await pay(client);
    receiver.answer = (response) => response.writeHead(503).end();
    await pay(client);
    const { cardPayments } = await client.request('{ cardPayments { nodes { orderCode } } }');
    const [second, first] = cardPayments.nodes.map(({ orderCode }: { orderCode: string }) => orderCode);
    receiver.answer = (response) => response.socket!.destroy();
    await app.cardPayments.refund({ accountId, environment: 'live' }, first);
    await app.work.settled();
    const events = async (filter: object) => {
      const { webhookDeliveries } = await client.request(FIND, { filter });
      expect(webhookDeliveries.totalCount).toBe(webhookDeliveries.nodes.length);
      return webhookDeliveries.nodes.length;
    };
    const { refunds } = await client.request('{ refunds { nodes { refundId } } }');
    expect(await events({ reference: second })).toBe(1);
    expect(await events({ reference: first })).toBe(3);
    expect(await events({ reference: refunds.nodes[0].refundId })).toBe(1);
    await app.controls.credit({ accountId, environment: 'live' }, 100_000);
    const { requestPayout } = await client.request(
      `mutation { requestPayout(input: { amountCents: 1000, method: PIX, destination: "ana@example.com", idempotencyKey: "a" }) {
        ... on RequestPayoutSuccess { payout { withdrawalId code } } } }`,
    );
    for (const name of ['withdrawalId', 'code'])
      expect(await events({ reference: requestPayout.payout[name] }), name).toBe(1);
    expect(await events({ responseStatus: [503] })).toBe(1);
    expect(
      await events({ responseStatus: [0, 503], event: ['card_payment.paid', 'card_payment.refunded'] }),
    ).toBe(2);
    expect(await events({ responseStatus: [200], status: ['DELIVERED'] })).toBe(1);
    expect(await events({ responseStatus: [] })).toBe(0);
    expect(await events({ responseStatus: [503], reference: first })).toBe(0);
    for (const responseStatus of [[99], [600], [-1], Array.from({ length: 21 }, () => 500)]) {
      const { body } = await client.send(FIND, { filter: { responseStatus } });
      expect(body.errors[0].extensions.fields).toMatchObject([{ path: 'filter.responseStatus' }]);
    }
  });
});

describe('redeliverWebhook', () => {
  test('redeliverWebhook sends a webhook again under the same id', async () => {
    const { client, receiver } = await merchant();
    await pay(client);
    const webhookId = receiver.received[0]!.headers['x-webhook-id'] as string;
    expect((await client.request(REDELIVER, { webhookId })).redeliverWebhook).toEqual({
      __typename: 'RedeliverWebhookSuccess',
      delivery: { webhookId, status: 'PENDING' },
    });
    await app.work.settled();
    expect(receiver.received.map(({ headers }) => headers['x-webhook-id'])).toEqual([webhookId, webhookId]);
  });

  test('redeliverWebhook finds only deliveries of the caller', async () => {
    const { client, receiver } = await merchant();
    await pay(client);
    const webhookId = receiver.received[0]!.headers['x-webhook-id'] as string;
    for (const id of [webhookId, NOWHERE, '', '\u0000', '\ud800'])
      expect((await app.live.request(REDELIVER, { webhookId: id })).redeliverWebhook).toEqual({
        __typename: 'NotFoundError',
        code: 'NOT_FOUND',
        message: 'Webhook delivery not found',
      });
    await app.work.settled();
    expect(receiver.received).toHaveLength(1);
  });
});

describe('of those who ask', () => {
  const input = { url: 'https://padaria.example/hook' };

  test('a dashboard token with the scope reads, and does nothing else', async () => {
    const client = app.client(await addToken(app, { kind: 'dashboard', grant: { scopes: ['webhooks'] } }));
    expect((await listed(client)).totalCount).toBe(0);
    expect((await client.request(CONFIGURE, { input })).configureWebhook.__typename).toBe('PermissionError');
    expect((await client.request(REDELIVER, { webhookId: NOWHERE })).redeliverWebhook.__typename).toBe(
      'PermissionError',
    );
  });

  test.each([
    ['a restricted key', () => addKey(app, { permissions: ['subcontas.gerenciar', 'subcontas.sacar'] })],
    [
      'a dashboard token of another scope',
      () => addToken(app, { kind: 'dashboard', grant: { scopes: ['wallet'] } }),
    ],
    ['a payment token', () => addToken(app, { kind: 'payment', grant: { orderCode: 'PSC-0' } })],
    [
      'a checkout token',
      () =>
        addToken(app, {
          kind: 'checkout',
          grant: { amount: { kind: 'fixed', cents: 4990 }, reusable: true },
        }),
    ],
  ])('%s sees nothing and does nothing', async (_, credential) => {
    const client = app.client(await credential());
    const { status, body } = await client.send(LIST);
    expect(status).toBe(403);
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN');
    const id = Buffer.from(`WebhookDelivery:${NOWHERE}`).toString('base64');
    const found = await client.send('query ($id: ID!) { node(id: $id) { id } }', { id });
    expect(found.body.errors[0].extensions.code).toBe('FORBIDDEN');
    expect((await client.request(CONFIGURE, { input })).configureWebhook.__typename).toBe('PermissionError');
    expect((await client.request(REDELIVER, { webhookId: NOWHERE })).redeliverWebhook.__typename).toBe(
      'PermissionError',
    );
  });

  test('nobody without a credential gets anything', async () => {
    for (const [query, variables] of [
      [LIST, {}],
      [CONFIGURE, { input }],
      [REDELIVER, { webhookId: NOWHERE }],
    ] as const)
      expect((await app.client(null).send(query, variables)).status).toBe(401);
  });
});

test('receivers that do not answer keep no payment waiting', async () => {
  const dead = await startReceiver(() => undefined);
  const { client } = await merchant();
  await client.request(CONFIGURE, { input: { url: dead.url } });
  const reached = dead.next();
  const codes: string[] = [];
  // There are more deliveries than places for other tasks.
  for (let index = 0; index < 60; index += 1) {
    const { createCardPayment } = await client.request(
      'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
    );
    codes.push(createCardPayment.cardPayment.orderCode);
    await app.cardPayments.pay(codes[index]!, approved());
  }
  await reached;
  const updates = client.ws(
    'subscription ($after: String) { allCardPaymentUpdates(after: $after) { cardPayment { orderCode status } } }',
    { after: (await client.request('{ updatesCursor }')).updatesCursor },
  );
  // A refund is a task like any other. The clock stands still, so no attempt has timed out by then.
  const { accountId } = await app.database.sql
    .selectFrom('card_payment')
    .select('account_id as accountId')
    .where('order_code', '=', codes[0]!)
    .executeTakeFirstOrThrow();
  await app.cardPayments.refund({ accountId, environment: 'live' }, codes[0]!);
  // The first update shows the refund that has begun.
  for (const status of ['PAID', 'REFUNDED'])
    expect((await updates.data()).allCardPaymentUpdates.cardPayment).toEqual({ orderCode: codes[0], status });
  await updates.close();
  await dead.shut();
});
