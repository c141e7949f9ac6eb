import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleOf } from '../../server/src/webhooks/sample.ts';
import { EVENTS } from '../../server/src/webhooks/sent-events.ts';
import { addAccount, addKey, addToken } from '../support/accounts.ts';
import { advanceClock } from '../support/advance-clock.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { approved } from '../support/cards.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import { startReceiver } from '../support/receiver.ts';

const SHOWN = 'redeliveryId status total done finishedAt canceledAt';
const REDELIVER = `mutation ($input: RedeliverWebhooksInput!) { made: redeliverWebhooks(input: $input) {
  __typename ... on RedeliverWebhooksSuccess { replayed redelivery { ${SHOWN} } }
  ... on UserError { code message } ... on ValidationError { fields { path } } } }`;
const CANCEL = `mutation ($id: String!) { made: cancelWebhookRedelivery(redeliveryId: $id) {
  __typename ... on CancelWebhookRedeliverySuccess { redelivery { ${SHOWN} } } ... on UserError { code } } }`;
const READ = `query ($id: String!) { webhookRedelivery(redeliveryId: $id) { ${SHOWN} id } }`;
const CONFIGURE =
  'mutation ($url: Url!) { configureWebhook(input: { url: $url }) { ... on ConfigureWebhookSuccess { secret } } }';
const TRY = `mutation ($event: String!) { made: sendTestWebhook(input: { event: $event }) {
  __typename ... on SendTestWebhookSuccess { webhookId event url payload
    attempt { number responseStatus error durationMs responseBody requestHeaders { name value } } }
  ... on UserError { code message } ... on ValidationError { fields { path } } } }`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** A merchant whose receiver refuses everything, with paid payments. */
async function merchant(payments: number, callbackUrl?: string) {
  const accountId = await addAccount(app);
  const client = app.client(await addKey(app, { accountId }));
  const receiver = await startReceiver((response) => response.writeHead(500).end());
  const { configureWebhook } = await client.request(CONFIGURE, { url: receiver.url });
  const tenant = { accountId, environment: 'live' } as const;
  for (let index = 0; index < payments; index += 1) {
    const { payment } = await app.cardPayments.create(tenant, {
      valueCents: 4_990,
      ...(callbackUrl && index === 0 && { callbackUrl }),
    });
    await app.cardPayments.pay(payment.orderCode, approved());
  }
  await app.work.settled();
  return { client, receiver, tenant, secret: configureWebhook.secret as string };
}

const redeliver = async (client: GraphQLClient, input: object) =>
  (await client.request(REDELIVER, { input: { filter: {}, idempotencyKey: 'chave', ...input } })).made;
const progress = async (client: GraphQLClient, id: string) =>
  (await client.request(READ, { id })).webhookRedelivery;

