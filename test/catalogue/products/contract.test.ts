import { beforeAll, describe, expect, test } from 'vitest';
import { createProductInput, MAX_PRODUCTS } from '../../../server/src/catalogue/products/model.ts';
import { productIdText } from '../../../server/src/money-in/checkout/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { embedded } from '../../support/port-fixture.ts';
import { describePort } from './port.ts';

const MUG = { name: 'Caneca', description: 'De cerâmica 🍵', priceCents: 4990 };

describeOnDatabase('products', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  describePort(embedded(() => database));

  test('Products of one instant are listed in the order of their creation', async () => {
    const { products, tenant } = await startCore({ database });
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift((await products.create(tenant, MUG)).id);
    const first = await products.list(tenant, { end: 'first', limit: 2 });
    const second = await products.list(tenant, {
      end: 'first',
      limit: 3,
      after: first.items.at(-1)!.position,
    });
    expect([...first.items, ...second.items].map(({ product }) => product.id)).toEqual(ids);
  });

  test('Deletions and creations in one group of commands never exceed the limit of products', async () => {
    const core = await startCore({ database });
    const create = () => core.products.create(core.tenant, MUG);
    const ids = await Promise.all(Array.from({ length: MAX_PRODUCTS }, create));
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
});

describe('the input of a product', () => {
  test.each([
    [{ ...MUG, name: '' }, 'name'],
    [{ ...MUG, name: ' \u3000' }, 'name'],
    [{ ...MUG, name: 'x'.repeat(201) }, 'name'],
    [{ ...MUG, name: 'with \u0000' }, 'name'],
    [{ ...MUG, description: '' }, 'description'],
    [{ ...MUG, description: 'x'.repeat(2_001) }, 'description'],
    [{ ...MUG, priceCents: 79 }, 'priceCents'],
    [{ ...MUG, priceCents: 10_000_000_001 }, 'priceCents'],
    [{ ...MUG, priceCents: 100.5 }, 'priceCents'],
  ])('The input %j of a product is refused for %s', (input, field) => {
    const { error } = createProductInput.safeParse(input);
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
  });

  test.each([
    [80, 'x'],
    [10_000_000_000, 'x'.repeat(200)],
  ])('A product accepts %d cents and the longest name', (priceCents, name) => {
    expect(createProductInput.safeParse({ name, priceCents }).success).toBe(true);
  });

  test('A product id is accepted in either case', () => {
    expect(productIdText.parse('AB'.repeat(12))).toBe('ab'.repeat(12));
    for (const wrong of ['ab'.repeat(11), 'gg'.repeat(12), `${'ab'.repeat(12)}\n`])
      expect(productIdText.safeParse(wrong).success).toBe(false);
  });
});
