import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../server/src/state/db/database.ts';
import { startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { product } from './products.ts';

describeOnDatabase('the products of the store', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('An import replaces all products, in the order of the file, of one environment alone', async () => {
    const core = await startCore({ database });
    const { store, tenant } = core;
    const sandbox = { ...tenant, environment: 'sandbox' as const };
    await store.replace(tenant, [product('b'), product('a'), product('c')]);
    await store.replace(sandbox, [product('só aqui')]);
    const ids = async (of = tenant) =>
      (await store.listPage(of, { limit: 10, offset: 0 })).items.map(({ storeProductId }) => storeProductId);
    expect(await ids()).toEqual(['b', 'a', 'c']);
    await store.replace(tenant, [product('c', { price: null }), product('d')]);
    expect(await ids()).toEqual(['c', 'd']);
    expect(await ids(sandbox)).toEqual(['só aqui']);
    expect(await store.findMany(tenant, ['d', 'a', 'c', 'with \u0000', 'half \ud83e'])).toEqual([
      ...[product('d'), null, product('c', { price: null }), null, null],
    ]);
    await store.replace(tenant, []);
    expect(await store.count(tenant)).toBe(0);
    expect(core.faults).toEqual([]);
  });

  test('Of imports at once one is the store, as a whole', async () => {
    const core = await startCore({ database });
    const lots = ['a', 'b', 'c'].map((lot) => [1, 2, 3, 4].map((nth) => product(`${lot}${nth}`)));
    await Promise.all(lots.map((lot) => core.store.replace(core.tenant, lot)));
    const { items } = await core.store.listPage(core.tenant, { limit: 10, offset: 0 });
    expect(lots).toContainEqual(items);
  });

  test('The list is paged in both directions, in the store’s own order', async () => {
    const { store, tenant } = await startCore({ database });
    await store.replace(
      tenant,
      ['e', 'd', 'c', 'b', 'a'].map((id) => product(id)),
    );
    const ids = ({ items }: Awaited<ReturnType<typeof store.list>>) =>
      items.map(({ product: { storeProductId } }) => storeProductId).join('');
    const first = await store.list(tenant, { end: 'first', limit: 2 });
    expect([ids(first), first.more]).toEqual(['ed', true]);
    const next = await store.list(tenant, { end: 'first', limit: 3, after: first.items[1]!.position });
    expect([ids(next), next.more]).toEqual(['cba', false]);
    const last = await store.list(tenant, { end: 'last', limit: 2 });
    expect([ids(last), last.more]).toEqual(['ba', true]);
    const before = await store.list(tenant, { end: 'last', limit: 9, before: last.items[0]!.position });
    expect([ids(before), before.more]).toEqual(['edc', false]);
  });
});
