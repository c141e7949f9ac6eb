import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { WEBHOOK_EVENTS } from '../../server/src/webhooks/sent-events.ts';
import { addAccount, addKey, addToken } from '../support/accounts.ts';
import { advanceClock } from '../support/advance-clock.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { approved } from '../support/cards.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const SHOWN = 'endpointId ofAccount url enabled events optionalEvents previousSecretValidUntil createdAt';
const REFUSED = '... on UserError { code message } ... on ValidationError { fields { path } }';
const CONFIGURE = `mutation ($input: ConfigureWebhookInput!) { made: configureWebhook(input: $input) {
  ... on ConfigureWebhookSuccess { secret endpoint { ${SHOWN} } } ${REFUSED} } }`;
const CREATE = `mutation ($input: CreateWebhookEndpointInput!) { made: createWebhookEndpoint(input: $input) {
  ... on CreateWebhookEndpointSuccess { secret endpoint { id ${SHOWN} } } ${REFUSED} } }`;
const UPDATE = `mutation ($input: UpdateWebhookEndpointInput!) { made: updateWebhookEndpoint(input: $input) {
  ... on UpdateWebhookEndpointSuccess { secret endpoint { ${SHOWN} } } ${REFUSED} } }`;
const DELETE = `mutation ($endpointId: String!) { made: deleteWebhookEndpoint(endpointId: $endpointId) {
  ... on DeleteWebhookEndpointSuccess { deleted deletedId endpointId } ${REFUSED} } }`;
const READ = `query ($id: String) { webhookEndpoint(endpointId: $id) { ${SHOWN} } }`;
const LIST = `{ webhookEndpoints { ${SHOWN} } }`;
const LOG = `query ($filter: WebhookDeliveryFilter) { webhookDeliveries(first: 50, filter: $filter) {
  totalCount nodes { webhookId event url status endpoint { endpointId } } } }`;
const REDELIVER = `mutation ($id: String!) { made: redeliverWebhook(webhookId: $id) { ... on UserError { code } } }`;
const REDELIVER_ALL = `mutation ($input: RedeliverWebhooksInput!) { made: redeliverWebhooks(input: $input) {
  ... on RedeliverWebhooksSuccess { redelivery { total } } ${REFUSED} } }`;
const TRY = `mutation ($input: SendTestWebhookInput!) { made: sendTestWebhook(input: $input) {
  ... on SendTestWebhookSuccess { url payload } ${REFUSED} } }`;
const HOUR = 3_600_000;
const NONE = `whe_${'0'.repeat(24)}`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** A merchant with a URL of the account. */
async function merchant() {
  const accountId = await addAccount(app);
  const client = app.client(await addKey(app, { accountId }));
  const receiver = await startReceiver();
  const made = async (document: string, variables: object) =>
    (await client.request(document, variables as Record<string, unknown>)).made;
  const { secret, endpoint } = await made(CONFIGURE, { input: { url: receiver.url } });
  return { accountId, client, made, receiver, secret: secret as string, ofAccount: endpoint };
}

/** Pays by card; the payment makes `card_payment.paid`. */
async function pay(accountId: string, input: object = {}): Promise<string> {
  const tenant = { accountId, environment: 'live' } as const;
  const { payment } = await app.cardPayments.create(tenant, { valueCents: 4_990, ...input });
  await app.cardPayments.pay(payment.orderCode, approved());
  await app.work.settled();
  return payment.orderCode;
}

const log = async (client: GraphQLClient, filter: object = {}) =>
  (await client.request(LOG, { filter })).webhookDeliveries;
const signatureOf = (secret: string, { body }: Receiver['received'][number]) =>
  createHmac('sha256', secret).update(body).digest('hex');

