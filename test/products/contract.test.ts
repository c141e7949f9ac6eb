import { beforeAll, describe, expect, test } from 'vitest';
import type { CheckoutGrant } from '../../server/src/card-payments/model.ts';
import type { Database } from '../../server/src/db/database.ts';
import { NotFoundError, UnavailableError, ValidationError } from '../../server/src/kernel/errors.ts';
import { objectId } from '../../server/src/kernel/ids.ts';
import { createProductInput, MAX_PRODUCTS, productIdText } from '../../server/src/products/model.ts';
import { type Core, startCore } from '../support/core.ts';
import { describeOnBothEngines } from '../support/database.ts';

const MUG = { name: 'Caneca', description: 'De cerâmica 🍵', priceCents: 4990 };

describeOnBothEngines('products', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('are found as they were given, by their account in their environment alone', async () => {
    const [core, other] = [await startCore({ database }), await startCore({ database })];
    const product = await core.products.create(core.tenant, MUG);
    expect(product).toEqual({
      ...MUG,
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      createdAt: core.clock.now(),
    });
    expect(await core.products.find(core.tenant, product.id)).toEqual(product);
    expect(await core.products.find(core.tenant, product.id.toUpperCase())).toEqual(product);
    for (const tenant of [other.tenant, sandboxOf(core)]) {
      expect(await core.products.find(tenant, product.id)).toBeNull();
      expect(await core.products.list(tenant, { first: 10 })).toEqual({ items: [], hasNextPage: false });
      await expect(core.products.delete(tenant, product.id)).rejects.toBeInstanceOf(NotFoundError);
    }
    expect(await core.products.find(core.tenant, product.id)).toEqual(product);
  });

  test.each(['', 'nothing', 'ab'.repeat(12), 'ab'.repeat(13), 'with \u0000', 'half \ud83e', `x' or '1'='1`])(
    'under the id %j are none',
    async (id) => {
      const core = await startCore({ database });
      await core.products.create(core.tenant, MUG);
      expect(await core.products.find(core.tenant, id)).toBeNull();
      await expect(core.products.delete(core.tenant, id)).rejects.toEqual(
        new NotFoundError('Product not found'),
      );
    },
  );

  test('are given many at once in the order asked, one twice, none for what is not there', async () => {
    const core = await startCore({ database });
    const [one, two] = [
      await core.products.create(core.tenant, MUG),
      await core.products.create(core.tenant, { name: 'Prato', priceCents: 80 }),
    ];
    expect(two.description).toBeNull();
    const asked = [two.id, 'nothing', one.id, two.id];
    expect(await core.products.findMany(core.tenant, asked)).toEqual([two, null, one, two]);
  });

  test('are deleted for good, once, though several ask at once', async () => {
    const core = await startCore({ database });
    const { id } = await core.products.create(core.tenant, MUG);
    const deleted = await Promise.allSettled([1, 2, 3].map(() => core.products.delete(core.tenant, id)));
    expect(deleted.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await core.products.find(core.tenant, id)).toBeNull();
    const rows = await database.sql.selectFrom('product').select('id').where('id', '=', id).execute();
    expect(rows).toEqual([]);
  });

  test('are listed newest first, page by page, none twice though others come and go', async () => {
    const core = await startCore({ database });
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift((await core.products.create(core.tenant, MUG)).id);
    const first = await core.products.list(core.tenant, { first: 2 });
    await core.products.create(core.tenant, MUG);
    await core.products.delete(core.tenant, ids[1]!);
    const second = await core.products.list(core.tenant, { first: 2, after: first.items.at(-1)!.place });
    const third = await core.products.list(core.tenant, { first: 2, after: second.items.at(-1)!.place });
    const pages = [first, second, third].map(({ items }) => items.map(({ product }) => product.id));
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect([first, second, third].map(({ hasNextPage }) => hasNextPage)).toEqual([true, true, false]);

    expect(await core.products.count(core.tenant)).toBe(5);
    const page = await core.products.listPage(core.tenant, { limit: 2, offset: 3 });
    expect({ ...page, items: page.items.map(({ id }) => id) }).toEqual({ items: ids.slice(3), total: 5 });
    expect(await core.products.listPage(core.tenant, { limit: 2, offset: 5 })).toEqual({
      items: [],
      total: 5,
    });
  });

  test('are at most 500 an account and environment, however many are created at once', async () => {
    const core = await startCore({ database });
    const create = () => core.products.create(core.tenant, MUG);
    const room = 3;
    const ids = await Promise.all(Array.from({ length: MAX_PRODUCTS - room }, create));
    const results = await Promise.allSettled(Array.from({ length: 40 }, create));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(room);
    for (const result of results)
      if (result.status === 'rejected') {
        expect(result.reason).toBeInstanceOf(UnavailableError);
        expect(result.reason).toMatchObject({ code: 'LIMIT_REACHED' });
      }
    expect(await core.products.count(core.tenant)).toBe(MAX_PRODUCTS);

    // The other environment has room of its own, and a deletion makes room, also within one group of commands.
    await core.products.create(sandboxOf(core), MUG);
    const changed = await Promise.allSettled([
      create(),
      core.products.delete(core.tenant, ids[0]!.id),
      create(),
      create(),
    ]);
    expect(changed.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(await core.products.count(core.tenant)).toBe(MAX_PRODUCTS);
  });

  describe('sold by a checkout token', () => {
    test('cost their price, and are what is paid where the token does not say', async () => {
      const core = await startCore({ database });
      const { id } = await core.products.create(core.tenant, MUG);
      const plain = await start(core, await mint(core, id));
      expect(plain).toMatchObject({ amountCents: 4990, description: 'Caneca', status: 'pending' });
      const described = await start(core, await mint(core, id.toUpperCase(), { description: 'Para a Ana' }));
      expect(described).toMatchObject({ amountCents: 4990, description: 'Para a Ana' });
    });

    test('take their price where the payer names it, and nothing else', async () => {
      const core = await startCore({ database });
      const { id } = await core.products.create(core.tenant, MUG);
      const token = await mint(core, id, { reusable: true });
      expect((await start(core, token, 4990)).amountCents).toBe(4990);
      await expect(start(core, token, 4989)).rejects.toBeInstanceOf(ValidationError);
    });

    test('are sold no more once they are deleted, while what was started goes on', async () => {
      const core = await startCore({ database });
      const { id } = await core.products.create(core.tenant, MUG);
      const token = await mint(core, id, { reusable: true });
      const attemptId = attempt();
      const started = await core.cardPayments.startCheckout(core.tenant, token, { attemptId });
      await core.products.delete(core.tenant, id);
      await expect(start(core, token)).rejects.toEqual(new NotFoundError('Product not found'));
      // A double click on what was started before.
      expect(await core.cardPayments.startCheckout(core.tenant, token, { attemptId })).toEqual(started);
      await expect(mint(core, id)).rejects.toBeInstanceOf(NotFoundError);
    });

    test('are the account’s own, and of its environment', async () => {
      const [core, other] = [await startCore({ database }), await startCore({ database })];
      const foreign = await other.products.create(other.tenant, MUG);
      const tested = await core.products.create(sandboxOf(core), MUG);
      for (const { id } of [foreign, tested])
        await expect(mint(core, id)).rejects.toEqual(new NotFoundError('Product not found'));
    });
  });
});

