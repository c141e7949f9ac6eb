import type { Tenant } from './tenant.ts';
import type { Totals, TotalsGrouping } from './totals.ts';

/**
 * A range of a list, newest first: the first or the last `limit` items between two positions, after `after` and
 * before `before`.
 */
export interface ListRange {
  end: 'first' | 'last';
  limit: number;
  after?: number | undefined;
  before?: number | undefined;
}

/** A range that was read. `more`: the list continues beyond the end of the range. */
export interface ListedRange<Item> {
  items: Item[];
  more: boolean;
}

/** Removes the items that were read beyond the limit, at the end that was read last. */
export function withoutExtra<Item>(
  items: Item[],
  { end, limit }: Pick<ListRange, 'end' | 'limit'>,
): ListedRange<Item> {
  const more = items.length > limit;
  return { items: end === 'last' ? items.slice(-limit) : items.slice(0, limit), more };
}

/** The reads of a family of resources, which the embedded service and a facade share. */
export interface FamilyReads<R, Filter> {
  /** Finds a resource; null if it does not exist or is another tenant's. @throws PreconditionError (NOT_OFFERED) */
  find(tenant: Tenant, id: string): Promise<R | null>;
  /**
   * Finds resources, in the order of the ids; null for one that is not found. @throws PreconditionError
   * (NOT_OFFERED)
   */
  findMany(tenant: Tenant, ids: readonly string[]): Promise<(R | null)[]>;
  /**
   * Finds a resource, with the version of the tenant's log for which its state holds.
   * @throws PreconditionError (NOT_OFFERED)
   */
  findWithVersion(tenant: Tenant, id: string): Promise<{ version: number; resource: R } | null>;
  list(tenant: Tenant, range: ListRange & Filter): Promise<ListedRange<{ position: number; resource: R }>>;
  /** Reads a page by offset, newest first, and the total count (the document's 2.1.6). */
  listPage(
    tenant: Tenant,
    page: Partial<Filter> & { limit: number; offset: number },
  ): Promise<{ items: R[]; total: number }>;
  count(tenant: Tenant, filter: Filter): Promise<number>;
  /**
   * Adds up the resources that a filter selects, in all and by groups. In front of another service it adds up
   * what this server has seen, and is never exact.
   * @throws PreconditionError (NOT_OFFERED)
   */
  totals(tenant: Tenant, filter: Filter, groupBy: readonly TotalsGrouping[]): Promise<Totals>;
}