describe('further endpoints', () => {
  test('An event goes once to each endpoint that selects it, signed with the secret of that endpoint', async () => {
    const { accountId, client, made, receiver, secret, ofAccount } = await merchant();
    const [all, some, refunds] = [await startReceiver(), await startReceiver(), await startReceiver()];
    const first = await made(CREATE, { input: { url: all.url } });
    const second = await made(CREATE, {
      input: { url: some.url, events: ['payment.test.paid', 'card_payment.paid', 'card_payment.paid'] },
    });
    await made(CREATE, { input: { url: refunds.url, events: ['refund.completed'] } });
    expect(second.endpoint).toMatchObject({
      ...{ ofAccount: false, enabled: true, optionalEvents: [], previousSecretValidUntil: null },
      events: ['card_payment.paid', 'payment.paid'],
    });
    expect((await client.request(LIST)).webhookEndpoints).toEqual([
      expect.objectContaining({
        ...{ endpointId: ofAccount.endpointId, ofAccount: true, createdAt: null },
        events: WEBHOOK_EVENTS,
      }),
      expect.objectContaining({ url: all.url, events: ['*'], createdAt: app.clock.now().toISOString() }),
      expect.objectContaining({ url: some.url }),
      expect.objectContaining({ url: refunds.url }),
    ]);
    await pay(accountId);
    const received = [receiver, all, some].map((each) => each.received.filter(isPaid));
    expect(received.map(({ length }) => length)).toEqual([1, 1, 1]);
    expect(refunds.received).toEqual([]);
    // All events are the optional ones too.
    expect(all.received.length).toBeGreaterThanOrEqual(1);
    const secrets = [secret, first.secret, second.secret];
    expect(received.map(([each]) => each!.headers['x-webhook-signature'])).toEqual(
      received.map(([each], nth) => signatureOf(secrets[nth]!, each!)),
    );
    expect(new Set(secrets).size).toBe(3);
    const { endpointId } = second.endpoint;
    expect((await log(client, { endpointId })).nodes).toEqual([
      expect.objectContaining({ event: 'card_payment.paid', endpoint: { endpointId }, url: some.url }),
    ]);
    expect((await log(client, { endpointId: ofAccount.endpointId })).totalCount).toBe(1);
    expect((await log(client, { endpointId: NONE })).totalCount).toBe(0);
  });

  test('The callbackUrl of a payment replaces the URL of the account alone, also where it is that of an endpoint', async () => {
    const { accountId, client, made, receiver } = await merchant();
    const other = await startReceiver();
    const { endpoint, secret } = await made(CREATE, { input: { url: other.url } });
    await pay(accountId, { callbackUrl: other.url });
    expect(receiver.received).toEqual([]);
    const paid = other.received.filter(isPaid);
    expect(paid).toHaveLength(2);
    expect(paid.map((each) => each.headers['x-webhook-signature'])).toContain(
      signatureOf(secret, paid.at(-1)!),
    );
    const { nodes } = await log(client, { event: ['card_payment.paid'] });
    expect(nodes.map((each: { endpoint: unknown }) => each.endpoint)).toEqual(
      expect.arrayContaining([null, { endpointId: endpoint.endpointId }]),
    );
  });

  test('An endpoint is changed in part, switched off, and gets nothing afterwards of what happened in between', async () => {
    const { accountId, client, made } = await merchant();
    const [before, after] = [await startReceiver(), await startReceiver()];
    const created = await made(CREATE, { input: { url: before.url } });
    const { endpointId } = created.endpoint;
    const change = (input: object) => made(UPDATE, { input: { endpointId, ...input } });
    expect(await change({ url: after.url })).toEqual({
      secret: null,
      endpoint: expect.objectContaining({ endpointId, url: after.url, enabled: true, events: ['*'] }),
    });
    expect((await change({ events: ['card_payment.paid'] })).endpoint.url).toBe(after.url);
    expect((await change({ events: ['payment.paid', '*'] })).endpoint.events).toEqual(['*']);
    expect((await change({ events: ['card_payment.paid'] })).endpoint.events).toEqual(['card_payment.paid']);
    const rotated = await change({ rotateSecret: true, previousSecretHours: 2 });
    expect(rotated.secret).not.toBe(created.secret);
    expect(rotated.endpoint.previousSecretValidUntil).toBe(plusMs(app.clock.now(), 2 * HOUR).toISOString());
    await pay(accountId);
    expect(before.received).toEqual([]);
    const [paid] = after.received;
    expect(paid!.headers['x-webhook-signature']).toBe(signatureOf(rotated.secret, paid!));
    expect(paid!.headers['webhook-signature']!.toString().split(' ')).toHaveLength(2);
    await change({ enabled: false });
    await pay(accountId);
    await change({ enabled: true });
    await app.work.settled();
    expect(after.received).toHaveLength(1);
    expect((await client.request(READ, { id: endpointId })).webhookEndpoint).toMatchObject({ enabled: true });
    expect((await made(TRY, { input: { endpointId, event: 'payment.paid' } })).url).toBe(after.url);
    expect(after.received.at(-1)!.headers['x-webhook-signature']).toBe(
      signatureOf(rotated.secret, after.received.at(-1)!),
    );
  });

  test('A deleted endpoint cancels what it has not got, and nothing is sent to it again', async () => {
    const { accountId, client, made, receiver } = await merchant();
    const broken = await startReceiver((response) => response.writeHead(500).end());
    const { endpoint } = await made(CREATE, { input: { url: broken.url, events: ['card_payment.paid'] } });
    const { endpointId } = endpoint;
    await pay(accountId);
    broken.answer = (response) => response.end();
    await pay(accountId);
    expect(await made(DELETE, { endpointId })).toEqual({ deleted: true, deletedId: endpoint.id, endpointId });
    await app.work.settled();
    const { nodes } = await log(client, { endpointId });
    expect(nodes.map(({ status, endpoint: of }: Record<string, unknown>) => [status, of])).toEqual([
      ['DELIVERED', null],
      ['CANCELED', null],
    ]);
    const count = broken.received.length;
    app.clock.advance(24 * HOUR);
    await app.work.settled();
    expect(broken.received).toHaveLength(count);
    for (const { webhookId } of nodes)
      expect((await made(REDELIVER, { id: webhookId })).code).toBe('NOT_FOUND');
    receiver.received.length = 0;
    expect(
      await made(REDELIVER_ALL, { input: { filter: {}, toCurrentUrl: true, idempotencyKey: 'todas' } }),
    ).toMatchObject({ redelivery: { total: 4 } });
    await advanceClock(app, 1_000);
    expect(broken.received).toHaveLength(count);
    expect(receiver.received).toHaveLength(2);
    expect((await made(DELETE, { endpointId })).code).toBe('NOT_FOUND');
    expect((await client.request(READ, { id: endpointId })).webhookEndpoint).toBeNull();
  });

  test('What is sent again goes to the URL that its endpoint has now, if the merchant says so', async () => {
    const { accountId, made, receiver } = await merchant();
    const [old, now] = [
      await startReceiver((response) => response.writeHead(500).end()),
      await startReceiver(),
    ];
    const { endpoint } = await made(CREATE, { input: { url: old.url, events: ['card_payment.paid'] } });
    const { endpointId } = endpoint;
    await pay(accountId);
    await made(UPDATE, { input: { endpointId, url: now.url } });
    const input = { filter: { endpointId }, toCurrentUrl: true, idempotencyKey: 'uma' };
    const lost = { ...input, filter: { endpointId: null } };
    expect((await made(REDELIVER_ALL, { input: lost })).fields).toMatchObject([
      { path: 'input.filter.endpointId' },
    ]);
    expect((await made(REDELIVER_ALL, { input })).redelivery.total).toBe(1);
    await app.work.settled();
    expect([receiver.received.length, now.received.length]).toEqual([1, 1]);
    expect(JSON.parse(now.received[0]!.body).event).toBe('card_payment.paid');
  });

  test('The eleventh, one that cannot be called, one that another has, and unknown events are refused, and change nothing', async () => {
    const { client, made, receiver, ofAccount } = await merchant();
    const url = (nth: number) => `https://loja.example/${nth}`;
    for (let nth = 0; nth < 9; nth += 1) await made(CREATE, { input: { url: url(nth) } });
    expect((await made(CREATE, { input: { url: url(9) } })).code).toBe('LIMIT_REACHED');
    const { webhookEndpoints } = await client.request(LIST);
    expect(webhookEndpoints).toHaveLength(10);
    const { endpointId } = webhookEndpoints[9];
    await made(DELETE, { endpointId: webhookEndpoints[1].endpointId });
    const { webhookEndpoints: left } = await client.request(LIST);
    for (const [input, path] of [
      [{ url: url(1) }, 'input.url'],
      [{ url: 'https://LOJA.example:443/1' }, 'input.url'],
      [{ url: receiver.url }, 'input.url'],
      [{ url: 'ftp://loja.example/' }, 'input.url'],
      [{ url: `https://loja.example/${'x'.repeat(500)}` }, 'input.url'],
      [{ events: [] }, 'input.events'],
      [{ events: null }, 'input.events'],
      [{ events: ['UNKNOWN'] }, 'input.events'],
      [{ events: ['*', 'UNKNOWN'] }, 'input.events'],
      [{ events: ['payment.paid', ''] }, 'input.events'],
      [{ events: ['__proto__'] }, 'input.events'],
      [{ events: ['card_payment.test.paid'] }, 'input.events'],
    ] as const) {
      expect((await made(UPDATE, { input: { endpointId, ...input } })).fields, JSON.stringify(input)).toEqual(
        [{ path }],
      );
      expect((await made(CREATE, { input: { url: url(20), ...input } })).fields).toEqual([{ path }]);
    }
    for (const [input, path] of [
      [{ url: null }, 'input.url'],
      [{ enabled: null }, 'input.enabled'],
      [{ previousSecretHours: 169 }, 'input.previousSecretHours'],
      [{ previousSecretHours: -1 }, 'input.previousSecretHours'],
      [{ endpointId: ofAccount.endpointId, enabled: false }, 'input.endpointId'],
    ] as const)
      expect((await made(UPDATE, { input: { endpointId, ...input } })).fields).toEqual([{ path }]);
    expect((await made(DELETE, { endpointId: ofAccount.endpointId })).fields).toEqual([
      { path: 'endpointId' },
    ]);
    expect((await made(CONFIGURE, { input: { url: url(1) } })).fields).toEqual([{ path: 'input.url' }]);
    expect((await client.request(LIST)).webhookEndpoints).toEqual(left);
  });

  test('Endpoints of others, of the other environment and of nobody do not exist, and only an unrestricted key changes one', async () => {
    const { accountId, client, made } = await merchant();
    const { endpoint } = await made(CREATE, { input: { url: 'https://loja.example/hook' } });
    const { endpointId } = endpoint;
    const node = 'query ($id: ID!) { node(id: $id) { ... on WebhookEndpoint { endpointId } } }';
    expect((await client.request(node, { id: endpoint.id })).node).toEqual({ endpointId });
    const sandbox = app.client(await addKey(app, { accountId, environment: 'sandbox' }));
    const ids = [endpointId, NONE, '', 'x', '\u0000', '\ud800', 'x'.repeat(5_000)];
    for (const stranger of [app.live, sandbox]) {
      expect((await stranger.request(node, { id: endpoint.id })).node).toBeNull();
      for (const id of ids) {
        expect((await stranger.request(READ, { id })).webhookEndpoint).toBeNull();
        for (const [document, variables] of [
          [UPDATE, { input: { endpointId: id, enabled: false } }],
          [DELETE, { endpointId: id }],
          [TRY, { input: { endpointId: id, event: 'payment.paid' } }],
        ] as const)
          expect((await stranger.request(document, variables)).made.code).toBe('NOT_FOUND');
      }
    }
    const grant = { scopes: ['webhooks' as const] };
    const token = app.client(await addToken(app, { kind: 'dashboard', accountId, grant }));
    expect((await token.request(LIST)).webhookEndpoints).toHaveLength(2);
    for (const [document, variables] of [
      [CREATE, { input: { url: 'https://loja.example/other' } }],
      [UPDATE, { input: { endpointId, enabled: false } }],
      [DELETE, { endpointId }],
    ] as const)
      expect((await token.request(document, variables)).made.code).toBe('FORBIDDEN');
  });
});

const isPaid = ({ body }: { body: string }) => JSON.parse(body).event === 'card_payment.paid';