describe('the input of a product', () => {
  test.each([
    [{ ...MUG, name: '' }, 'name'],
    [{ ...MUG, name: 'x'.repeat(201) }, 'name'],
    [{ ...MUG, name: 'with \u0000' }, 'name'],
    [{ ...MUG, description: '' }, 'description'],
    [{ ...MUG, description: 'x'.repeat(2_001) }, 'description'],
    [{ ...MUG, priceCents: 79 }, 'priceCents'],
    [{ ...MUG, priceCents: 10_000_000_001 }, 'priceCents'],
    [{ ...MUG, priceCents: 100.5 }, 'priceCents'],
  ])('%j is refused for %s', (input, field) => {
    const { error } = createProductInput.safeParse(input);
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
  });

  test.each([
    [80, 'x'],
    [10_000_000_000, 'x'.repeat(200)],
  ])('takes %d cents and its longest name', (priceCents, name) => {
    expect(createProductInput.safeParse({ name, priceCents }).success).toBe(true);
  });

  test('takes an id in either case', () => {
    expect(productIdText.parse('AB'.repeat(12))).toBe('ab'.repeat(12));
    for (const wrong of ['ab'.repeat(11), 'gg'.repeat(12), `${'ab'.repeat(12)}\n`])
      expect(productIdText.safeParse(wrong).success).toBe(false);
  });
});

function sandboxOf({ tenant }: Core) {
  return { ...tenant, environment: 'sandbox' } as const;
}

async function mint(
  core: Core,
  productId: string,
  details: { description?: string; reusable?: boolean } = {},
) {
  const { token } = await core.access.createCheckoutToken(core.tenant, null, {
    amount: { productId: productIdText.parse(productId) },
    ...details,
  });
  const { credential } = await core.access.authenticate(`Bearer ${token}`);
  if (credential.kind !== 'checkout_token') throw new TypeError('not a checkout token');
  return credential;
}

function start(core: Core, token: { id: string; grant: CheckoutGrant }, valueCents?: number) {
  return core.cardPayments.startCheckout(core.tenant, token, {
    attemptId: attempt(),
    ...(valueCents === undefined ? {} : { valueCents }),
  });
}

function attempt(): string {
  return objectId() + objectId();
}
