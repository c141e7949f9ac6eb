import { afterAll, beforeAll, expect, test } from 'vitest';
import { replaceStoreProducts } from '../../../server/src/catalogue/store/store.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';

const PRODUCT = 'storeProductId name description price priceCents imageUrl available';
const ONE = `query ($storeProductId: String!) { storeProduct(storeProductId: $storeProductId) { id ${PRODUCT} } }`;
const LIST = `query ($first: Int, $after: String, $last: Int, $before: String) {
  storeProducts(first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { storeProductId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant(count = 3) {
  const accountId = await addAccount(app);
  const key = await addKey(app, { accountId });
  const products = Array.from({ length: count }, (_, index) => ({
    storeProductId: `p${index}`,
    name: 'Caneca',
    description: null,
    price: 'R$ 1.234,56',
    imageUrl: 'https://loja.example/foto.jpg',
    available: index !== 1,
  }));
  await replaceStoreProducts(app.database.sql, { accountId, environment: 'live' }, products);
  return { accountId, client: app.client(key), rest: app.rest(key) };
}

test('A product of the store is found by its id and as a node, with its price in cents', async () => {
  const { client } = await merchant();
  const { storeProduct } = await client.request(ONE, { storeProductId: 'p1' });
  expect(storeProduct).toEqual({
    id: expect.any(String),
    storeProductId: 'p1',
    name: 'Caneca',
    description: null,
    price: 'R$ 1.234,56',
    priceCents: 123_456,
    imageUrl: 'https://loja.example/foto.jpg',
    available: false,
  });
  const NODE = `query ($id: ID!) { node(id: $id) { ... on StoreProduct { storeProductId } } }`;
  expect((await client.request(NODE, storeProduct)).node).toEqual({ storeProductId: 'p1' });
  for (const storeProductId of ['', 'x', 'with \u0000'])
    expect(await client.request(ONE, { storeProductId })).toEqual({ storeProduct: null });
  const other = await merchant(0);
  expect((await other.client.request(NODE, storeProduct)).node).toBeNull();
});

test('The list is paged in both directions, and by offset over REST', async () => {
  const { client, rest } = await merchant();
  const page = async (variables: Record<string, unknown>) => {
    const { storeProducts } = await client.request(LIST, variables);
    return {
      ...storeProducts,
      ids: storeProducts.nodes.map((each: { storeProductId: string }) => each.storeProductId),
    };
  };
  const first = await page({ first: 2 });
  expect(first).toMatchObject({ ids: ['p0', 'p1'], totalCount: 3, pageInfo: { hasNextPage: true } });
  const next = await page({ first: 2, after: first.pageInfo.endCursor });
  expect(next).toMatchObject({ ids: ['p2'], pageInfo: { hasNextPage: false, hasPreviousPage: true } });
  expect(await page({ last: 1, before: next.pageInfo.startCursor })).toMatchObject({ ids: ['p1'] });
  for (const wrong of [{ first: 0 }, { first: 1, last: 1 }, { before: 'x' }])
    expect((await client.send(LIST, wrong)).body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  expect((await rest.get('/store/products?limit=1&offset=1')).body).toEqual({
    products: [
      {
        id: 'p1',
        name: 'Caneca',
        description: null,
        price: 'R$ 1.234,56',
        imageUrl: 'https://loja.example/foto.jpg',
        available: false,
      },
    ],
    total: 3,
    limit: 1,
    offset: 1,
  });
  expect((await rest.get('/store/products?limit=0')).status).toBe(400);
});

test('A dashboard token reads the store with the scope PRODUCTS, and with no other', async () => {
  const { accountId } = await merchant();
  const read = async (scope: string) => {
    const token = await addToken(app, { accountId, kind: 'dashboard', grant: { scopes: [scope] } });
    return (await app.client(token).send(LIST)).body;
  };
  expect((await read('products')).data.storeProducts.totalCount).toBe(3);
  expect((await read('payments')).errors[0].extensions.code).toBe('FORBIDDEN');
});

test('A restricted key does not read the store, over either interface', async () => {
  const { accountId } = await merchant();
  for (const permission of ['subcontas.gerenciar', 'subcontas.sacar'] as const) {
    const restricted = await addKey(app, { accountId, permissions: [permission] });
    for (const [query, variables] of [
      [LIST, {}],
      [ONE, { storeProductId: 'p1' }],
    ] as const)
      expect((await app.client(restricted).send(query, variables)).body.errors[0].extensions.code).toBe(
        'FORBIDDEN',
      );
    expect((await app.rest(restricted).get('/store/products')).status).toBe(403);
  }
});
