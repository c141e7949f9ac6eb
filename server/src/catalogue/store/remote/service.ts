import type { Requester } from '../../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../../kernel/tenant.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoint } from '../../../upstream/endpoint-availability.ts';
import { createOfferedList } from '../../../upstream/offered-list.ts';
import { assertUnfiltered } from '../../../upstream/responses.ts';
import type { StoreProduct, StoreService } from '../model.ts';
import { storeProductsFromWire } from '../wire.ts';

const LIST: Endpoint = { name: 'GET /v1/store/products', inWords: 'listing the products of the store' };

/** The life of a cached page: the store is changed by hand, elsewhere. */
const MAX_AGE_MS = 30_000;
/** The most pages that a lookup by id reads: the service has no other way. */
const SEARCHED_PAGES = 10;

interface Scope {
  tenant: Tenant;
  requester: Requester;
}

/** The products of the store over HTTP; none is stored here. A position in the list is counted from its end. */
export function createRemoteStore(
  facade: UpstreamDependencies,
): Pick<RemoteSlice<StoreService>, 'serviceFor'> {
  const listed = createOfferedList<Scope, StoreProduct>(facade, {
    endpoint: LIST,
    maxAgeMs: MAX_AGE_MS,
    pageFrom: storeProductsFromWire,
    keyOf: ({ tenant }) => tenantKey(tenant),
    idOf: ({ storeProductId }) => storeProductId,
    pathOf: (_, { limit, offset }) => `/v1/store/products?limit=${limit}&offset=${offset}`,
  });

  return {
    serviceFor: (requester) => ({
      findMany: (tenant, ids) => listed.findMany({ tenant, requester }, ids, SEARCHED_PAGES),
      async list(tenant, { end, limit, after, before, ...filter }) {
        assertUnfiltered(filter, 'products of the store');
        const range = { end, limit, after, before };
        const { items, more } = await listed.list({ tenant, requester }, range);
        return { items: items.map(({ position, item }) => ({ position, product: item })), more };
      },
      async listPage(tenant, { limit, offset, ...filter }) {
        assertUnfiltered(filter, 'products of the store');
        return listed.page({ tenant, requester }, { limit, offset });
      },
      async count(tenant, filter = {}) {
        assertUnfiltered(filter, 'products of the store');
        return listed.count({ tenant, requester });
      },
    }),
  };
}