describe('redeliverWebhooks', () => {
  test('All that match are sent again once, oldest first, ten a second, and the request can be repeated', async () => {
    const { client, receiver } = await merchant(55);
    const log = await client.request('{ webhookDeliveries(first: 55) { nodes { webhookId } } }');
    const ids = log.webhookDeliveries.nodes
      .map(({ webhookId }: { webhookId: string }) => webhookId)
      .reverse();
    receiver.received.length = 0;
    const begunAt = app.clock.ms();
    const times: number[] = [];
    receiver.answer = (response) => {
      times.push(app.clock.ms() - begunAt);
      response.end();
    };
    const input = { filter: { responseStatus: [5] } };
    const made = await redeliver(client, input);
    expect(made).toMatchObject({ replayed: false, redelivery: { status: 'RUNNING', total: 55, done: 0 } });
    const { redeliveryId } = made.redelivery;
    expect(await redeliver(client, input)).toMatchObject({ replayed: true, redelivery: { redeliveryId } });
    expect(await redeliver(client, { filter: {} })).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    await advanceClock(app, 4_999);
    expect(await progress(client, redeliveryId)).toMatchObject({ status: 'RUNNING', done: 50 });
    expect(receiver.received.map(({ headers }) => headers['x-webhook-id'])).toEqual(ids.slice(0, 50));
    expect(times).toEqual(Array.from({ length: 50 }, (_, nth) => nth * 100));
    await advanceClock(app, 1_000);
    // Those that have failed before were due by then, too, and no longer match.
    expect(new Set(receiver.received.map(({ headers }) => headers['x-webhook-id']))).toEqual(new Set(ids));
    expect(receiver.received.length).toBe(55);
    expect(await progress(client, redeliveryId)).toMatchObject({ status: 'FINISHED', total: 55 });
    const again = await redeliver(client, { ...input, idempotencyKey: 'outra' });
    expect(again.redelivery).toMatchObject({ status: 'FINISHED', total: 0, done: 0 });
  });

  test('With toCurrentUrl those of the account go to the URL of today, and those of a callbackUrl stay with it', async () => {
    const own = await startReceiver((response) => response.writeHead(500).end());
    const { client, receiver } = await merchant(3, own.url);
    const today = await startReceiver();
    const { webhookDeliveries } = await client.request('{ webhookDeliveries { totalCount } }');
    expect(webhookDeliveries.totalCount).toBe(3);
    await client.request(CONFIGURE, { url: today.url });
    const before = [receiver.received.length, own.received.length];
    expect(await redeliver(client, { toCurrentUrl: true })).toMatchObject({ redelivery: { total: 3 } });
    await advanceClock(app, 1_000);
    expect([receiver.received.length, own.received.length]).toEqual([before[0], before[1]! + 1]);
    expect(today.received).toHaveLength(2);
    const { webhookDeliveries: moved } = await client.request(
      '{ webhookDeliveries(filter: { status: [DELIVERED] }) { nodes { url } } }',
    );
    expect(moved.nodes).toEqual([{ url: today.url }, { url: today.url }]);

    // Where the URL of the account is switched off, there is none of today.
    const further = await startReceiver();
    await client.request('mutation { configureWebhook(input: { enabled: false }) { __typename } }');
    await client.request(
      'mutation ($url: Url!) { createWebhookEndpoint(input: { url: $url }) { __typename } }',
      { url: further.url },
    );
    const receivers = [receiver, own, today, further];
    const earlier = receivers.map(({ received }) => received.length);
    await redeliver(client, { toCurrentUrl: true, idempotencyKey: 'desligada' });
    await advanceClock(app, 1_000);
    expect(receivers.map(({ received }, nth) => received.length - earlier[nth]!)).toEqual([0, 1, 0, 0]);
  });

  test('A redelivery that is canceled sends nothing more than its page, and one that has ended stays as it is', async () => {
    const { client, receiver } = await merchant(52);
    receiver.answer = (response) => response.end();
    const { redelivery } = await redeliver(client, {});
    await app.work.settled();
    const id = redelivery.redeliveryId;
    const { made } = await client.request(CANCEL, { id });
    expect(made.redelivery).toMatchObject({ status: 'CANCELED', done: 50, finishedAt: null });
    await advanceClock(app, 4_999);
    const sent = new Set(receiver.received.slice(52).map(({ headers }) => headers['x-webhook-id']));
    expect(sent.size).toBe(50);
    expect((await client.request(CANCEL, { id })).made.redelivery).toEqual(made.redelivery);
  });

  test('Too many, wrong and foreign requests are refused, and send nothing', async () => {
    const { client, receiver, tenant } = await merchant(3);
    const sent = receiver.received.length;
    for (const [input, path] of [
      [{ most: 2 }, 'input.most'],
      [{ most: -1 }, 'input.most'],
      [{ idempotencyKey: 'x'.repeat(129) }, 'input.idempotencyKey'],
      [{ idempotencyKey: '\u0000' }, 'input.idempotencyKey'],
      [{ most: 0 }, 'input.most'],
      [{ most: 10_001 }, 'input.most'],
      [{ idempotencyKey: '' }, 'input.idempotencyKey'],
      [{ filter: { responseStatus: [7] } }, 'input.filter.responseStatus'],
      [{ filter: { reference: ' ' } }, 'input.filter.reference'],
      [{ filter: { status: null } }, 'input.filter.status'],
      [{ filter: { event: ['card_payment.paid'], endpointId: null } }, 'input.filter.endpointId'],
    ] as const)
      expect((await redeliver(client, input)).fields, JSON.stringify(input)).toEqual([{ path }]);
    const { redelivery } = await redeliver(client, { filter: { event: ['payment.paid'] } });
    expect(redelivery).toMatchObject({ status: 'FINISHED', total: 0 });
    const { id, redeliveryId } = (await client.request(READ, { id: redelivery.redeliveryId }))
      .webhookRedelivery;
    const node = 'query ($id: ID!) { node(id: $id) { ... on WebhookRedelivery { redeliveryId } } }';
    expect((await client.request(node, { id })).node).toEqual({ redeliveryId });
    for (const stranger of [app.live, app.sandbox]) {
      expect(await progress(stranger, redeliveryId)).toBeNull();
      expect((await stranger.request(node, { id })).node).toBeNull();
      expect((await stranger.request(CANCEL, { id: redeliveryId })).made.code).toBe('NOT_FOUND');
    }
    for (const id of ['', 'x', `whr_${'0'.repeat(24)}`, '\u0000', '\ud800', 'x'.repeat(5_000)]) {
      expect(await progress(client, id)).toBeNull();
      expect((await client.request(CANCEL, { id })).made.code).toBe('NOT_FOUND');
    }
    const token = app.client(
      await addToken(app, {
        kind: 'dashboard',
        accountId: tenant.accountId,
        grant: { scopes: ['webhooks'] },
      }),
    );
    expect(await progress(token, redeliveryId)).toMatchObject({ redeliveryId });
    expect(await redeliver(token, {})).toMatchObject({ code: 'FORBIDDEN' });
    await app.work.settled();
    expect(receiver.received.length).toBe(sent);
    const unset = app.client(await addKey(app, { accountId: await addAccount(app) }));
    expect((await redeliver(unset, { toCurrentUrl: true })).fields).toEqual([{ path: 'input.toCurrentUrl' }]);
  });
});

