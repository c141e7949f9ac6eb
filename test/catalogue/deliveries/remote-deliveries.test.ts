import { beforeAll, describe, expect, test } from 'vitest';
import { createRemoteDeliveries } from '../../../server/src/catalogue/deliveries/remote/service.ts';
import { createRemoteStore } from '../../../server/src/catalogue/store/remote/service.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import type { UpstreamFamily } from '../../../server/src/kernel/upstream-family.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { startFacade } from '../../support/facade.ts';
import { createScriptedService, ok, refused } from '../../support/scripted-service.ts';

const REQUESTER = { priority: 'merchant', subject: null, onRead: () => undefined } as const;
const PRODUCT = 'ab'.repeat(12);
const MINUTE = 60_000;

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

/** A service that pages a list under a path. */
async function start(
  path: string,
  name: string,
  items: readonly unknown[],
  families: readonly UpstreamFamily[] = [],
) {
  const script = createScriptedService();
  const facade = await startFacade({ database, upstream: script.upstream, families });
  const asked: string[] = [];
  script.on('GET', path, (request) => {
    asked.push(request.path);
    const query = new URLSearchParams(request.path.split('?')[1]);
    const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))];
    return ok({ [name]: items.slice(offset, offset + limit), total: items.length, limit, offset });
  });
  return { script, asked, facade, tenant: facade.tenant, clock: facade.clock };
}

