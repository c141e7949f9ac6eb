import type { Collection } from '../../state/commit/commit.ts';
import { byTenant, loadPerTenant } from '../../state/db/each-tenant.ts';
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
  loadEach: async (sql, ids) =>
    (await productTable.loadEach(sql, ids)).map(({ tenant, record }) => ({
      tenant,
      record: { id: record.id, product: record },
    })),
  keyOf: (record) => record.id,
  async saveEach(sql, records) {
    const added = records.flatMap(({ tenant, record }) =>
      record.product ? [{ tenant, record: record.product }] : [],
    );
    const deleted = records.filter(({ record }) => record.product === null);
    for (const [tenant, own] of byTenant(deleted))
      await deleteProducts(
        sql,
        tenant,
        own.map(({ record }) => record.id),
      );
    if (added.length > 0) await productTable.insertEach(sql, added);
  },
};

/**
 * The number of products, counted under the tenant's lock, and updated in memory by the commands of one
 * group. It is derived from the rows, and not saved.
 */
export const productCount: Collection<{ count: number }> = {
  name: 'product_count',
  loadEach: loadPerTenant(async (sql, tenant) => [{ count: await countProducts(sql, tenant) }]),
  keyOf: () => PRODUCT_COUNT,
  saveEach: async () => undefined,
};
export const PRODUCT_COUNT = 'all';
