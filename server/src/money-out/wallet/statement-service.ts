import { withoutExtra } from '../../kernel/list-range.ts';
import type { Database } from '../../state/db/database.ts';
import { assertPeriod, bucketsOf, type StatementService } from './statement.ts';
import { createStatementStore, JOURNAL, type StatementRow, type StatementTable } from './store.ts';

/** The statement of the journal. */
export function createStatementService({ database }: { database: Database }): StatementService {
  return createStatementOf(JOURNAL, database);
}

/** The statement of a table: each read is one statement, so all of an answer is of one moment. */
export function createStatementOf<Row extends StatementRow>(
  table: StatementTable<Row>,
  { sql }: Pick<Database, 'sql'>,
): StatementService {
  const store = createStatementStore(table);
  return {
    async list(tenant, { end, limit, after, before, ...filter }) {
      const range = { end, after, before };
      return withoutExtra(await store.list(sql, tenant, filter, { ...range, limit: limit + 1 }), {
        end,
        limit,
      });
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [items, total] = await Promise.all([
        store.list(sql, tenant, filter, { end: 'first', limit, offset }),
        store.count(sql, tenant, filter),
      ]);
      return { items: items.map(({ entry }) => entry), total };
    },
    count: (tenant, filter) => store.count(sql, tenant, filter),
    find: (tenant, number) => store.find(sql, tenant, number),
    ofCommit: (tenant, { transactionIds, occurredAt }) =>
      store.findOf(sql, tenant, transactionIds, occurredAt),
    async at(tenant, instant) {
      const at = await store.at(sql, tenant, instant);
      return at && { instant, ...at };
    },
    history: async (tenant, request) => store.buckets(sql, tenant, bucketsOf(request)),
    async closing(tenant, period) {
      assertPeriod(period);
      const { startsAt, endsAt } = period;
      return { startsAt, endsAt, ...(await store.closing(sql, tenant, { startsAt, endsAt })) };
    },
  };
}