describe('deliveries of another service', () => {
  const shown = (rest: object = {}) => ({ deliveryId: objectId(), productId: PRODUCT, ...rest });

  test('Deliveries are read leniently: known members by name, and anything else is null or left out', async () => {
    const items = [
      shown({
        kind: 'codes',
        content: 'segredo',
        deliveredCount: 3,
        remainingCount: '4',
        createdAt: '2026-03-02T12:00:00.000Z',
      }),
      shown({ kind: 'TEXT', content: 'Obrigada!' }),
      { id: objectId(), productId: PRODUCT.toUpperCase(), kind: 'hologram', content: 7, deliveredCount: -1 },
      { name: 'no delivery' },
    ];
    const { facade, tenant, asked } = await start('/v1/deliveries', 'deliveries', items);
    const deliveries = createRemoteDeliveries(facade).serviceFor(REQUESTER);
    const { items: listed } = await deliveries.list(tenant, { end: 'first', limit: 10 });
    expect(listed.map(({ delivery }) => delivery)).toEqual([
      {
        deliveryId: (items[0] as { deliveryId: string }).deliveryId,
        productId: PRODUCT,
        kind: 'codes',
        content: null,
        deliveredCount: 3,
        remainingCount: 4,
        createdAt: new Date('2026-03-02T12:00:00.000Z'),
      },
      expect.objectContaining({ kind: 'text', content: 'Obrigada!', deliveredCount: null, createdAt: null }),
      expect.objectContaining({ kind: 'unknown', productId: PRODUCT, content: null, deliveredCount: null }),
    ]);
    await deliveries.list(tenant, { end: 'first', limit: 10, productId: PRODUCT });
    expect(asked.at(-1)).toContain(`productId=${PRODUCT}`);
    const { deliveryId } = listed[1]!.delivery;
    expect(await deliveries.findMany(tenant, ['0'.repeat(24), deliveryId.toUpperCase()])).toEqual([
      ...[null, expect.objectContaining({ deliveryId })],
    ]);
    expect(await deliveries.deliveredTo(tenant, 'payment', ['psa_1'])).toEqual([null]);
  });

  test('The list is paged in both directions, and counted', async () => {
    const items = Array.from({ length: 130 }, () => shown({ kind: 'text' }));
    const { facade, tenant } = await start('/v1/deliveries', 'deliveries', items);
    const deliveries = createRemoteDeliveries(facade).serviceFor(REQUESTER);
    const ids = ({ items: page }: Awaited<ReturnType<typeof deliveries.list>>) =>
      page.map(({ delivery }) => delivery.deliveryId);
    const all = items.map(({ deliveryId }) => deliveryId);
    const first = await deliveries.list(tenant, { end: 'first', limit: 2 });
    expect([ids(first), first.more]).toEqual([all.slice(0, 2), true]);
    const next = await deliveries.list(tenant, { end: 'first', limit: 2, after: first.items[1]!.position });
    expect(ids(next)).toEqual(all.slice(2, 4));
    const last = await deliveries.list(tenant, { end: 'last', limit: 2 });
    expect([ids(last), last.more]).toEqual([all.slice(-2), true]);
    expect(await deliveries.count(tenant, {})).toBe(130);
    expect(await deliveries.listPage(tenant, { limit: 1, offset: 129 })).toMatchObject({
      items: [{ deliveryId: all.at(-1) }],
      total: 130,
    });
  });

  test('A filter by stock is refused, which the service does not have, and nothing is asked', async () => {
    const { facade, tenant, asked } = await start('/v1/deliveries', 'deliveries', [shown()]);
    const deliveries = createRemoteDeliveries(facade).serviceFor(REQUESTER);
    const refused = { code: 'NOT_OFFERED' };
    await expect(
      deliveries.list(tenant, { end: 'first', limit: 10, stock: ['empty'] }),
    ).rejects.toMatchObject(refused);
    await expect(deliveries.count(tenant, { stock: [] })).rejects.toMatchObject(refused);
    expect(asked).toEqual([]);
  });

  test('Content that may be behind the pages that are searched is not called unknown', async () => {
    const items = Array.from({ length: 600 }, () => shown({ kind: 'text' }));
    const { facade, tenant, asked } = await start('/v1/deliveries', 'deliveries', items);
    const deliveries = createRemoteDeliveries(facade).serviceFor(REQUESTER);
    const { deliveryId } = items[550]!;
    const unknown = {
      code: 'UPSTREAM_REFUSED',
      retryable: false,
      message: expect.stringMatching(/no lookup for deliveries, and this is not among the first 500/),
    };
    expect(await deliveries.findMany(tenant, [deliveryId])).toMatchObject([unknown]);
    expect(asked).toHaveLength(5);
    const newest = items[3]!.deliveryId;
    // A found delivery proves nothing about others in the same lookup.
    expect(await deliveries.findMany(tenant, [newest, deliveryId])).toMatchObject([
      { deliveryId: newest },
      unknown,
    ]);
    expect(await deliveries.findMany(tenant, [newest, newest])).toMatchObject([
      { deliveryId: newest },
      { deliveryId: newest },
    ]);
    items.length = 500;
    facade.clock.advance(MINUTE);
    expect(await deliveries.findMany(tenant, ['0'.repeat(24)])).toEqual([null]);
  });

  test('A 404 to a filter is about the product, and not about the list', async () => {
    const { script, facade, tenant } = await start('/v1/deliveries', 'deliveries', [shown()]);
    const paged = { deliveries: [shown()], total: 1 };
    script.on('GET', '/v1/deliveries', ({ path }) =>
      path.includes('productId') ? refused(404, 'Product not found') : ok(paged),
    );
    const deliveries = createRemoteDeliveries(facade).serviceFor(REQUESTER);
    const range = { end: 'first', limit: 1 } as const;
    expect(await deliveries.list(tenant, { ...range, productId: PRODUCT })).toEqual({
      items: [],
      more: false,
    });
    expect(await deliveries.count(tenant, { productId: PRODUCT })).toBe(0);
    expect((await deliveries.list(tenant, range)).items).toHaveLength(1);
  });

  test('Codes that are added to the delivery of a product are no answer to another request', async () => {
    const stock = shown({ kind: 'codes', remainingCount: 1 });
    const { script, facade, tenant } = await start('/v1/deliveries', 'deliveries', [stock], ['deliveries']);
    const remote = createRemoteDeliveries(facade);
    Object.assign(facade.requests, remote.requests);
    script.on('POST', '/v1/deliveries', () => ok(stock));
    const add = (code: string, idempotencyKey: string) =>
      remote
        .serviceFor(REQUESTER)
        .create(tenant, { productId: PRODUCT, content: { codes: [code] }, idempotencyKey });
    for (const [code, key] of [
      ['AAAA', 'first'],
      ['BBBB', 'second'],
    ] as const)
      expect(await add(code, key)).toMatchObject({
        ...{ delivery: { deliveryId: stock.deliveryId }, replayed: false },
      });
    expect(await add('BBBB', 'second')).toMatchObject({ replayed: true });
  });

  test('Nothing is created or deleted, and nothing is sent', async () => {
    const { script, facade, tenant } = await start('/v1/deliveries', 'deliveries', []);
    const deliveries = createRemoteDeliveries(facade).serviceFor(REQUESTER);
    const input = { productId: PRODUCT, content: { text: 'Olá' } };
    await expect(deliveries.create(tenant, input)).rejects.toMatchObject({ code: 'NOT_OFFERED' });
    await expect(deliveries.delete(tenant, '0'.repeat(24))).rejects.toMatchObject({ code: 'NOT_OFFERED' });
    expect(script.requests).toEqual([]);
  });

  test.each([404, 405, 501])(
    'A service that answers %i has none, which is remembered for ten minutes',
    async (status) => {
      const { script, facade, tenant, clock, asked } = await start('/v1/deliveries', 'deliveries', []);
      let isMissing = true;
      script.on('GET', '/v1/deliveries', ({ path }) => {
        asked.push(path);
        return isMissing ? refused(status, 'Not found') : ok({ deliveries: [], total: 0 });
      });
      const deliveries = createRemoteDeliveries(facade).serviceFor(REQUESTER);
      const ask = () => deliveries.list(tenant, { end: 'first', limit: 1 });
      for (let count = 0; count < 3; count += 1)
        await expect(ask()).rejects.toMatchObject({ code: 'NOT_OFFERED' });
      expect(asked).toHaveLength(1);
      isMissing = false;
      clock.advance(11 * MINUTE);
      expect(await ask()).toEqual({ items: [], more: false });
    },
  );
});

