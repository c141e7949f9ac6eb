import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { startReceiver } from '../../support/receiver.ts';
import { ownMembers } from '../../support/webhook-bodies.ts';

const DELIVERY = 'deliveryId productId kind content deliveredCount remainingCount createdAt';
const ERRORS =
  '__typename ... on UserError { code message } ... on ValidationError { fields { path message } }';
const CREATE = `mutation ($input: CreateDeliveryInput!) { createDelivery(input: $input) {
  ... on CreateDeliverySuccess { replayed delivery { id ${DELIVERY} product { productId name } } } ${ERRORS} } }`;
const DELETE = `mutation ($deliveryId: String!) { deleteDelivery(deliveryId: $deliveryId) {
  ... on DeleteDeliverySuccess { deleted deletedId deliveryId } ${ERRORS} } }`;
const LIST = `query ($first: Int, $after: String, $last: Int, $before: String, $productId: String) {
  deliveries(first: $first, after: $after, last: $last, before: $before, productId: $productId) {
    totalCount nodes { deliveryId kind content } edges { cursor }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
const PAYMENT = `query ($paymentId: String!) { payment(paymentId: $paymentId) {
  status delivered { kind status content deliveredAt } } }`;
const CARD = `query ($orderCode: String!) { cardPayment(orderCode: $orderCode) {
  status delivered { kind status content deliveredAt } } }`;
const TOKEN = `mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) {
  ... on CreateCheckoutTokenSuccess { token } } }`;
const START_PIX = `mutation ($input: StartCheckoutInput!) { startPixCheckout(input: $input) {
  ... on StartPixCheckoutSuccess { paymentToken payment { paymentId delivered { content } } } } }`;
const START_CARD = `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) {
  ... on StartCheckoutSuccess { paymentToken cardPayment { orderCode delivered { content } } } } }`;

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
  const rest = app.rest(key);
  const { body: product } = await rest.post('/products', { name: 'Curso', priceCents: 4_990 });
  return {
    accountId,
    key,
    client: app.client(key),
    rest,
    productId: product.id as string,
    tenant: { accountId, environment: 'live' as const },
  };
}

type Merchant = Awaited<ReturnType<typeof merchant>>;
const create = async (client: GraphQLClient, input: object) =>
  (await client.request(CREATE, { input })).createDelivery;

async function pay({ tenant }: Merchant, paymentId: string): Promise<void> {
  await app.pix.pay({ txid: txidOf(paymentId) });
  await app.payments.receive(tenant, paymentId);
}

async function buy(of: Merchant, input: object = {}): Promise<string> {
  const { paymentId } = (await of.rest.post('/payments', { productId: of.productId, ...input })).body;
  await pay(of, paymentId);
  return paymentId;
}

describe('over GraphQL', () => {
  test('Content is tied to a product, shown with its stock, found as a node, and ended', async () => {
    const { client, productId } = await merchant();
    const input = { productId, content: { codes: ['AAAA-1111', 'BBBB-2222'] }, idempotencyKey: 'estoque-1' };
    const { delivery, replayed } = await create(client, input);
    expect(replayed).toBe(false);
    expect(delivery).toEqual({
      id: expect.any(String),
      deliveryId: expect.stringMatching(/^[0-9a-f]{24}$/),
      productId,
      kind: 'CODES',
      content: null,
      deliveredCount: 0,
      remainingCount: 2,
      product: { productId, name: 'Curso' },
      createdAt: app.clock.now().toISOString(),
    });
    expect(await create(client, input)).toMatchObject({ replayed: true, delivery: { remainingCount: 2 } });
    const more = await create(client, { productId, content: { codes: ['CCCC-3333'] } });
    expect(more.delivery).toMatchObject({ deliveryId: delivery.deliveryId, remainingCount: 3 });
    const NODE = `query ($id: ID!) { node(id: $id) { __typename ... on Delivery { deliveryId } } }`;
    expect(await client.request(NODE, delivery)).toEqual({
      node: { __typename: 'Delivery', deliveryId: delivery.deliveryId },
    });
    expect((await client.request(DELETE, { deliveryId: delivery.deliveryId })).deleteDelivery).toMatchObject({
      deleted: true,
      deletedId: delivery.id,
      deliveryId: delivery.deliveryId,
    });
    expect(await client.request(NODE, delivery)).toEqual({ node: null });
    expect((await client.request(DELETE, { deliveryId: delivery.deliveryId })).deleteDelivery).toMatchObject({
      __typename: 'NotFoundError',
      message: 'Delivery not found',
    });
  });

  test('A list by stock has every delivery of that stock, and its length, to the last page', async () => {
    const of = await merchant();
    const { client, rest } = of;
    const BY_STOCK = `query ($stock: [DeliveryStock!], $productId: String, $after: String) {
      deliveries(stock: $stock, productId: $productId, first: 2, after: $after) {
        totalCount nodes { stock remainingCount } pageInfo { hasNextPage endCursor } } }`;
    const stocks = [6, 5, 1, 1, null];
    for (const [index, codes] of stocks.entries()) {
      const { body: product } = await rest.post('/products', { name: `Curso ${index}`, priceCents: 100 });
      const content =
        codes === null
          ? { text: 'Obrigada!' }
          : { codes: Array.from({ length: codes }, (_, nth) => `CODE-${index}-${nth}`) };
      await create(client, { productId: product.id, content });
      if (index === 3) await buy({ ...of, productId: product.id });
    }
    const listed = async (variables: object) => {
      const found = [];
      let after = null;
      do {
        const { deliveries } = await client.request(BY_STOCK, { ...variables, after });
        found.push(
          ...deliveries.nodes.map((node: object) => ({ ...node, totalCount: deliveries.totalCount })),
        );
        after = deliveries.pageInfo.hasNextPage ? deliveries.pageInfo.endCursor : null;
      } while (after !== null);
      return found.map(({ stock, remainingCount, totalCount }) => [stock, remainingCount, totalCount]);
    };
    const ready = ['READY', null];
    expect(await listed({ stock: ['EMPTY'] })).toEqual([['EMPTY', 0, 1]]);
    expect(await listed({ stock: ['LOW'] })).toEqual([
      ['LOW', 1, 2],
      ['LOW', 5, 2],
    ]);
    expect(await listed({ stock: ['READY'] })).toEqual([
      [...ready, 2],
      ['READY', 6, 2],
    ]);
    expect(await listed({ stock: ['READY', 'EMPTY', 'EMPTY'] })).toEqual([
      [...ready, 3],
      ['EMPTY', 0, 3],
      ['READY', 6, 3],
    ]);
    expect(await listed({ stock: [] })).toEqual([]);
    expect(await listed({ stock: ['LOW'], productId: '0'.repeat(24) })).toEqual([]);
    expect(await listed({})).toHaveLength(5);
  });

  test('A payment that was paid shows what its payer was given', async () => {
    const of = await merchant();
    const { client, productId, rest } = of;
    await create(client, { productId, content: { link: 'https://loja.example/curso' } });
    await create(client, { productId, content: { codes: ['AAAA-1111'] } });
    const { paymentId } = (await rest.post('/payments', { productId })).body;
    expect((await client.request(PAYMENT, { paymentId })).payment).toEqual({
      status: 'PENDING',
      delivered: null,
    });
    await pay(of, paymentId);
    const deliveredAt = app.clock.now().toISOString();
    expect((await client.request(PAYMENT, { paymentId })).payment.delivered).toEqual([
      { kind: 'LINK', status: 'DELIVERED', content: 'https://loja.example/curso', deliveredAt },
      { kind: 'CODES', status: 'DELIVERED', content: 'AAAA-1111', deliveredAt },
    ]);
    const second = await buy(of);
    expect((await client.request(PAYMENT, { paymentId: second })).payment.delivered[1]).toEqual({
      kind: 'CODES',
      status: 'PENDING',
      content: null,
      deliveredAt: null,
    });
    expect((await rest.get(`/payments/${paymentId}`)).body.delivered).toEqual([
      { kind: 'link', status: 'delivered', content: 'https://loja.example/curso', deliveredAt },
      { kind: 'codes', status: 'delivered', content: 'AAAA-1111', deliveredAt },
    ]);
    expect(
      (await rest.get('/payments')).body.payments.map(
        ({ delivered }: { delivered: unknown[] }) => delivered.length,
      ),
    ).toEqual([2, 2]);
  });

  test('The token of a payment reads what it was given, and the token that started it does not', async () => {
    const of = await merchant();
    const { client, productId } = of;
    await create(client, { productId, content: { codes: ['AAAA-1111', 'BBBB-2222'] } });
    const input = { amount: { productId }, methods: ['PIX', 'CARD'], reusable: true };
    const { token } = (await client.request(TOKEN, { input })).createCheckoutToken;
    const browser = app.client(token);
    const [byPix, byCard] = [{ attemptId: 'a'.repeat(22) }, { attemptId: 'b'.repeat(22) }];
    const pix = (await browser.request(START_PIX, { input: byPix })).startPixCheckout;
    const card = (await browser.request(START_CARD, { input: byCard })).startCheckout;
    const { paymentId } = pix.payment;
    const { orderCode } = card.cardPayment;
    await pay(of, paymentId);
    await app.cardPayments.pay(orderCode, approved());
    const read = async (payer: GraphQLClient) => [
      (await payer.request(PAYMENT, { paymentId })).payment?.delivered,
      (await payer.request(CARD, { orderCode })).cardPayment?.delivered,
    ];
    const codes = [[{ content: 'AAAA-1111' }], [{ content: 'BBBB-2222' }]];
    expect(await read(client)).toMatchObject(codes);
    expect(await read(app.client(pix.paymentToken))).toMatchObject([codes[0], undefined]);
    expect(await read(app.client(card.paymentToken))).toMatchObject([undefined, codes[1]]);
    // A browser with the attempt id of another visitor gets that visitor's payment, and none of its content.
    const again = [
      (await browser.request(START_PIX, { input: byPix })).startPixCheckout.payment,
      (await browser.request(START_CARD, { input: byCard })).startCheckout.cardPayment,
    ];
    expect(again.map(({ delivered }) => delivered)).toEqual([null, null]);
  });

  test('A dashboard token with the scope PRODUCTS sees stocks and no content', async () => {
    const of = await merchant();
    const { client, productId, accountId } = of;
    await create(client, { productId, content: { text: 'Obrigada!' } });
    const paymentId = await buy(of);
    const products = app.client(
      await addToken(app, { accountId, kind: 'dashboard', grant: { scopes: ['products', 'payments'] } }),
    );
    expect((await products.request(LIST)).deliveries.nodes).toMatchObject([{ kind: 'TEXT', content: null }]);
    expect((await products.request(PAYMENT, { paymentId })).payment.delivered).toMatchObject([
      { status: 'DELIVERED', content: null },
    ]);
  });

  test('Deliveries are paged in both directions, and by product', async () => {
    const { client, productId, rest } = await merchant();
    const { body: other } = await rest.post('/products', { name: 'Outro', priceCents: 990 });
    const ids: string[] = [];
    for (const text of ['1', '2', '3'])
      ids.unshift((await create(client, { productId, content: { text } })).delivery.deliveryId);
    await create(client, { productId: other.id, content: { text: '4' } });
    const page = async (variables: object) =>
      (await client.request(LIST, { productId, ...variables })).deliveries;
    const idsOf = ({ nodes }: { nodes: { deliveryId: string }[] }) =>
      nodes.map(({ deliveryId }) => deliveryId);
    const newest = await page({ first: 2 });
    expect([idsOf(newest), newest.totalCount]).toEqual([ids.slice(0, 2), 3]);
    expect(newest.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const oldest = await page({ first: 2, after: newest.pageInfo.endCursor });
    expect([idsOf(oldest), oldest.pageInfo.hasNextPage]).toEqual([ids.slice(2), false]);
    const back = await page({ last: 1, before: oldest.pageInfo.startCursor });
    expect([idsOf(back), back.pageInfo.hasPreviousPage]).toEqual([[ids[1]], true]);
    expect((await client.request(LIST)).deliveries.totalCount).toBe(4);
    for (const wrong of [{ first: 0 }, { first: 1, last: 1 }, { after: 'x' }, { productId: 'x' }])
      expect((await client.send(LIST, wrong)).body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('A refusal names the wrong member, also on the compiled path, and says no code', async () => {
    const { client, productId } = await merchant();
    const refused: [object, string][] = [
      [{ text: 'a', codes: ['segredo-1'] }, 'input.content'],
      [{ codes: ['segredo-1', 'segredo-1'] }, 'input.content.codes.1'],
      [{ link: 'javascript:alert(1)' }, 'input.content.link'],
      [{ codes: Array.from({ length: 1_001 }, (_, index) => `segredo-${index}`) }, 'input.content.codes'],
    ];
    for (const [content, path] of refused)
      for (let round = 0; round < 3; round += 1) {
        const answer = await client.send(CREATE, { input: { productId, content } });
        expect(JSON.stringify(answer.body)).not.toContain('segredo');
        // A server that knows `@oneOf` refuses two members before any resolver runs.
        if (!answer.body.errors)
          expect(answer.body.data.createDelivery).toMatchObject({
            __typename: 'ValidationError',
            fields: [{ path }],
          });
      }
    await create(client, { productId, content: { codes: ['segredo-1'] } });
    const known = await create(client, { productId, content: { codes: ['segredo-2', 'segredo-1'] } });
    expect(known).toMatchObject({ fields: [{ path: 'input.content.codes.1' }] });
    expect(JSON.stringify(known)).not.toContain('segredo');
  });

  test('A restricted key does nothing with deliveries', async () => {
    const { accountId, productId } = await merchant();
    const restricted = await addKey(app, { accountId, permissions: ['subcontas.gerenciar'] });
    const input = { productId, content: { text: 'Olá' } };
    expect(await create(app.client(restricted), input)).toMatchObject({ __typename: 'PermissionError' });
    expect((await app.rest(restricted).post('/deliveries', input)).status).toBe(403);
    expect((await app.rest(restricted).get('/deliveries')).status).toBe(403);
    expect((await app.rest(restricted).get('/store/products')).status).toBe(403);
  });
});

describe('over REST', () => {
  test('A delivery is created, listed and ended, and its refusals have their status', async () => {
    const { rest, productId } = await merchant();
    const body = { productId, content: { text: 'Obrigada!' }, idempotencyKey: 'texto-1' };
    const made = await rest.post('/deliveries', body);
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      deliveryId: expect.stringMatching(/^[0-9a-f]{24}$/),
      productId,
      kind: 'text',
      content: 'Obrigada!',
      deliveredCount: 0,
      remainingCount: null,
      createdAt: app.clock.now().toISOString(),
    });
    expect((await rest.post('/deliveries', body)).body).toEqual(made.body);
    expect(await rest.post('/deliveries', { ...body, content: { text: 'Outro' } })).toMatchObject({
      status: 409,
    });
    expect(await rest.get(`/deliveries?productId=${productId}&limit=1`)).toMatchObject({
      status: 200,
      body: { deliveries: [made.body], total: 1, limit: 1, offset: 0 },
    });
    expect((await rest.get(`/deliveries?productId=${'0'.repeat(24)}`)).body.total).toBe(0);
    expect(await rest.get('/deliveries?productId=x')).toMatchObject({ status: 400 });
    const unknown = await rest.post('/deliveries', {
      ...body,
      productId: '0'.repeat(24),
      idempotencyKey: null,
    });
    expect(unknown).toMatchObject({ status: 404, body: { error: 'Product not found' } });
    for (let count = 1; count < 10; count += 1)
      await rest.post('/deliveries', { productId, content: { text: `Texto ${count}` } });
    const eleventh = await rest.post('/deliveries', { productId, content: { text: 'Mais um' } });
    expect(eleventh).toMatchObject({ status: 409, body: { error: expect.stringContaining('at most 10') } });
    const path = `/deliveries/${made.body.deliveryId}`;
    expect(await rest.delete(path)).toMatchObject({ status: 200, body: { deleted: true } });
    expect(await rest.delete(path)).toMatchObject({ status: 404 });
    expect(await rest.delete('/deliveries/42')).toMatchObject({ status: 400 });
  });
});

test('The webhook of a delivery names the payment and not the content, and goes where the payment wants it', async () => {
  const of = await merchant();
  const { client, productId } = of;
  const receiver = await startReceiver();
  await client.request(
    `mutation ($url: Url!) { configureWebhook(input: { url: $url, optionalEvents: [DELIVERY_DELIVERED, DELIVERY_OUT_OF_STOCK] }) { __typename } }`,
    { url: `${receiver.url}/conta` },
  );
  const { delivery } = await create(client, { productId, content: { codes: ['AAAA-1111'] } });
  const first = await buy(of, { callbackUrl: `${receiver.url}/proprio` });
  const second = await buy(of);
  await create(client, { productId, content: { codes: ['BBBB-2222'] } });
  await app.work.settled();
  const { deliveryId } = delivery;
  const sent = receiver.received
    .map(({ path, body }) => [path, ownMembers(body)] as const)
    .filter(([, { event }]) => event.startsWith('delivery.'));
  const body = (event: string, id: string) => ({
    event,
    deliveryId,
    productId,
    of: { type: 'payment', id },
  });
  expect(sent).toHaveLength(3);
  expect(sent).toEqual(
    expect.arrayContaining([
      ['/hook/proprio', body('delivery.delivered', first)],
      ['/hook/conta', body('delivery.out_of_stock', second)],
      ['/hook/conta', body('delivery.delivered', second)],
    ]),
  );
  expect(JSON.stringify(receiver.received)).not.toMatch(/AAAA|BBBB/);
});

test('The webhook of a delivery to one payment does not wait for that of another from the same stock', async () => {
  const of = await merchant();
  const refused: string[] = [];
  const receiver = await startReceiver((response, { body }) => {
    const { event, of: payment } = JSON.parse(body);
    response.writeHead(event.startsWith('delivery.') && refused.includes(payment.id) ? 500 : 200).end();
  });
  await of.client.request(
    `mutation ($url: Url!) { configureWebhook(input: { url: $url, optionalEvents: [DELIVERY_DELIVERED] }) { __typename } }`,
    { url: receiver.url },
  );
  await create(of.client, { productId: of.productId, content: { codes: ['AAAA-1111', 'BBBB-2222'] } });
  const { paymentId } = (await of.rest.post('/payments', { productId: of.productId })).body;
  refused.push(paymentId);
  await pay(of, paymentId);
  await app.work.settled();
  const second = await buy(of);
  await app.work.settled();
  const delivered = receiver.received
    .map(({ body }) => JSON.parse(body))
    .filter(({ event }) => event === 'delivery.delivered')
    .map(({ of: payment }) => payment.id);
  expect(delivered).toEqual([paymentId, second]);
});

test('The payer’s page shows the content of a paid payment, by either method, and of no other', async () => {
  const of = await merchant();
  const { client, productId, rest } = of;
  await create(client, { productId, content: { text: 'Obrigada <b>!' } });
  await create(client, { productId, content: { codes: ['AAAA-1111', 'BBBB-2222'] } });
  const pageOf = async (id: string) => (await fetch(`${app.url}/checkout/${id}`)).text();
  const input = { amount: { productId }, reusable: true };
  const { token } = (await client.request(TOKEN, { input })).createCheckoutToken;
  const start = { input: { attemptId: 'c'.repeat(22) } };
  const { orderCode } = (await app.client(token).request(START_CARD, start)).startCheckout.cardPayment;
  const { paymentId } = (await rest.post('/payments', { productId })).body;
  for (const id of [orderCode, paymentId]) expect(await pageOf(id)).not.toMatch(/AAAA|Obrigada/);
  await app.cardPayments.pay(orderCode, approved());
  await pay(of, paymentId);
  for (const [id, code] of [
    [orderCode, 'AAAA-1111'],
    [paymentId, 'BBBB-2222'],
  ] as const) {
    const page = await pageOf(id);
    expect(page).toContain(code);
    expect(page).toContain('Obrigada &lt;b&gt;!');
  }
  await rest.post(`/payments/${paymentId}/refunds`, {});
  await app.work.settled();
  expect(await pageOf(paymentId)).not.toMatch(/BBBB|Obrigada/);
});
