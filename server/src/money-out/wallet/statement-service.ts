import { withoutExtra } from '../../kernel/list-range.ts';
import type { Database } from '../../state/db/database.ts';
import { assertPeriod, bucketsOf, type StatementService } from './statement.ts';
import {
  countEntries,
  findEntriesOf,
  findEntry,
  findEntryAt,
  listEntries,
  readBuckets,
  readClosing,
} from './store.ts';

/** The statement on Postgres: each read is one statement, so all of an answer is of one moment. */
export function createStatementService({ database: { sql } }: { database: Database }): StatementService {
  return {
    async list(tenant, { end, limit, after, before, ...filter }) {
      const range = { end, after, before };
      return withoutExtra(await listEntries(sql, tenant, filter, { ...range, limit: limit + 1 }), {
        end,
        limit,
      });
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const [items, total] = await Promise.all([
        listEntries(sql, tenant, filter, { end: 'first', limit, offset }),
        countEntries(sql, tenant, filter),
      ]);
      return { items: items.map(({ entry }) => entry), total };
    },
    count: (tenant, filter) => countEntries(sql, tenant, filter),
    find: (tenant, number) => findEntry(sql, tenant, number),
    ofCommit: (tenant, { transactionIds, occurredAt }) =>
      findEntriesOf(sql, tenant, transactionIds, occurredAt),
    async at(tenant, instant) {
      const entry = await findEntryAt(sql, tenant, instant);
      return entry && { instant, entry, figures: entry.after, unexplainedCents: 0 };
    },
    history: async (tenant, request) => readBuckets(sql, tenant, bucketsOf(request)),
    async closing(tenant, { startsAt, endsAt }) {
      assertPeriod({ startsAt, endsAt });
      const period = { startsAt, endsAt };
      return { ...period, ...(await readClosing(sql, tenant, period)), unexplainedCents: 0 };
    },
  };
}
