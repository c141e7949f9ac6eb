import type { Tenant } from './tenant.ts';
import type { Totals, TotalsGrouping } from './totals.ts';

/** A range of a list, newest first: the first or the last `limit` of those behind `after` and before `before`, both places. */
export interface ListRange {
  end: 'first' | 'last';
  limit: number;
  after?: number | undefined;
  before?: number | undefined;
}

/** A range as it was read. `more`: there are others at the end that was read last. */
export interface ListedRange<Item> {
  items: Item[];
  more: boolean;
}

/** Takes off the items that were read beyond the limit, at the end that was read last. */
export function withoutExtra<Item>(
  items: Item[],
  { end, limit }: Pick<ListRange, 'end' | 'limit'>,
): ListedRange<Item> {
  const more = items.length > limit;
  return { items: end === 'last' ? items.slice(-limit) : items.slice(0, limit), more };
}

/** The reads of a family of resources, which the embedded service and a facade share. */
export interface FamilyReads<R, Filter> {
  /** Finds a resource; null where it does not exist or is another tenant's. @throws UnavailableError (NOT_OFFERED) */
  find(tenant: Tenant, id: string): Promise<R | null>;
  /** Finds resources, in the order of the ids; null where not found. @throws UnavailableError (NOT_OFFERED) */
  findMany(tenant: Tenant, ids: readonly string[]): Promise<(R | null)[]>;
  /**
   * Finds a resource with the version of the tenant's log at which its state holds.
   * @throws UnavailableError (NOT_OFFERED)
   */
  findWithVersion(tenant: Tenant, id: string): Promise<{ version: number; resource: R } | null>;
  list(tenant: Tenant, range: ListRange & Filter): Promise<ListedRange<{ place: number; resource: R }>>;
  /** Reads a page by offset, newest first, and the total count (the document's 2.1.6). */
  listPage(tenant: Tenant, page: { limit: number; offset: number }): Promise<{ items: R[]; total: number }>;
  count(tenant: Tenant, filter: Filter): Promise<number>;
  /**
   * Adds up what a filter selects, whole and by groups. In front of another service: of what was seen here, and never exact.
   * @throws UnavailableError (NOT_OFFERED)
   */
  totals(tenant: Tenant, filter: Filter, groupBy: readonly TotalsGrouping[]): Promise<Totals>;
}
