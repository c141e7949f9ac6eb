import { UpstreamError } from '../kernel/errors.ts';
import type { Requester } from '../kernel/requester.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { requestOptionsFor, type UpstreamDependencies } from './dependencies.ts';
import { createEndpoints, type Endpoint } from './endpoint-availability.ts';
import {
  isSuccess,
  noEndpoint,
  refusalOf,
  saysNotFound,
  unreadable,
  withNotOffered,
  withUpstreamErrors,
} from './responses.ts';
import { createStableOffsetList, LARGEST_PAGE, type OffsetPage } from './stable-list.ts';

interface Scope {
  tenant: Tenant;
  requester: Requester;
}

/**
 * A list, read by offset, that a service may not have. Nothing of it is stored here. Without it reads throw
 * `NOT_OFFERED`.
 */
export function createOfferedList<Of extends Scope, Item extends object>(
  { clock, reads }: Pick<UpstreamDependencies, 'clock' | 'reads'>,
  {
    endpoint,
    maxAgeMs,
    keyOf,
    idOf,
    pathOf,
    pageFrom,
    filterOf = () => null,
  }: {
    endpoint: Endpoint;
    /** The life of a cached page. */
    maxAgeMs: number;
    keyOf: (scope: Of) => string;
    idOf: (item: Item) => string;
    pathOf: (scope: Of, page: { limit: number; offset: number }) => `/v1/${string}`;
    /**
     * The filter that names a resource, such as `productId`; null without one. A 404 means that this resource
     * has no items.
     */
    filterOf?: (scope: Of) => string | null;
    /** Reads a page; null if the body is none. */
    pageFrom: (body: unknown) => { items: (Item | null)[]; total: number | null } | null;
  },
) {
  const endpoints = createEndpoints(clock);
  const stableList = createStableOffsetList<Of, Item>({ keyOf, idOf, fetchPage, isCacheable: () => false });

  /** @throws RateLimitError, UpstreamFault, and a PaymentError for a refusal */
  async function fetchPage(scope: Of, range: { limit: number; offset: number }): Promise<OffsetPage<Item>> {
    const { environment } = scope.tenant;
    const filter = filterOf(scope);
    if (filter !== null && endpoints.isMissing(environment, endpoint)) throw noEndpoint(endpoint.inWords);
    const asked = filter === null ? endpoint : { ...endpoint, name: `${endpoint.name}?${filter}={id}` };
    const read = await endpoints.ask(environment, asked, () =>
      reads.get(environment, pathOf(scope, range), {
        requestOptions: requestOptionsFor(scope.requester),
        maxAgeMs,
      }),
    );
    const hasNoSuchResource = filter !== null && saysNotFound(read);
    if (read.status === 404 && !hasNoSuchResource) throw noEndpoint(endpoint.inWords);
    if (!isSuccess(read) && !hasNoSuchResource) throw refusalOf(read);
    const page = hasNoSuchResource ? { items: [], total: 0 } : pageFrom(read.body);
    if (!page) throw unreadable();
    scope.requester.onRead(read.at, read.stale);
    const { items, total } = page;
    const isTotalKnown = total !== null || items.length < range.limit;
    return { items, total: total ?? range.offset + items.length, isTotalKnown, at: read.at };
  }

  async function search(
    scope: Of,
    ids: readonly string[],
    pages: number,
  ): Promise<(Item | UpstreamError | null)[]> {
    const wanted = new Set(ids);
    const found = new Map<string, Item>();
    let offset = 0;
    let isAtEnd = ids.length === 0;
    for (let page = 0; page < pages && !isAtEnd && found.size < wanted.size; page += 1) {
      const { items, total, isTotalKnown } = await fetchPage(scope, { limit: LARGEST_PAGE, offset });
      for (const item of items) if (item && wanted.has(idOf(item))) found.set(idOf(item), item);
      offset += items.length;
      isAtEnd = items.length === 0 || (isTotalKnown === true && offset >= total);
    }
    const missing = isAtEnd
      ? null
      : new UpstreamError(
          'UPSTREAM_REFUSED',
          `The payments service has no lookup for ${inWords.replace(/^listing /, '')}, and this is not among the first ${offset} of its list`,
        );
    return ids.map((id) => found.get(id) ?? missing);
  }

  const { inWords } = endpoint;
  const what = inWords.charAt(0).toUpperCase() + inWords.slice(1);

  /** @throws PreconditionError if the service has shown that it has no such list, errors of `read` */
  const offered = <Value>(read: Promise<Value>) => withNotOffered(what, withUpstreamErrors(read));

  return {
    endpoints,
    /**
     * Finds items by their ids, in their order, in the newest `pages` pages: there is no other lookup. The
     * result has null for an item that is not in the list, and an UpstreamError if the list is longer than
     * these pages.
     * @throws PreconditionError, errors of `read`
     */
    findMany: (scope: Of, ids: readonly string[], pages: number) => offered(search(scope, ids, pages)),
    list: (scope: Of, range: Parameters<typeof stableList.list>[1]) => offered(stableList.list(scope, range)),
    async page(scope: Of, range: { limit: number; offset: number }) {
      const { items, total } = await offered(fetchPage(scope, range));
      return { items: items.flatMap((item) => item ?? []), total };
    },
    count: (scope: Of) => offered(stableList.count(scope, {})),
  };
}
