import { withoutExtra } from '../../kernel/list-range.ts';
import type { Database } from '../../state/db/database.ts';
import { filtersOf, isSelected, type SaleService } from './model.ts';
import { type SaleTables, saleStore } from './store.ts';

/** The sales of all methods on Postgres, read from the tables of their slices. */
export function createSaleService({
  database: { sql },
  tables,
}: {
  database: Database;
  tables: SaleTables;
}): SaleService {
  const store = saleStore(tables);
  return {
    async list(tenant, kinds, { end, limit, after, before, ...filter }) {
      const filters = filtersOf(kinds, filter);
      const read = await store.list(sql, tenant, filters, { end, after, before, limit: limit + 1 });
      const { items, more } = withoutExtra(read, { end, limit });
      // A sale may have changed between its key and its row.
      return { items: items.filter(({ sale }) => isSelected(sale, filters)), more };
    },
    async listPage(tenant, kinds, { limit, offset, ...filter }) {
      const filters = filtersOf(kinds, filter);
      const [items, total] = await Promise.all([
        store.list(sql, tenant, filters, { end: 'first', limit, offset }),
        store.count(sql, tenant, filters),
      ]);
      return { items: items.map(({ sale }) => sale).filter((sale) => isSelected(sale, filters)), total };
    },
    count: (tenant, kinds, filter) => store.count(sql, tenant, filtersOf(kinds, filter)),
    totals: (tenant, kinds, filter, division) =>
      store.totals(sql, tenant, filtersOf(kinds, filter), division),
  };
}
