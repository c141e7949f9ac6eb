import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Product, positionProducts } from '../../../server/src/catalogue/products/model.ts';
import { createRemoteProducts } from '../../../server/src/catalogue/products/remote/service.ts';
import { RateLimitError } from '../../../server/src/kernel/errors.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import { createRemoteSandbox } from '../../../server/src/money-in/sandbox/remote/service.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { startFacade } from '../../support/facade.ts';
import { createScriptedService, ok, refused, timeout } from '../../support/scripted-service.ts';

const PATH = '/v1/products';
const BREAD = { name: 'Pão', priceCents: 100 };

let database: Database;
beforeAll(async () => {
  database = await openFreshDatabase();
});

/** A service with a catalogue, newest first, and with a lookup by id unless a test disables it. */
async function start({ looksUp = true }: { looksUp?: boolean } = {}) {
  const script = createScriptedService();
  const facade = await startFacade({ database, upstream: script.upstream });
  const catalogue: Record<string, unknown>[] = [];
  const saw: { stale: boolean }[] = [];
  const products = createRemoteProducts(facade).serviceFor({
    priority: 'merchant',
    subject: null,
    onRead: (_, stale) => saw.push({ stale }),
  });
  const add = (rest: Record<string, unknown> = {}) => {
    const product = {
      id: objectId(),
      ...BREAD,
      description: null,
      createdAt: facade.clock.now().toISOString(),
      ...rest,
    };
    catalogue.unshift(product);
    return product;
  };
  script.on('GET', PATH, ({ path }) => {
    const query = new URLSearchParams(path.split('?')[1]);
    const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))];
    return ok({ products: catalogue.slice(offset, offset + limit), total: catalogue.length, limit, offset });
  });
  script.on('GET', `${PATH}/`, ({ path }) => {
    const found = catalogue.find(({ id }) => path.endsWith(String(id)));
    return looksUp && found ? ok(found) : refused(404, 'Product not found');
  });
  script.on('POST', PATH, ({ body }) => ok(add(body as object as Record<string, unknown>)));
  script.on('DELETE', PATH, ({ path }) => {
    const index = catalogue.findIndex(({ id }) => path.endsWith(String(id)));
    if (index < 0) return refused(404, 'Product not found');
    catalogue.splice(index, 1);
    return ok({ deleted: true });
  });
  return { facade, script, products, catalogue, add, saw, tenant: facade.tenant, clock: facade.clock };
}

