import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAccount, addKey } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import type { GraphQLClient } from '../../support/graphql.ts';

const ERRORS = `__typename ... on UserError { code message } ... on ValidationError { fields { path message } }`;
const PRODUCT = 'id productId name description priceCents createdAt';
const CREATE = `mutation ($input: CreateProductInput!) {
  createProduct(input: $input) { ... on CreateProductSuccess { product { ${PRODUCT} } } ${ERRORS} }
}`;
const DELETE = `mutation ($productId: String!) {
  deleteProduct(productId: $productId) { ... on DeleteProductSuccess { deleted deletedId productId } ${ERRORS} }
}`;
const ONE = `query ($productId: String!) { product(productId: $productId) { ${PRODUCT} } }`;
const LIST = `query ($first: Int, $after: String) {
  products(first: $first, after: $after) {
    totalCount nodes { productId } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor }
  }
}`;
const MUG = { name: 'Caneca', description: 'De cerâmica', priceCents: 4990 };

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

const create = async (input: object = MUG, client: GraphQLClient = app.live) =>
  (await client.request(CREATE, { input })).createProduct;
const remove = async (productId: string, client: GraphQLClient = app.live) =>
  (await client.request(DELETE, { productId })).deleteProduct;
const anotherKey = async () => addKey(app, { accountId: await addAccount(app) });

