import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { objectId } from '../../kernel/ids.ts';
import { withoutExtra } from '../../kernel/list-range.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { type Committer, put } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import { PRODUCT_COUNT, productCount, products } from './collections.ts';
import { assertFound, decideCreate, type ProductService, type StoredProduct } from './model.ts';
import { countProducts, listProducts, productTable } from './store.ts';

/** The port on Postgres: every change is a command to the committer, every read is one statement. */
export function createProductService({
  database,
  committer,
}: {
  database: Database;
  committer: Committer;
}): ProductService<StoredProduct> {
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listProducts>>>();

  async function findMany(tenant: Tenant, ids: readonly string[]): Promise<(StoredProduct | null)[]> {
    const requested = ids.map((id) => id.toLowerCase());
    const found = await productTable.load(database.sql, tenant, [...new Set(requested)]);
    const byId = new Map(found.map((product) => [product.id, product]));
    return requested.map((id) => byId.get(id) ?? null);
  }

  return {
    create(tenant, input) {
      const id = objectId();
      return committer.change({
        tenant,
        read: (reader) => reader.load(productCount, PRODUCT_COUNT),
        decide(state) {
          const { count } = state.need(productCount, PRODUCT_COUNT);
          const product = decideCreate(input, { id, count, now: state.now });
          return {
            outcome: product,
            writes: {
              records: [put(products, { id, product }), put(productCount, { count: count + 1 })],
            },
          };
        },
      });
    },

    delete(tenant, productId) {
      const id = productId.toLowerCase();
      return committer.change({
        tenant,
        read: (reader) => Promise.all([reader.load(products, id), reader.load(productCount, PRODUCT_COUNT)]),
        decide(state) {
          assertFound(state.get(products, id)?.product ?? null);
          const { count } = state.need(productCount, PRODUCT_COUNT);
          return {
            outcome: undefined,
            writes: {
              records: [put(products, { id, product: null }), put(productCount, { count: count - 1 })],
            },
          };
        },
      });
    },

    async find(tenant, id) {
      return (await findMany(tenant, [id]))[0] ?? null;
    },
    findMany,

    async list(tenant, range) {
      const page = { ...range, limit: range.limit + 1 };
      const items = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
        listProducts(database.sql, tenant, page),
      );
      return withoutExtra(items, range);
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [rows, total] = await Promise.all([
        listProducts(database.sql, tenant, { end: 'first', limit, offset, ...filter }),
        countProducts(database.sql, tenant, filter),
      ]);
      return { items: rows.map(({ product }) => product), total };
    },
    count: (tenant, filter) => countProducts(database.sql, tenant, filter),
  };
}
