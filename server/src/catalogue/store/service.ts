import { withoutExtra } from '../../kernel/list-range.ts';
import { type Committer, put } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import { wholeStore } from './collections.ts';
import type { StoreAdministration, StoreControls, StoreService } from './model.ts';
import { countStoreProducts, listStoreProducts, storeProductTable } from './store.ts';

/** The port on Postgres: every read is one statement. */
export function createStoreService({
  database,
  committer,
}: {
  database: Database;
  committer: Committer;
}): StoreService & StoreControls {
  return {
    async findMany(tenant, ids) {
      const found = await storeProductTable.load(database.sql, tenant, [...new Set(ids)]);
      const byId = new Map(found.map((product) => [product.storeProductId, product]));
      return ids.map((id) => byId.get(id) ?? null);
    },
    async list(tenant, range) {
      const items = await listStoreProducts(database.sql, tenant, { ...range, limit: range.limit + 1 });
      return withoutExtra(items, range);
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [rows, total] = await Promise.all([
        listStoreProducts(database.sql, tenant, { end: 'first', limit, offset, ...filter }),
        countStoreProducts(database.sql, tenant, filter),
      ]);
      return { items: rows.map(({ product }) => product), total };
    },
    count: (tenant, filter = {}) => countStoreProducts(database.sql, tenant, filter),

    replace: (tenant, products) =>
      committer.change<void>({
        tenant,
        read: async () => undefined,
        decide: () => ({ outcome: undefined, writes: { records: [put(wholeStore, { products })] } }),
      }),
  };
}

/** The import of a store, as the operator of the server does it. */
export function createStoreAdministration({
  store,
  findAccount,
}: {
  store: StoreControls;
  /** Finds the account of that id, or the only one. @throws NotFoundError, ValidationError, PermissionError */
  findAccount: (accountId: string | undefined) => Promise<string>;
}): StoreAdministration {
  return {
    async importStore({ accountId: named, environment, products }) {
      const accountId = await findAccount(named);
      await store.replace({ accountId, environment }, products);
      return { accountId, environment, count: products.length };
    },
  };
}
