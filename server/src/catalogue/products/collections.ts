import type { Collection } from '../../state/commit/commit.ts';
import type { StoredProduct } from './model.ts';
import { countProducts, deleteProducts, productTable } from './store.ts';

/** A product, or its absence under an id. A product never changes, so a product to save is new. */
export interface ProductRecord {
  id: string;
  product: StoredProduct | null;
}

/** Products, as a decision reads and writes them. */
export const products: Collection<ProductRecord> = {
  name: 'product',
  load: async (sql, tenant, ids) =>
    (await productTable.load(sql, tenant, ids)).map((product) => ({ id: product.id, product })),
  keyOf: (record) => record.id,
  async save(sql, tenant, records) {
    const added = records.flatMap(({ product }) => product ?? []);
    const deleted = records.filter(({ product }) => product === null).map(({ id }) => id);
    if (deleted.length > 0) await deleteProducts(sql, tenant, deleted);
    if (added.length > 0) await productTable.insert(sql, tenant, added);
  },
};

/**
 * The number of products, counted under the tenant's lock, and updated in memory by the commands of one
 * group. It is derived from the rows, and not saved.
 */
export const productCount: Collection<{ count: number }> = {
  name: 'product_count',
  load: async (sql, tenant) => [{ count: await countProducts(sql, tenant) }],
  keyOf: () => PRODUCT_COUNT,
  save: async () => undefined,
};
export const PRODUCT_COUNT = 'all';
