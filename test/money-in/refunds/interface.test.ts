import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved, card } from '../../support/cards.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { startPair } from '../../support/pair.ts';
import { openRawSocket } from '../../support/raw-socket.ts';
import { startReceiver } from '../../support/receiver.ts';
import { ownMembers } from '../../support/webhook-bodies.ts';

const REFUND = `refundId status amountCents reason endToEndId failureReason createdAt completedAt failedAt final version
  of { ... on CardPayment { orderCode status refundedCents refundableCents } }`;
const REQUEST = `mutation ($input: RefundCardPaymentInput!) { refundCardPayment(input: $input) {
  __typename ... on RefundCardPaymentSuccess { replayed refund { id ${REFUND} } }
  ... on UserError { code message } ... on ValidationError { fields { path message } }
  ... on InsufficientFundsError { requestedCents withdrawableCents } } }`;
const ONE = `query ($refundId: String!) { refund(refundId: $refundId) { id ${REFUND} } }`;
const LIST = `query ($first: Int, $after: String, $last: Int, $before: String, $status: [RefundStatus!]) {
  refunds(first: $first, after: $after, last: $last, before: $before, status: $status) {
    totalCount nodes { refundId } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
const PAYMENT = `query ($orderCode: String!) { cardPayment(orderCode: $orderCode) {
  status refundedCents refundableCents refunds { refundId status amountCents } } }`;
const CREATE = `mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) {
  ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant() {
  const accountId = await addAccount(app);
  const key = await addKey(app, { accountId });
  return { accountId, key, client: app.client(key), rest: app.rest(key) };
}

async function sell(client: GraphQLClient, input: object = {}, paidBy = approved()): Promise<string> {
  const { createCardPayment } = await client.request(CREATE, { input: { valueCents: 5000, ...input } });
  const { orderCode } = createCardPayment.cardPayment;
  await app.cardPayments.pay(orderCode, paidBy);
  return orderCode;
}

const firstError = async (client: GraphQLClient, query: string, variables: Record<string, unknown>) =>
  (await client.send(query, variables)).body.errors[0];

const refund = async (client: GraphQLClient, input: object) =>
  (await client.request(REQUEST, { input })).refundCardPayment;

describe('over GraphQL', () => {
  test('A refund is requested, found by id, key and node, and shown on its payment', async () => {
    const { client } = await merchant();
    // This card's refunds complete five seconds later.
    const orderCode = await sell(client, {}, card('4000000000007726'));
    const input = { orderCode, amountCents: 2000, reason: 'Um item', idempotencyKey: 'd-1' };
    const made = await refund(client, input);
    expect(made).toMatchObject({
      __typename: 'RefundCardPaymentSuccess',
      replayed: false,
      refund: {
        status: 'PROCESSING',
        amountCents: 2000,
        reason: 'Um item',
        final: false,
        version: 1,
        endToEndId: null,
        failureReason: null,
        completedAt: null,
        of: { orderCode, status: 'PAID', refundedCents: 0, refundableCents: 3000 },
      },
    });
    expect(await refund(client, input)).toMatchObject({ replayed: true });
    await app.work.settled();
    app.clock.advance(5_000);
    await app.work.settled();
    const { refundId, id } = made.refund;
    const now = app.clock.now().toISOString();
    const done = {
      ...made.refund,
      status: 'COMPLETED',
      completedAt: now,
      final: true,
      version: 2,
      of: { orderCode, status: 'PAID', refundedCents: 2000, refundableCents: 3000 },
    };
    for (const reference of [refundId, 'ref_idem_d-1'])
      expect(await client.request(ONE, { refundId: reference })).toEqual({ refund: done });
    expect(
      await client.request(`query ($id: ID!) { node(id: $id) { ... on Refund { id ${REFUND} } } }`, { id }),
    ).toEqual({ node: done });
    expect((await client.request(PAYMENT, { orderCode })).cardPayment).toEqual({
      status: 'PAID',
      refundedCents: 2000,
      refundableCents: 3000,
      refunds: [{ refundId, status: 'COMPLETED', amountCents: 2000 }],
    });
  });

  test('A refund with bad input is refused by the name of the field, and takes nothing', async () => {
    const { client } = await merchant();
    const orderCode = await sell(client);
    for (const [input, field] of [
      [{ amountCents: 0 }, { path: 'input.amountCents', message: 'must be at least 1' }],
      [
        { amountCents: null },
        { path: 'input.amountCents', message: 'must not be null: leave it out for all that is refundable' },
      ],
      [{ amountCents: 5001 }, { path: 'input.amountCents' }],
      [{ reason: 'x'.repeat(141) }, { path: 'input.reason' }],
      [{ reason: '' }, { path: 'input.reason' }],
      [{ idempotencyKey: 'é' }, { path: 'input.idempotencyKey' }],
    ] as const)
      expect([input, await refund(client, { orderCode, ...input })]).toMatchObject([
        ...[input, { __typename: 'ValidationError', fields: [field] }],
      ]);
    for (const amountCents of [-1, 1.5, '100', 2 ** 53])
      expect(await firstError(client, REQUEST, { input: { orderCode, amountCents } })).toMatchObject({
        extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
      });
    expect((await client.request(PAYMENT, { orderCode })).cardPayment).toMatchObject({
      refundableCents: 5000,
    });
  });

  test('A mutation with a variable that it does not declare is refused, and does not refund the whole payment', async () => {
    const { client } = await merchant();
    const orderCode = await sell(client);
    const query = `mutation ($orderCode: String!, $amountCents: Cents) {
      refundCardPayment(input: { orderCode: $orderCode, amountCents: $amountCents, idempotencyKey: "a" }) { __typename } }`;
    expect(await firstError(client, query, { orderCode, amount_cents: 500 })).toMatchObject({
      message: 'The mutation does not declare the variable $amount_cents; $amountCents may be meant',
      extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
    });
    expect((await client.request(PAYMENT, { orderCode })).cardPayment).toMatchObject({
      refundableCents: 5000,
    });
  });

  test('Variables in the address, under another name or beside the payload are refused, and do not refund the whole payment', async () => {
    const { client, key } = await merchant();
    const orderCode = await sell(client);
    const query = `mutation ($amountCents: Cents) { refundCardPayment(
      input: { orderCode: "${orderCode}", amountCents: $amountCents, idempotencyKey: "a" }) { __typename } }`;
    const variables = { amountCents: 500 };
    for (const [name, message] of [
      ['variables', 'variables must be in the body of a POST, not in its address'],
      ['Variable', 'variables must be in the body of a POST, not in its address'],
    ] as const) {
      const answer = await fetch(
        `${app.url}/graphql?${new URLSearchParams({ [name]: JSON.stringify(variables) })}`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        },
      );
      expect([answer.status, (await answer.json()).errors[0].message]).toEqual([400, message]);
    }
    const socket = openRawSocket(app.url);
    await socket.init(key);
    socket.send({ id: 'a', type: 'subscribe', payload: { query, variable: variables } });
    expect((await socket.next()).payload).toMatchObject([
      {
        message: 'The payload has no member variable; variables may be meant',
        extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
      },
    ]);
    socket.send({ id: 'b', type: 'subscribe', payload: { query }, variables });
    expect(await socket.closed).toEqual({ code: 4400, reason: 'variables is unknown in a message' });
    expect((await client.request(PAYMENT, { orderCode })).cardPayment).toMatchObject({
      refundableCents: 5000,
    });
  });

  test('A payment that is not paid or is another’s is not refunded', async () => {
    const [{ client }, other] = [await merchant(), await merchant()];
    const { createCardPayment } = await client.request(CREATE, { input: { valueCents: 5000 } });
    expect(await refund(client, createCardPayment.cardPayment)).toMatchObject({
      __typename: 'PreconditionError',
      code: 'NOT_REFUNDABLE',
    });
    const orderCode = await sell(client);
    expect(await refund(other.client, { orderCode })).toMatchObject({ __typename: 'NotFoundError' });
    expect(await refund(client, { orderCode: 'PSC-?' })).toMatchObject({ __typename: 'NotFoundError' });
  });

  test('Of two refunds in one operation each shows its payment as it is after that refund', async () => {
    const { client } = await merchant();
    const orderCode = await sell(client);
    const field = (amountCents: number) =>
      `refundCardPayment(input: { orderCode: "${orderCode}", amountCents: ${amountCents}, idempotencyKey: "${amountCents}" }) {
        ... on RefundCardPaymentSuccess { refund { of { ... on CardPayment { refundableCents refunds { amountCents } } } } } }`;
    const { first, second } = await client.request(
      `mutation { first: ${field(1000)} second: ${field(500)} }`,
    );
    expect(first.refund.of).toEqual({ refundableCents: 4000, refunds: [{ amountCents: 1000 }] });
    expect(second.refund.of).toEqual({
      refundableCents: 3500,
      refunds: [{ amountCents: 1000 }, { amountCents: 500 }],
    });
  });

  test('A dashboard token reads refunds and requests none; a payer’s token sees no list of them', async () => {
    const { accountId, client } = await merchant();
    const orderCode = await sell(client);
    const { refund: made } = await refund(client, { orderCode, amountCents: 10 });
    const dashboard = app.client(
      await addToken(app, { accountId, kind: 'dashboard', grant: { scopes: ['card_payments'] } }),
    );
    expect((await dashboard.request(LIST)).refunds.totalCount).toBe(1);
    expect(await refund(dashboard, { orderCode })).toMatchObject({ __typename: 'PermissionError' });
    const ofPayments = app.client(
      await addToken(app, { accountId, kind: 'dashboard', grant: { scopes: ['payments'] } }),
    );
    expect((await ofPayments.request(LIST)).refunds).toMatchObject({ totalCount: 0, nodes: [] });
    expect(await ofPayments.request(ONE, { refundId: made.refundId })).toEqual({ refund: null });
    const payer = app.client(await addToken(app, { accountId, kind: 'payment', grant: { orderCode } }));
    expect((await payer.request(PAYMENT, { orderCode })).cardPayment).toMatchObject({
      status: 'PAID',
      refundableCents: 4990,
      refunds: null,
    });
  });

  test('A restricted key neither reads refunds nor requests one, over both interfaces', async () => {
    const { accountId, client } = await merchant();
    const orderCode = await sell(client);
    const { refundId } = (await refund(client, { orderCode, amountCents: 10 })).refund;
    for (const permission of ['subcontas.gerenciar', 'subcontas.sacar'] as const) {
      const restricted = await addKey(app, { accountId, permissions: [permission] });
      expect(await refund(app.client(restricted), { orderCode })).toMatchObject({
        __typename: 'PermissionError',
        code: 'FORBIDDEN',
      });
      for (const query of [ONE, LIST])
        expect(await firstError(app.client(restricted), query, { refundId })).toMatchObject({
          extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' },
        });
      const rest = app.rest(restricted);
      expect((await rest.post(`/card-payments/${orderCode}/refunds`, {})).status).toBe(403);
      expect((await rest.get(`/refunds/${refundId}`)).status).toBe(403);
    }
    expect((await client.request(PAYMENT, { orderCode })).cardPayment).toMatchObject({
      refundableCents: 4990,
      refunds: [{ refundId }],
    });
  });
});

