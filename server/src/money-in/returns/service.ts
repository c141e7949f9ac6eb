import { withoutExtra } from '../../kernel/list-range.ts';
import type { Database } from '../../state/db/database.ts';
import type { ReturnService } from './model.ts';
import { countReturns, listReturns } from './store.ts';

/** The port on Postgres: every read is one statement. */
export function createReturnService({ database }: { database: Database }): ReturnService {
  return {
    async list(tenant, range) {
      const items = await listReturns(database.sql, tenant, { ...range, limit: range.limit + 1 });
      return withoutExtra(items, range);
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [items, total] = await Promise.all([
        listReturns(database.sql, tenant, { end: 'first', limit, offset, ...filter }),
        countReturns(database.sql, tenant, filter),
      ]);
      return { items: items.map(({ item }) => item), total };
    },
    count: (tenant, filter) => countReturns(database.sql, tenant, filter),
  };
}
