import { createCoalescedReads } from '../../../kernel/coalesce.ts';
import { askedOf, type Condition } from '../../../kernel/list-filter.ts';
import type { Requester } from '../../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createEndpoints, type Endpoint } from '../../../upstream/endpoint-availability.ts';
import {
  countMirroredRange,
  listMirroredRange,
  type MirrorRange,
  totalsOfMirrored,
} from '../../../upstream/mirror-lists.ts';
import { countMirrored } from '../../../upstream/mirror-store.ts';
import { createPaymentLookups } from '../../../upstream/payment-lookups.ts';
import { mirrorPayments, type PaymentFamily } from '../../../upstream/payment-mirror.ts';
import { withNotOffered } from '../../../upstream/responses.ts';
import type { RequestOptions } from '../../../upstream/upstream.ts';
import { PAYMENT_STATUSES } from '../../receiving/model.ts';
import { POLLED_STATUSES, pollInterval } from '../../receiving/poll-interval.ts';
import { assertIdForm, type PixFilter, type PixReads, type PixResource } from '../model.ts';

/** The time for which the family is known to be there, in which a resource that is not there costs one request. */
const FAMILY_MAX_AGE_MS = 10 * 60_000;

/**
 * Creates the reading side of a family's port in front of another service: single resources from the service, lists from the
 * mirror.
 */
export function createRemotePixReads<
  R extends PixResource,
  C extends { status: string | null },
  Filter,
  Listed extends PixFilter,
>(
  facade: UpstreamDependencies,
  {
    family,
    path,
    inWords,
    lookup,
    idName,
    idForm,
    isId,
    conditions,
    kind,
    kinds,
    filterOf,
    readClaim,
  }: {
    family: PaymentFamily<R, C>;
    /** The path of the family, below which a resource is found by its id. */
    path: `/v1/${string}`;
    /** The family, and looking one of it up, in the words of an error. */
    inWords: string;
    lookup: string;
    /** The argument that names a resource, and the form that it must have. */
    idName: string;
    idForm: string;
    isId: (text: string) => boolean;
    /** The conditions of the filter, and the member of it by which the lists are divided, with its values: in the mirror it is the parent. */
    conditions: Readonly<Record<string, Condition>>;
    kind: keyof Listed & string;
    kinds: readonly string[];
    /** Translates a filter of the port into one of lists. */
    filterOf: (filter: Filter) => Listed;
    /** Reads a response; null where it is none. */
    readClaim: (body: unknown) => C | null;
  },
) {
  const { sql } = facade.database;
  const { resource } = family;
  const get: Endpoint = { name: `GET ${path}/{id}`, inWords: `looking ${lookup} up` };
  const all: Endpoint = { name: `GET ${path}`, inWords };
  const endpoints = createEndpoints(facade.clock);
  const lookups = createPaymentLookups({
    ...facade,
    endpoints,
    pollInterval,
    polledStatuses: POLLED_STATUSES,
    family,
    isId,
    readClaim,
    mirror: mirrorPayments(facade, family),
    endpoint: get,
    pathOf: (id) => `${path}/${id}`,
    isPossible: () => true,
    onNotFound: assertFamily,
  });
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listMirroredRange>>>();

  /**
   * Tells a service without this resource from one without the family: a 404 may mean either. The family's own path is asked
   * only where the service has never shown one, and any answer but 404 and 501 means that it has the family.
   * @throws UpstreamError where it has none, RateLimitError, UpstreamFault
   */
  async function assertFamily(tenant: Tenant, requestOptions: RequestOptions): Promise<void> {
    if ((await countMirrored(sql, tenant, resource, {})) > 0) return;
    const { environment } = tenant;
    await endpoints.ask(environment, all, async () => {
      const first = `${path}?limit=1` as const;
      const read = await facade.reads.get(environment, first, {
        requestOptions,
        maxAgeMs: FAMILY_MAX_AGE_MS,
      });
      // Without a list, the path is there for creations.
      return read.status === 405 ? { ...read, status: 200 } : read;
    });
  }

  /** Says that the service has no such family, where it has shown that. @throws UnavailableError, and what `read` throws */
  const offered = <Value>(read: Promise<Value>) => withNotOffered(`Looking ${lookup} up`, read);

  async function list(tenant: Tenant, range: MirrorRange) {
    const allOf = { parent: kinds, status: [...PAYMENT_STATUSES, 'unknown'] };
    const rows = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(range)}`, () =>
      listMirroredRange(sql, tenant, resource, { ...range, allOf }),
    );
    return rows.map(({ place, observed }) => ({ place, resource: family.fromJson(observed.snapshot) }));
  }

  function rangeOf(filter: Filter) {
    const { status, createdAfter, createdBefore, [kind]: parent, ...details } = filterOf(filter);
    return {
      status,
      parent: parent as readonly string[] | undefined,
      period: { from: createdAfter, before: createdBefore },
      details: { asked: askedOf(conditions, details) },
    };
  }

  return {
    lookups,
    readsFor: (requester: Requester): PixReads<R, Filter> => ({
      assertId: (id) => assertIdForm(idName, isId(id), idForm),
      async find(tenant, id) {
        const found = lookups.findMany(tenant, [id], requester);
        return (await offered(found))[0] ?? null;
      },
      findMany: (tenant, ids) => offered(lookups.findMany(tenant, ids, requester)),
      async findWithVersion(tenant, id) {
        const found = await offered(lookups.findWithVersion(tenant, id, requester));
        return found && { version: found.version, resource: found.payment };
      },
      async list(tenant, { end, limit, after, before, ...filter }) {
        const range = { end, limit: limit + 1, after, before, ...rangeOf(filter as Filter) };
        const found = await list(tenant, range);
        const more = found.length > limit;
        // One row too many was read, at the end that was read last.
        return { items: end === 'last' ? found.slice(-limit) : found.slice(0, limit), more };
      },
      async listPage(tenant, { limit, offset }) {
        const [items, total] = await Promise.all([
          list(tenant, { end: 'first', limit, offset, period: {} }),
          countMirrored(sql, tenant, resource, {}),
        ]);
        return { items: items.map((item) => item.resource), total };
      },
      count: (tenant, filter) => countMirroredRange(sql, tenant, resource, rangeOf(filter)),
      totals: (tenant, filter, groupBy) => totalsOfMirrored(sql, tenant, resource, rangeOf(filter), groupBy),
    }),
  };
}