describe('over REST', () => {
  test('A refund whose amount is misspelt, null, there twice or wrong is refused, and takes nothing', async () => {
    const { client, rest } = await merchant();
    const orderCode = await sell(client);
    const MEANT = 'is unknown; amountCents may be meant';
    const KNOWN = 'is unknown; known are amountCents, reason, idempotencyKey';
    for (const [body, error] of [
      ['{"amount":23.45}', `amount: ${MEANT}`],
      ['{"valueCents":2345}', `valueCents: ${KNOWN}`],
      ['{"value":"5.00"}', `value: ${KNOWN}`],
      ['{"refundAmount":500}', `refundAmount: ${KNOWN}`],
      ['{"amount_cents":500}', `amount_cents: ${MEANT}`],
      ['{"AmountCents":500}', `AmountCents: ${MEANT}`],
      ['{"amountCents ":500}', `"amountCents ": ${MEANT}`],
      ['{"amountCents":500,"amountCents":5000}', 'amountCents: is given twice'],
      ['{"amountCents":500,"\\u0061mountCents":5000}', 'amountCents: is given twice'],
      ['{"amountCents":null}', 'amountCents: must not be null: leave it out for all that is refundable'],
      ['{"amountCents":0}', 'amountCents: must be at least 1'],
      ['{"amountCents":-1}', 'amountCents: must be an integer number of cents'],
      ['{"amountCents":1.5}', 'amountCents: must be an integer number of cents'],
      ['{"amountCents":"100"}', 'amountCents: must be an integer number of cents'],
      ['{"amountCents":9007199254740992}', 'amountCents: must be an integer number of cents'],
      ['{"amountCents":5001}', 'amountCents: must be at most 5000'],
      [JSON.stringify({ reason: 'x'.repeat(141) }), 'reason: must have at most 140 characters'],
      ['{"idempotencyKey":""}', 'idempotencyKey: must be'],
    ] as const) {
      const headers = { 'content-type': 'application/json' };
      const answer = await rest.send(`/card-payments/${orderCode}/refunds`, {
        method: 'POST',
        headers,
        body,
      });
      expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(error) } });
    }
    expect((await rest.get(`/card-payments/${orderCode}`)).body).toMatchObject({ refundableCents: 5000 });
  });

  test('A refund is requested and looked up, and its payment shows it', async () => {
    const { client, rest } = await merchant();
    const orderCode = await sell(client);
    const path = `/card-payments/${orderCode}/refunds`;
    const made = await rest.post(path, { amountCents: 1500, idempotencyKey: 'd-1' });
    expect([made.status, made.body]).toEqual([
      201,
      {
        refundId: expect.any(String),
        status: 'processing',
        amountCents: 1500,
        orderCode,
        reason: null,
        endToEndId: null,
        failureReason: null,
        completedAt: null,
        failedAt: null,
        createdAt: app.clock.now().toISOString(),
      },
    ]);
    const again = await rest.post(path, { amountCents: 1500, idempotencyKey: 'd-1' });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    await app.work.settled();
    for (const reference of [made.body.refundId, 'ref_idem_d-1'])
      expect((await rest.get(`/refunds/${reference}`)).body).toEqual({
        ...made.body,
        status: 'completed',
        completedAt: app.clock.now().toISOString(),
      });
    expect((await rest.get(`/card-payments/${orderCode}`)).body).toMatchObject({
      status: 'paid',
      refundedCents: 1500,
      refundableCents: 3500,
    });
    expect((await rest.post(path, {})).body.amountCents).toBe(3500);
  });

  test('Unknown, unpaid and malformed references have statuses of their own', async () => {
    const { client, rest } = await merchant();
    const { createCardPayment } = await client.request(CREATE, { input: { valueCents: 5000 } });
    const { orderCode } = createCardPayment.cardPayment;
    expect(await rest.post(`/card-payments/${orderCode}/refunds`, {})).toMatchObject({ status: 409 });
    expect(await rest.post(`/card-payments/PSC-${'0'.repeat(24)}/refunds`, {})).toMatchObject({
      status: 404,
    });
    expect(await rest.get(`/refunds/ref_${'0'.repeat(24)}`)).toMatchObject({ status: 404 });
    expect(await rest.get('/refunds/ref_idem_nothing')).toMatchObject({ status: 404 });
    expect(await rest.get('/refunds/ref_0')).toMatchObject({ status: 400 });
  });
});

