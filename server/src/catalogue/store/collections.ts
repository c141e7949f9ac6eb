import type { Collection } from '../../state/commit/commit.ts';
import { savePerTenant } from '../../state/db/each-tenant.ts';
import type { StoreProduct } from './model.ts';
import { replaceStoreProducts } from './store.ts';

/** All products of the store as one record, which an import replaces. No decision reads it. */
export const wholeStore: Collection<{ products: readonly StoreProduct[] }> = {
  name: 'store_product',
  loadEach: async () => [],
  keyOf: () => 'all',
  saveEach: savePerTenant((sql, tenant, [store]) => replaceStoreProducts(sql, tenant, store!.products)),
};
