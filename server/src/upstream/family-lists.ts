import { createCoalescedReads } from '../kernel/coalesce.ts';
import { type FamilyReads, withoutExtra } from '../kernel/list-range.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import type { Sql } from '../state/db/database.ts';
import {
  countMirroredRange,
  listMirroredRange,
  type MirrorRange,
  type RangeFilter,
  totalsOfMirrored,
} from './mirror-lists.ts';

/** The lists and sums of a family in the mirror, which may lack resources that the service has. */
export interface FamilyLists<R, Filter> extends Pick<FamilyReads<R, Filter>, 'list' | 'count' | 'totals'> {
  /** Reads a page by offset, newest first, and the total count (the document's 2.1.6), of what a filter selects. */
  listPage(
    tenant: Tenant,
    page: Partial<Filter> & { limit: number; offset: number },
  ): Promise<{ items: R[]; total: number }>;
}

export function createFamilyLists<R, Filter extends object>(
  sql: Sql,
  {
    resource,
    fromJson,
    rangeOf,
    allOf = null,
  }: {
    resource: MirroredResource;
    fromJson: (snapshot: unknown) => R;
    rangeOf: (filter: Filter) => RangeFilter;
    /** All values by which the mirror has an index for each list; null if it has none. */
    allOf?: { parent: readonly string[]; status: readonly string[] } | null;
  },
): FamilyLists<R, Filter> {
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listMirroredRange>>>();

  async function read(tenant: Tenant, range: MirrorRange): Promise<{ position: number; resource: R }[]> {
    const rows = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(range)}`, () =>
      listMirroredRange(sql, tenant, resource, { ...range, allOf }),
    );
    return rows.map(({ position, observed }) => ({ position, resource: fromJson(observed.snapshot) }));
  }

  return {
    async list(tenant, { end, limit, after, before, ...filter }) {
      const range = { ...rangeOf(filter as unknown as Filter), end, limit: limit + 1, after, before };
      return withoutExtra(await read(tenant, range), { end, limit });
    },
    async listPage(tenant, { limit, offset, ...filter }) {
      const range = rangeOf(filter as unknown as Filter);
      const [items, total] = await Promise.all([
        read(tenant, { ...range, end: 'first', limit, offset }),
        countMirroredRange(sql, tenant, resource, range),
      ]);
      return { items: items.map((item) => item.resource), total };
    },
    count: async (tenant, filter) => countMirroredRange(sql, tenant, resource, rangeOf(filter)),
    totals: async (tenant, filter, groupBy) =>
      totalsOfMirrored(sql, tenant, resource, rangeOf(filter), groupBy),
  };
}