describe('the store of another service', () => {
  test('Products are read leniently, found by their id, and paged in the order of the store', async () => {
    const items = [
      { id: 'a', name: 'Caneca', price: '1.234,56', image: 'https://loja.example/a.jpg', available: true },
      { id: 42, name: '', price: 49.9, description: 'https://loja.example/sobre', available: 'sim' },
      { nome: 'sem id' },
    ];
    const { facade, tenant } = await start('/v1/store/products', 'products', items);
    const store = createRemoteStore(facade).serviceFor(REQUESTER);
    const { items: listed } = await store.list(tenant, { end: 'first', limit: 10 });
    const [first, second] = [
      {
        storeProductId: 'a',
        name: 'Caneca',
        description: null,
        price: '1.234,56',
        imageUrl: 'https://loja.example/a.jpg',
        available: true,
      },
      {
        storeProductId: '42',
        name: null,
        description: 'https://loja.example/sobre',
        price: null,
        imageUrl: null,
        available: null,
      },
    ];
    expect(listed.map(({ product }) => product)).toEqual([first, second]);
    expect(await store.findMany(tenant, ['42', 'x'])).toEqual([second, null]);
    const next = await store.list(tenant, { end: 'first', limit: 1, after: listed[0]!.position });
    expect(next).toMatchObject({ items: [{ product: second }], more: true });
    expect(await store.list(tenant, { end: 'last', limit: 1, before: listed[1]!.position })).toMatchObject({
      items: [{ product: first }],
      more: false,
    });
    expect(await store.count(tenant)).toBe(3);
  });

  test('A service without a store says so, and an unreadable answer is another error', async () => {
    const { script, facade, tenant } = await start('/v1/store/products', 'products', []);
    const store = createRemoteStore(facade).serviceFor(REQUESTER);
    script.on('GET', '/v1/store/products', () => ok('nothing'));
    await expect(store.count(tenant)).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    facade.clock.advance(MINUTE);
    script.on('GET', '/v1/store/products', () => refused(404, 'Not found'));
    await expect(store.listPage(tenant, { limit: 1, offset: 0 })).rejects.toMatchObject({
      code: 'NOT_OFFERED',
    });
  });
});