describe('sendTestWebhook', () => {
  test('A test is signed as any other, names nothing, and shows the answer at once', async () => {
    const { client, receiver, secret } = await merchant(0);
    receiver.answer = (response) =>
      response.writeHead(404, { 'content-type': 'text/plain' }).end('no such route');
    const { made } = await client.request(TRY, { event: 'card_payment.paid' });
    const [{ headers, body }] = receiver.received as unknown as [
      { headers: Record<string, string>; body: string },
    ];
    expect(made).toMatchObject({
      webhookId: headers['x-webhook-id'],
      event: 'card_payment.paid',
      url: receiver.url,
      payload: body,
      attempt: { number: 1, responseStatus: 404, responseBody: 'no such route' },
    });
    expect(headers).toMatchObject({
      'x-webhook-test': 'true',
      'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
    });
    expect(JSON.parse(body)).toMatchObject({
      test: true,
      sandbox: false,
      event: 'card_payment.paid',
      orderCode: expect.stringMatching(/^PSC-0+$/),
      resource: { type: 'card_payment', id: expect.stringMatching(/^(?:PSC-)?0+$/) },
    });
    await app.work.settled();
    expect(receiver.received).toHaveLength(1);
    expect((await client.request('{ webhookDeliveries { totalCount } }')).webhookDeliveries.totalCount).toBe(
      0,
    );
  });

  test('An unknown event, an account without a URL and the eleventh test of a minute are refused', async () => {
    const { client, receiver } = await merchant(0);
    for (const event of ['', 'payment.gone', '__proto__', 'x'.repeat(5_000)])
      expect((await client.request(TRY, { event })).made.fields).toEqual([{ path: 'input.event' }]);
    const unset = app.client(await addKey(app, { accountId: await addAccount(app) }));
    expect((await unset.request(TRY, { event: 'payment.paid' })).made.code).toBe('NOT_FOUND');
    for (let count = 0; count < 10; count += 1)
      expect((await client.request(TRY, { event: 'payment.paid' })).made.__typename).toBe(
        'SendTestWebhookSuccess',
      );
    expect((await client.request(TRY, { event: 'payment.paid' })).made.code).toBe('RATE_LIMITED');
    expect(receiver.received).toHaveLength(10);
    app.clock.advance(60_000);
    expect((await client.request(TRY, { event: 'payment.paid' })).made.__typename).toBe(
      'SendTestWebhookSuccess',
    );
  });

  test.each(Object.entries(EVENTS))('The sample of %s is a body of the event', (_, { body }) => {
    const sample = sampleOf(body, new Date('2026-11-30T08:00:00.000Z'));
    expect(body.safeParse(sample).error?.issues ?? []).toEqual([]);
  });
});