describe('over GraphQL', () => {
  test('A product is created, found by its number and its node id, and deleted over GraphQL', async () => {
    const { product } = await create();
    expect(product).toEqual({
      ...MUG,
      id: expect.any(String),
      productId: expect.stringMatching(/^[0-9a-f]{24}$/),
      createdAt: app.clock.now().toISOString(),
    });
    expect(await app.live.request(ONE, { productId: product.productId })).toEqual({ product });
    const NODE = `query ($id: ID!) { node(id: $id) { __typename ... on Product { ${PRODUCT} } } }`;
    expect(await app.live.request(NODE, { id: product.id })).toEqual({
      node: { __typename: 'Product', ...product },
    });
    expect(await remove(product.productId.toUpperCase())).toEqual({
      __typename: 'DeleteProductSuccess',
      deleted: true,
      deletedId: product.id,
      productId: product.productId,
    });
    expect(await app.live.request(ONE, { productId: product.productId })).toEqual({ product: null });
    expect(await app.live.request(NODE, { id: product.id })).toEqual({ node: null });
    expect(await remove(product.productId)).toMatchObject({
      __typename: 'NotFoundError',
      message: 'Product not found',
    });
  });

  test('An unknown product is null, and the deletion of a malformed id names the field', async () => {
    for (const productId of ['', 'x', 'ab'.repeat(12), 'with \u0000'])
      expect(await app.live.request(ONE, { productId })).toEqual({ product: null });
    expect(await remove('x')).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path: 'productId', message: expect.stringContaining('invalid product ID format') }],
    });
  });

  test('Another account and the other environment do not see a product', async () => {
    const { product } = await create();
    for (const stranger of [app.sandbox, app.client(await anotherKey())]) {
      expect(await stranger.request(ONE, product)).toEqual({ product: null });
      expect(await remove(product.productId, stranger)).toMatchObject({ __typename: 'NotFoundError' });
      expect((await stranger.request(LIST)).products).toMatchObject({ totalCount: 0, nodes: [] });
    }
  });

  test('A list of products continues behind its cursor', async () => {
    const client = app.client(await anotherKey());
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await create(MUG, client)).product.productId);
    const { products: first } = await client.request(LIST, { first: 2 });
    expect(first).toMatchObject({
      totalCount: 3,
      nodes: [{ productId: ids[0] }, { productId: ids[1] }],
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    const { products: second } = await client.request(LIST, { after: first.pageInfo.endCursor });
    expect(second).toMatchObject({
      nodes: [{ productId: ids[2] }],
      pageInfo: { hasNextPage: false, hasPreviousPage: true },
    });
    for (const wrong of [{ first: 0 }, { first: 101 }, { after: 'x' }])
      expect((await client.send(LIST, wrong)).body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('A refusal names every wrong field of a product', async () => {
    expect(await create({ name: '', description: 'x'.repeat(2001), priceCents: 79 })).toMatchObject({
      __typename: 'ValidationError',
      fields: ['name', 'description', 'priceCents'].map((field) => ({ path: `input.${field}` })),
    });
  });

  test('A restricted key neither reads nor changes the catalogue', async () => {
    const restricted = app.client(await addKey(app, { permissions: ['subcontas.gerenciar'] }));
    const { product } = await create();
    expect(await create(MUG, restricted)).toMatchObject({ __typename: 'PermissionError' });
    expect(await remove(product.productId, restricted)).toMatchObject({ __typename: 'PermissionError' });
    for (const query of [ONE, LIST])
      expect((await restricted.send(query, product)).body.errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('A checkout token for a product starts a payment of its price', async () => {
    const { product } = await create();
    const mint = async () => {
      const { createCheckoutToken } = await app.live.request(
        `mutation ($productId: String!) { createCheckoutToken(input: { amount: { productId: $productId } }) {
        ... on CreateCheckoutTokenSuccess { token } ${ERRORS} } }`,
        { productId: product.productId },
      );
      return app.client(createCheckoutToken.token);
    };
    const [page, unused] = [await mint(), await mint()];
    const START = `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) {
      ... on StartCheckoutSuccess { cardPayment { amountCents description } } ${ERRORS} } }`;
    const input = { attemptId: `attempt-${randomUUID()}` };
    expect((await page.request(START, { input })).startCheckout).toMatchObject({
      cardPayment: { amountCents: 4990, description: 'Caneca' },
    });
    await remove(product.productId);
    const again = { attemptId: `attempt-${randomUUID()}` };
    // A second device joins the open payment.
    expect((await page.request(START, { input: again })).startCheckout).toMatchObject({
      cardPayment: { amountCents: 4990 },
    });
    expect((await unused.request(START, { input: again })).startCheckout).toMatchObject({
      __typename: 'NotFoundError',
      message: 'Product not found',
    });
  });
});

describe('over REST', () => {
  test('A product is created, found and deleted over REST', async () => {
    const created = await app.rest().post('/products', MUG);
    expect(created).toMatchObject({
      status: 201,
      body: {
        ...MUG,
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        createdAt: app.clock.now().toISOString(),
      },
    });
    const path = `/products/${created.body.id}`;
    expect(await app.rest().get(path)).toMatchObject({ status: 200, body: created.body });
    expect(await app.rest().delete(path)).toMatchObject({ status: 200, body: { deleted: true } });
    for (const gone of [await app.rest().get(path), await app.rest().delete(path)])
      expect(gone).toMatchObject({ status: 404, body: { error: 'Product not found' } });
  });

  test.each(['x', 'ab'.repeat(13), 'gg'.repeat(12), '%00'])(
    'The product id %s is invalid over REST',
    async (id) => {
      for (const answer of [
        await app.rest().get(`/products/${id}`),
        await app.rest().delete(`/products/${id}`),
      ])
        expect(answer).toMatchObject({
          status: 400,
          body: { error: expect.stringContaining('invalid product ID format') },
        });
    },
  );

  test('A page of products shows its offset and the total', async () => {
    const rest = app.rest(await anotherKey());
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await rest.post('/products', MUG)).body.id);
    expect((await rest.get('/products?limit=2&offset=1')).body).toEqual({
      products: [expect.objectContaining({ id: ids[1] }), expect.objectContaining({ id: ids[2] })],
      total: 3,
      limit: 2,
      offset: 1,
    });
    expect((await rest.get('/products')).body).toMatchObject({ total: 3, limit: 50, offset: 0 });
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1'])
      expect((await rest.get(`/products?${query}`)).status).toBe(400);
  });

  test('A refusal over REST names the wrong field', async () => {
    for (const [body, field] of [
      [{ priceCents: 100 }, 'name'],
      [{ name: 'x' }, 'priceCents'],
      [{ name: 'x', priceCents: 79 }, 'priceCents'],
      [{ name: 'x', priceCents: '100' }, 'priceCents'],
      [{ name: 7, priceCents: 100 }, 'name'],
    ] as const)
      expect(await app.rest().post('/products', body)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining(field) },
      });
  });

  test('Other accounts and environments cannot reach a product over REST', async () => {
    const { body } = await app.rest().post('/products', MUG);
    const path = `/products/${body.id}`;
    for (const key of [await anotherKey(), await addKey(app, { environment: 'sandbox' })]) {
      expect((await app.rest(key).get(path)).status).toBe(404);
      expect((await app.rest(key).delete(path)).status).toBe(404);
    }
    const restricted = await addKey(app, { permissions: ['subcontas.gerenciar', 'subcontas.sacar'] });
    expect((await app.rest(restricted).delete(path)).status).toBe(403);
    expect((await app.rest(null).delete(path)).status).toBe(401);
    expect((await app.rest(LIVE_KEY).get(path)).status).toBe(200);
  });
});
