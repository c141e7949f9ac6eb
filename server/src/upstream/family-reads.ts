import type { FamilyReads } from '../kernel/list-range.ts';
import type { Requester } from '../kernel/requester.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import type { RemoteSlice, UpstreamDependencies } from './dependencies.ts';
import { createEndpoints, type Endpoint, type Endpoints } from './endpoint-availability.ts';
import { createFamilyLists, type FamilyLists } from './family-lists.ts';
import { createFamilyLookups, type FamilyLookups } from './family-lookups.ts';
import { createFamilyMirror, type Family, type FamilyMirror, observationsOf } from './family-mirror.ts';
import { countMirroredRange, type RangeFilter } from './mirror-lists.ts';
import { withUpstreamErrors } from './responses.ts';
import type { RequestOptions } from './upstream.ts';

/** The time for which the family is known to exist. In it, a missing resource costs one request only. */
const FAMILY_MAX_AGE_MS = 10 * 60_000;

/** The reads of a slice's port, in front of another service. */
export interface RemoteReads<R, C, Filter>
  extends Pick<RemoteSlice<unknown>, 'poll' | 'refresh' | 'readWebhook'> {
  readsFor(
    requester: Requester,
  ): Omit<FamilyReads<R, Filter>, 'listPage'> & Pick<FamilyLists<R, Filter>, 'listPage'>;
  lookups: FamilyLookups<R>;
  mirror: FamilyMirror<C>;
  endpoints: Endpoints;
}

/** Creates the reads of a family: single resources from the service, lists from the mirror. */
export function createFamilyReads<
  R extends { version: number; status: string },
  C extends { status: string | null },
  Filter extends object,
>(
  facade: UpstreamDependencies,
  {
    family,
    endpoint,
    pathOf,
    isId,
    isPossible = () => true,
    ofFamily,
    onNotFound,
    offered = (read) => read,
    beforeList = () => undefined,
    allOf = null,
    rangeOf,
    readClaim,
    readEvent,
    pollInterval,
    polledStatuses,
  }: {
    family: Family<R, C>;
    /** The endpoint of a lookup. */
    endpoint: Endpoint;
    pathOf: (id: string) => `/v1/${string}`;
    isId: (text: string) => boolean;
    /** Whether an environment has resources of the family. */
    isPossible?: (environment: Environment) => boolean;
    /**
     * The family's own path. It distinguishes a service without a resource from one without the family: a 404
     * may mean either.
     */
    ofFamily?: Endpoint & { path: `/v1/${string}` };
    /**
     * Called if the service has no such resource and this server knows none. @throws what its lookup then
     * throws
     */
    onNotFound?: ((tenant: Tenant, requestOptions: RequestOptions) => Promise<void>) | undefined;
    /**
     * Waits for a read, and throws if it shows that the service lacks the family. @throws PreconditionError,
     * errors of `read`
     */
    offered?: <Value>(read: Promise<Value>) => Promise<Value>;
    /** Called before each list and sum. @throws what they then throw */
    beforeList?: (tenant: Tenant, requester: Requester) => Promise<void> | void;
    /** All parents and statuses of the family: the mirror has a list of each pair. Null if it has no such lists. */
    allOf?: { parent: readonly string[]; status: readonly string[] } | null;
    rangeOf: (filter: Filter) => RangeFilter;
    /** Reads a response; null if it shows no resource. */
    readClaim: (body: unknown) => C | null;
    /** Reads the body of a webhook; null if it is about another slice's resource. */
    readEvent: (payload: unknown) => C | null;
    pollInterval: (resource: R, now: Date) => number | null;
    polledStatuses?: readonly R['status'][];
  },
): RemoteReads<R, C, Filter> {
  const { sql } = facade.database;
  const { resource, idOf, fromJson } = family;
  const endpoints = createEndpoints(facade.clock);
  const mirror = createFamilyMirror(facade, family);
  const { observationOf } = observationsOf(family);
  const lookups = createFamilyLookups<R, C>({
    ...facade,
    ...{ endpoints, endpoint, pathOf, family, mirror, isId, isPossible, readClaim, pollInterval },
    onNotFound: onNotFound ?? assertFamily,
    ...(polledStatuses && { polledStatuses }),
  });
  const lists = createFamilyLists<R, Filter>(sql, { resource, fromJson, rangeOf, allOf });

  /**
   * Calls the family's own path, if the service has never shown a resource. Any answer but 404 and 501 means
   * that it has the family.
   * @throws UpstreamError if it lacks the family, RateLimitError, UpstreamFault
   */
  async function assertFamily(tenant: Tenant, requestOptions: RequestOptions): Promise<void> {
    if (!ofFamily || (await countMirroredRange(sql, tenant, resource, { period: {} })) > 0) return;
    const { environment } = tenant;
    await endpoints.ask(environment, ofFamily, async () => {
      const path = `${ofFamily.path}?limit=1` as const;
      const read = await facade.reads.get(environment, path, { requestOptions, maxAgeMs: FAMILY_MAX_AGE_MS });
      // A service without a list answers 405 if the path exists for creations.
      return read.status === 405 ? { ...read, status: 200 } : read;
    });
  }

  async function listsFor(tenant: Tenant, requester: Requester): Promise<typeof lists> {
    await beforeList(tenant, requester);
    return lists;
  }

  const find = <Found>(found: Promise<Found>) => offered(withUpstreamErrors(found));

  return {
    lookups,
    mirror,
    endpoints,
    readsFor: (requester) => ({
      find: async (tenant, id) => (await find(lookups.findMany(tenant, [id], requester)))[0] ?? null,
      findMany: (tenant, ids) => find(lookups.findMany(tenant, ids, requester)),
      findWithVersion: (tenant, id) => find(lookups.findWithVersion(tenant, id, requester)),
      list: async (tenant, range) => (await listsFor(tenant, requester)).list(tenant, range),
      listPage: async (tenant, page) => (await listsFor(tenant, requester)).listPage(tenant, page),
      count: async (tenant, filter) => (await listsFor(tenant, requester)).count(tenant, filter),
      totals: async (tenant, filter, groupBy) =>
        (await listsFor(tenant, requester)).totals(tenant, filter, groupBy),
    }),

    poll: lookups.poll,
    refresh: lookups.refresh,

    readWebhook(payload) {
      const claim = readEvent(payload);
      return claim && { resource, reference: idOf(claim), observation: observationOf(claim, null) };
    },
  };
}
