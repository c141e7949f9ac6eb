import { UpstreamError } from '../../kernel/errors.ts';
import type { Requester } from '../../kernel/requester.ts';
import { type Environment, type Tenant, tenantKey } from '../../kernel/tenant.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../upstream/dependencies.ts';
import { createEndpoints, type Endpoint } from '../../upstream/endpoint-availability.ts';
import {
  isSuccess,
  notOffered,
  refusalOf,
  unreadable,
  withUpstreamErrors,
} from '../../upstream/responses.ts';
import { createStableOffsetList, type OffsetPage } from '../../upstream/stable-list.ts';
import type { StoreProduct, StoreService } from '../model.ts';
import { storeProductsFromWire } from '../wire.ts';

const LIST: Endpoint = { name: 'GET /v1/store/products', inWords: 'listing the products of the store' };

/** The life of a cached page: the store is changed by hand, elsewhere. */
const KEEP_MS = 30_000;
/** The most pages that a lookup by id reads: the service has no other way. */
const SEARCHED_PAGES = 10;

interface Scope {
  tenant: Tenant;
  requester: Requester;
}

/** The products of the store over HTTP; none is stored here. A place in the list is counted from its end. */
export function createRemoteStore({
  clock,
  reads,
}: UpstreamDependencies): Pick<RemoteSlice<StoreService>, 'serviceFor'> {
  const endpoints = createEndpoints(clock);
  const stableList = createStableOffsetList<Scope, StoreProduct>({
    keyOf: ({ tenant }) => tenantKey(tenant),
    idOf: ({ storeProductId }) => storeProductId,
    fetchPage: readPage,
    isCacheable: () => false,
  });

  /** @throws RateLimitError, UpstreamFault, and a PaymentError for a refusal */
  async function readPage(
    { tenant: { environment }, requester }: Scope,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<OffsetPage<StoreProduct>> {
    const path = `/v1/store/products?limit=${limit}&offset=${offset}` as const;
    const read = await endpoints.ask(environment, LIST, () =>
      reads.get(environment, path, { requestOptions: requestOptionsFor(requester), keepMs: KEEP_MS }),
    );
    if (!isSuccess(read)) throw refusalOf(read);
    const page = storeProductsFromWire(read.body);
    if (!page) throw unreadable();
    requester.onRead(read.at, read.stale);
    return { items: page.items, total: page.total ?? offset + page.items.length, at: read.at };
  }

  /** Says that the service has no store, where it has shown that. @throws UnavailableError, and what `read` throws */
  async function offered<Value>(environment: Environment, read: Promise<Value>): Promise<Value> {
    return withUpstreamErrors(read).catch((error: unknown) => {
      const isMissing = endpoints.isMissing(environment, LIST) && error instanceof UpstreamError;
      throw isMissing ? notOffered('Listing the products of the store') : error;
    });
  }

  return {
    serviceFor: (requester) => ({
      async findMany(tenant, ids) {
        const wanted = new Set(ids);
        const search = stableList.find(
          { tenant, requester },
          {
            wants: ({ storeProductId }) => wanted.has(storeProductId),
            limit: wanted.size,
            pages: SEARCHED_PAGES,
          },
        );
        const { items } = await offered(tenant.environment, search);
        return ids.map((id) => items.find(({ storeProductId }) => storeProductId === id) ?? null);
      },
      async list(tenant, range) {
        const { items, more } = await offered(
          tenant.environment,
          stableList.list({ tenant, requester }, range),
        );
        return { items: items.map(({ place, item }) => ({ place, product: item })), more };
      },
      async listPage(tenant, page) {
        const read = readPage({ tenant, requester }, page);
        const { items, total } = await offered(tenant.environment, read);
        return { items: items.flatMap((item) => item ?? []), total };
      },
      count: (tenant) => offered(tenant.environment, stableList.count({ tenant, requester }, {})),
    }),
  };
}
