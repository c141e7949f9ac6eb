import { describe, expect, test } from 'vitest';
import { MAX_PRODUCTS } from '../../../server/src/catalogue/products/model.ts';
import type { CheckoutGrant } from '../../../server/src/kernel/caller.ts';
import { NotFoundError, PreconditionError, ValidationError } from '../../../server/src/kernel/errors.ts';
import { objectId } from '../../../server/src/kernel/ids.ts';
import { productIdText } from '../../../server/src/money-in/checkout/model.ts';
import { expectBothWays } from '../../support/both-ways.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';

const MUG = { name: 'Caneca', description: 'De cerâmica 🍵', priceCents: 4990 };

/** The contract of products, for every implementation of their port. */
export function describePort(startMerchant: StartPortFixture): void {
  test('Products are found as they were given, by their account in their environment alone', async () => {
    const [merchant, other] = [await startMerchant(), await startMerchant()];
    const { products, tenant } = merchant;
    const product = await products.create(tenant, MUG);
    expect(product).toEqual({
      ...MUG,
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      createdAt: merchant.clock.now(),
    });
    expect(await products.find(tenant, product.id)).toEqual(product);
    expect(await products.find(tenant, product.id.toUpperCase())).toEqual(product);
    for (const stranger of [other, merchant.inSandbox()]) {
      expect(await stranger.products.find(stranger.tenant, product.id)).toBeNull();
      const all = await stranger.products.list(stranger.tenant, { end: 'first', limit: 10 });
      expect(all).toEqual({ items: [], more: false });
      const deleted = stranger.products.delete(stranger.tenant, product.id);
      await expect(deleted).rejects.toBeInstanceOf(NotFoundError);
    }
    expect(await products.find(tenant, product.id)).toEqual(product);
  });

  test.each(['', 'nothing', 'ab'.repeat(12), 'ab'.repeat(13), 'with \u0000', 'half \ud83e', `x' or '1'='1`])(
    'No product is found under the id %j',
    async (id) => {
      const { products, tenant } = await startMerchant();
      await products.create(tenant, MUG);
      expect(await products.find(tenant, id)).toBeNull();
      await expect(products.delete(tenant, id)).rejects.toEqual(new NotFoundError('Product not found'));
    },
  );

  test('Several products are found in the order asked, repeated ones twice, and null for unknown ones', async () => {
    const { products, tenant } = await startMerchant();
    const [one, two] = [
      await products.create(tenant, MUG),
      await products.create(tenant, { name: 'Prato', priceCents: 80 }),
    ];
    expect(two.description).toBeNull();
    const asked = [two.id, 'nothing', one.id, two.id];
    expect(await products.findMany(tenant, asked)).toEqual([two, null, one, two]);
  });

  test('A product is deleted permanently, once, by several concurrent requests', async () => {
    const { products, tenant, service } = await startMerchant();
    const { id } = await products.create(tenant, MUG);
    const deleted = await Promise.allSettled([1, 2, 3].map(() => products.delete(tenant, id)));
    expect(deleted.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await products.find(tenant, id)).toBeNull();
    const rows = await service.database.sql.selectFrom('product').select('id').where('id', '=', id).execute();
    expect(rows).toEqual([]);
  });

  test('Products are listed newest first, page by page, none twice while others are created and deleted', async () => {
    const { products, tenant, clock } = await startMerchant();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      ids.unshift((await products.create(tenant, MUG)).id);
      clock.advance(1);
    }
    const first = await products.list(tenant, { end: 'first', limit: 2 });
    await products.create(tenant, MUG);
    await products.delete(tenant, ids[1]!);
    const second = await products.list(tenant, {
      end: 'first',
      limit: 2,
      after: first.items.at(-1)!.position,
    });
    const third = await products.list(tenant, {
      end: 'first',
      limit: 2,
      after: second.items.at(-1)!.position,
    });
    const pages = [first, second, third].map(({ items }) => items.map(({ product }) => product.id));
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect([first, second, third].map(({ more }) => more)).toEqual([true, true, false]);

    const now = (await products.listPage(tenant, { limit: 10, offset: 0 })).items.map(({ id }) => id);
    expect(now.slice(1)).toEqual(ids.toSpliced(1, 1));
    await expectBothWays(
      (range) => products.list(tenant, range),
      ({ product }) => product.id,
      now,
    );
    expect(await products.count(tenant)).toBe(5);
    const page = await products.listPage(tenant, { limit: 2, offset: 3 });
    expect({ ...page, items: page.items.map(({ id }) => id) }).toEqual({ items: ids.slice(3), total: 5 });
    expect(await products.listPage(tenant, { limit: 2, offset: 5 })).toEqual({ items: [], total: 5 });
  });

  test('An account has at most 500 products per environment, however many are created at once', async () => {
    const merchant = await startMerchant();
    const { products, tenant } = merchant;
    const create = () => products.create(tenant, MUG);
    const room = 3;
    const ids = await Promise.all(Array.from({ length: MAX_PRODUCTS - room }, create));
    const results = await Promise.allSettled(Array.from({ length: 40 }, create));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(room);
    for (const result of results)
      if (result.status === 'rejected') {
        expect(result.reason).toBeInstanceOf(PreconditionError);
        expect(result.reason).toMatchObject({ code: 'LIMIT_REACHED' });
      }
    expect(await products.count(tenant)).toBe(MAX_PRODUCTS);

    // The other environment has a limit of its own, and a deletion makes room, also within one group of commands.
    const sandbox = merchant.inSandbox();
    await sandbox.products.create(sandbox.tenant, MUG);
    const changed = await Promise.allSettled([
      products.delete(tenant, ids[0]!.id).then(create),
      products.delete(tenant, ids[1]!.id),
    ]);
    expect(changed.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect((await Promise.allSettled([create(), create()])).map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
    ]);
    expect(await products.count(tenant)).toBe(MAX_PRODUCTS);
  });

  describe('sold by a checkout token', () => {
    test('A token for a product charges its price, and shows its name where it has no description', async () => {
      const merchant = await startMerchant();
      const { id } = await merchant.products.create(merchant.tenant, MUG);
      const plain = await start(merchant, await mint(merchant, id));
      expect(plain).toMatchObject({ amountCents: 4990, description: 'Caneca', status: 'pending' });
      const described = await mint(merchant, id.toUpperCase(), { description: 'Para a Ana' });
      expect(await start(merchant, described)).toMatchObject({
        amountCents: 4990,
        description: 'Para a Ana',
      });
    });

    test('A token for a product accepts its price from the payer, and no other amount', async () => {
      const merchant = await startMerchant();
      const { id } = await merchant.products.create(merchant.tenant, MUG);
      const token = await mint(merchant, id, { reusable: true });
      expect((await start(merchant, token, 4990)).amountCents).toBe(4990);
      await expect(start(merchant, token, 4989)).rejects.toBeInstanceOf(ValidationError);
    });

    test('A deleted product is no longer sold, while a started payment continues', async () => {
      const merchant = await startMerchant();
      const { products, cardPayments, tenant } = merchant;
      const { id } = await products.create(tenant, MUG);
      const token = await mint(merchant, id, { reusable: true });
      const attemptId = newAttemptId();
      const started = (await cardPayments.startCheckout(tenant, token, { attemptId })).payment;
      await products.delete(tenant, id);
      await expect(start(merchant, token)).rejects.toEqual(new NotFoundError('Product not found'));
      // A second creation returns the started payment. Its answer leaves out what is refunded.
      const { refundedCents: _, refundingCents: __, ...same } = started;
      expect((await cardPayments.startCheckout(tenant, token, { attemptId })).payment).toMatchObject(same);
      await expect(mint(merchant, id)).rejects.toBeInstanceOf(NotFoundError);
    });

    test('A token sells only products of its account and environment', async () => {
      const [merchant, other] = [await startMerchant(), await startMerchant()];
      const foreign = await other.products.create(other.tenant, MUG);
      const sandbox = merchant.inSandbox();
      const tested = await sandbox.products.create(sandbox.tenant, MUG);
      for (const { id } of [foreign, tested])
        await expect(mint(merchant, id)).rejects.toEqual(new NotFoundError('Product not found'));
    });
  });
}

async function mint(
  { access, checkoutTokens, tenant }: PortFixture,
  productId: string,
  details: { description?: string; reusable?: boolean } = {},
) {
  const { token } = await checkoutTokens.create(tenant, null, {
    amount: { productId: productIdText.parse(productId) },
    ...details,
  });
  const { credential } = await access.authenticate(`Bearer ${token}`);
  if (credential.kind !== 'checkout_token') throw new TypeError('not a checkout token');
  return credential;
}

function start(
  { cardPayments, tenant }: PortFixture,
  token: { id: string; grant: CheckoutGrant },
  valueCents?: number,
) {
  return cardPayments
    .startCheckout(tenant, token, {
      attemptId: newAttemptId(),
      ...(valueCents === undefined ? {} : { valueCents }),
    })
    .then(({ payment }) => payment);
}

function newAttemptId(): string {
  return objectId() + objectId();
}