describe('a product at the service', () => {
  test('A product is created, listed and deleted at the service, and cached lists are read again', async () => {
    const { products, tenant, script, clock } = await start();
    expect(await products.list(tenant, { end: 'first', limit: 10 })).toEqual({ items: [], more: false });
    const created = await products.create(tenant, { ...BREAD, description: null });
    expect(created).toMatchObject({ ...BREAD, description: null, createdAt: clock.now() });
    expect(script.requests.at(-1)).toMatchObject({ method: 'POST', body: BREAD });
    expect(
      (await products.list(tenant, { end: 'first', limit: 10 })).items.map(({ product }) => product),
    ).toEqual([created]);
    expect(await products.count(tenant)).toBe(1);
    await products.delete(tenant, created.id.toUpperCase());
    expect(await products.count(tenant)).toBe(0);
    await expect(products.delete(tenant, created.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('A product is recognized by the form of its id where the service names its fields differently', async () => {
    const { products, tenant, script } = await start();
    const _id = objectId();
    const record = { _id, titulo: 'Pão', precoCents: 100, versao: 3 };
    script.on('POST', PATH, () => ok(record));
    expect(await products.create(tenant, BREAD)).toEqual({
      id: _id,
      name: 'Pão',
      description: null,
      priceCents: 100,
      createdAt: null,
    });
    script.on('GET', PATH, () => ok({ itens: [record, 'nothing', null], total: 3 }));
    expect((await products.list(tenant, { end: 'first', limit: 10 })).items).toEqual([
      { position: 1, product: { id: _id, name: null, description: null, priceCents: 100, createdAt: null } },
    ]);
  });

  test.each([
    [400, { code: 'BAD_USER_INPUT', fields: [{ path: 'input', message: 'no' }] }],
    [403, { code: 'FORBIDDEN', message: 'no' }],
    [404, { code: 'UPSTREAM_REFUSED', retryable: false }],
    [409, { code: 'LIMIT_REACHED', message: 'no' }],
  ])('Status %i means that no product was created', async (status, error) => {
    const { products, tenant, script } = await start();
    script.on('POST', PATH, () => refused(status, 'no'));
    await expect(products.create(tenant, BREAD)).rejects.toMatchObject(error);
  });

  test('A creation whose response was lost is not repeated, and a deletion is', async () => {
    const { products, tenant, script } = await start();
    script.on('POST', PATH, timeout);
    script.on('DELETE', PATH, timeout);
    await expect(products.create(tenant, BREAD)).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      retryable: false,
      moneyMayHaveMoved: false,
    });
    await expect(products.delete(tenant, objectId())).rejects.toMatchObject({ retryable: true });
    expect(script.requests).toHaveLength(2);
  });

  test.each([
    [400, { code: 'BAD_USER_INPUT', fields: [{ path: 'productId', message: 'Invalid product ID format' }] }],
    [405, { code: 'UPSTREAM_UNAVAILABLE', retryable: true }],
  ])('Status %i means that no product was deleted', async (status, error) => {
    const { products, tenant, script } = await start();
    script.on('DELETE', PATH, () => refused(status, 'Invalid product ID format'));
    await expect(products.delete(tenant, objectId())).rejects.toMatchObject(error);
  });
});

describe('a product, looked up', () => {
  test('A product is looked up by its id, and a malformed id is not', async () => {
    const { products, tenant, add, script } = await start();
    const { id } = add();
    expect(await products.find(tenant, id.toUpperCase())).toMatchObject({ id, ...BREAD });
    for (const text of ['', 'x', `${id}0`, '../../money-out/wallet'])
      expect(await products.find(tenant, text)).toBeNull();
    // The service offers the lookup, so a product that it does not find does not exist.
    expect(await products.find(tenant, objectId())).toBeNull();
    expect(script.requestLines.map((path) => path.split('/').length)).toEqual([4, 4]);
  });

  test.each([
    [404, false],
    [405, false],
    [501, false],
  ])(
    'A product is found in the list where the service has no lookup (%i), which is not tried again',
    async (status) => {
      const { products, tenant, add, script } = await start({ looksUp: false });
      if (status !== 404) script.on('GET', `${PATH}/`, () => refused(status, 'no'));
      const { id } = add();
      expect(await products.find(tenant, id)).toMatchObject({ id });
      expect(await products.find(tenant, objectId())).toBeNull();
      expect(script.requestLines).toEqual([`GET ${PATH}/${id}`, `GET ${PATH}`]);
    },
  );

  test('Many products are looked up with one request', async () => {
    const { products, tenant, add, script } = await start();
    const ids = Array.from({ length: 20 }, () => add().id);
    const found = await products.findMany(tenant, [...ids, 'x', objectId()]);
    expect(found.map((product) => product?.id)).toEqual([...ids, undefined, undefined]);
    expect(script.requests).toHaveLength(1);
  });
});

describe('the catalogue', () => {
  test('The catalogue is read completely, at most five pages, and cached for five seconds', async () => {
    const { products, tenant, add, script, clock } = await start();
    for (let count = 0; count < 250; count += 1) {
      add();
      clock.advance(1);
    }
    expect(await products.count(tenant)).toBe(250);
    expect(await products.listPage(tenant, { limit: 2, offset: 249 })).toMatchObject({ total: 250 });
    expect(script.requests).toHaveLength(3);
    clock.advance(5_000);
    script.on('GET', PATH, ({ path }) =>
      ok({ products: Array.from({ length: 100 }, () => ({ id: objectId(), path })) }),
    );
    expect(await products.count(tenant)).toBe(500);
    expect(script.requests).toHaveLength(8);
  });

  test('The last known catalogue is shown where the service cannot be reached', async () => {
    const { products, tenant, add, script, saw, clock } = await start();
    add();
    await products.count(tenant);
    clock.advance(5_000);
    script.on('GET', PATH, () => new RateLimitError('120 a minute', 7));
    expect(await products.count(tenant)).toBe(1);
    expect(saw).toEqual([{ stale: false }, { stale: true }]);
  });

  test('Positions in the catalogue stay whatever is created and deleted', async () => {
    const { products, tenant, add, catalogue, clock } = await start();
    const ids = Array.from({ length: 6 }, () => {
      clock.advance(1);
      return add().id;
    }).reverse();
    const first = await products.list(tenant, { end: 'first', limit: 3 });
    expect(first.items.map(({ product }) => product.id)).toEqual(ids.slice(0, 3));
    expect(first.more).toBe(true);
    clock.advance(5_000);
    // The last product that was read, an older one and a newer one; and a new one.
    for (const id of [ids[2], ids[0], ids[4]])
      catalogue.splice(
        catalogue.findIndex((each) => each.id === id),
        1,
      );
    add();
    const rest = await products.list(tenant, { end: 'first', limit: 3, after: first.items[2]!.position });
    expect(rest.items.map(({ product }) => product.id)).toEqual([ids[3], ids[5]]);
    expect(rest.more).toBe(false);
  });

  test('Each product has one position, newest first', () => {
    const product = fc.record({
      id: fc.stringMatching(/^[0-9a-f]{20}00[01]{2}$/),
      createdAt: fc.option(
        fc.integer({ min: -5, max: 5 }).map((ms) => new Date(ms)),
        { freq: 20 },
      ),
    });
    fc.assert(
      fc.property(fc.uniqueArray(product, { selector: ({ id }) => id }), (all) => {
        const listed = all.map((each): Product => ({ ...BREAD, description: null, ...each }));
        const positions = positionProducts(listed).map(({ position }) => position);
        expect(positions).toEqual([...new Set(positions)].sort((left, right) => right - left));
        for (const position of positions) expect(Number.isSafeInteger(position) && position >= 0).toBe(true);
      }),
    );
  });
});

describe('a test payment at the service', () => {
  async function startSandbox() {
    const script = createScriptedService();
    const facade = await startFacade({ database, upstream: script.upstream });
    const service = createRemoteSandbox(facade).serviceFor({
      priority: 'merchant',
      subject: null,
      onRead: () => undefined,
    });
    return {
      service,
      script,
      facade,
      live: facade.tenant,
      tenant: { ...facade.tenant, environment: 'sandbox' as const },
    };
  }

  test('A test payment is sent as it was given, whatever the response, and the wallet is read', async () => {
    const { service, script, tenant, facade } = await startSandbox();
    script.on('POST', '/v1/sandbox/payments', () => ok('made'));
    await service.createTestPayment(tenant, { valueCents: 4990, pending: true });
    await service.createTestPayment(tenant, { valueCents: 1, pending: null });
    expect(script.requests.map(({ environment, body }) => [environment, body])).toEqual([
      ['sandbox', { valueCents: 4990, pending: true }],
      ['sandbox', { valueCents: 1 }],
    ]);
    expect(facade.polledResources).toEqual(['wallet', 'wallet']);
  });

  test('A test payment is refused with a live key, without a request', async () => {
    const { service, script, live } = await startSandbox();
    await expect(service.createTestPayment(live, { valueCents: 1 })).rejects.toMatchObject({
      code: 'ONLY_IN_SANDBOX',
    });
    expect(script.requests).toEqual([]);
  });

  test.each([
    [refused(400, 'no'), { code: 'BAD_USER_INPUT', fields: [{ path: 'input', message: 'no' }] }],
    [refused(409, 'no'), { code: 'LIMIT_REACHED' }],
    [refused(404, 'no'), { code: 'UPSTREAM_REFUSED', retryable: false }],
    [timeout(), { code: 'UPSTREAM_UNAVAILABLE', retryable: true, moneyMayHaveMoved: false }],
  ])('A test payment is refused as %j', async (answer, error) => {
    const { service, script, tenant } = await startSandbox();
    script.on('POST', '/v1/sandbox/payments', () => answer);
    await expect(service.createTestPayment(tenant, { valueCents: 1 })).rejects.toMatchObject(error);
  });
});