describe('webhooks', () => {
  test('A completed refund is reported once, to the payment’s own URL, and no paid event with it', async () => {
    const { client } = await merchant();
    const receiver = await startReceiver();
    const paid = receiver.next();
    const orderCode = await sell(client, { callbackUrl: receiver.url, metadata: '{"pedido":7}' });
    expect(JSON.parse((await paid).body)).toMatchObject({ event: 'card_payment.paid', orderCode });
    const refunded = receiver.next();
    const { refund: made } = await refund(client, { orderCode, amountCents: 900, reason: 'Um item' });
    await app.work.settled();
    const { body } = await refunded;
    expect(JSON.parse(body)).toMatchObject({
      sandbox: false,
      resource: { type: 'refund', id: made.refundId },
    });
    expect(ownMembers(body)).toEqual({
      event: 'refund.completed',
      refundId: made.refundId,
      amountCents: 900,
      status: 'completed',
      of: { type: 'card_payment', id: orderCode },
      reason: 'Um item',
      failureReason: null,
      completedAt: app.clock.now().toISOString(),
      failedAt: null,
      metadata: '{"pedido":7}',
    });
  });
});

describe('in front of another service', () => {
  test('Refunds are not offered: nothing is sent, and a refund by the service shows on the payment', async () => {
    const pair = await startPair();
    onTestFinished(() => pair.close());
    const client = pair.facade.client(pair.keys.live);
    const { createCardPayment } = await client.request(CREATE, { input: { valueCents: 5000 } });
    const { orderCode } = createCardPayment.cardPayment;
    await pair.service.cardPayments.pay(orderCode, approved());
    await pair.settled();
    expect(await refund(client, { orderCode })).toMatchObject({
      __typename: 'PreconditionError',
      code: 'NOT_OFFERED',
    });
    for (const [query, variables] of [
      [LIST, {}],
      [ONE, { refundId: `ref_${'0'.repeat(24)}` }],
    ] as const)
      expect(await firstError(client, query, variables)).toMatchObject({
        extensions: { code: 'NOT_OFFERED', retryPolicy: 'AFTER_CHANGE' },
      });
    expect((await client.request(PAYMENT, { orderCode })).cardPayment.refunds).toBeNull();

    const live = pair.service.rest(pair.keys.live);
    expect((await live.post(`/card-payments/${orderCode}/refunds`, { amountCents: 1200 })).status).toBe(201);
    await pair.settled();
    await pair.pass(60_000);
    expect((await client.request(PAYMENT, { orderCode })).cardPayment).toMatchObject({
      status: 'PAID',
      refundedCents: 1200,
      refundableCents: 3800,
    });
    expect((await live.post(`/card-payments/${orderCode}/refunds`, {})).status).toBe(201);
    await pair.settled();
    await pair.pass(60_000);
    expect((await client.request(PAYMENT, { orderCode })).cardPayment).toMatchObject({
      status: 'REFUNDED',
      refundedCents: 5000,
      refundableCents: 0,
    });
    expect(pair.facade.faults).toEqual([]);
  });
});
