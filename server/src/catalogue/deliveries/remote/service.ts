import { UpstreamError } from '../../../kernel/errors.ts';
import type { Requester } from '../../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../../kernel/tenant.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoint } from '../../../upstream/endpoint-availability.ts';
import { createOfferedList } from '../../../upstream/offered-list.ts';
import { assertUnfiltered } from '../../../upstream/responses.ts';
import type { Delivery, DeliveryFilter, DeliveryService } from '../model.ts';
import { deliveriesFromWire } from '../wire.ts';
import { createDeliveryRequests } from './commands.ts';

const LIST: Endpoint = { name: 'GET /v1/deliveries', inWords: 'listing deliveries' };

/** The life of a cached page: stocks change with each sale. */
const MAX_AGE_MS = 5_000;
/** The most pages that a lookup by id reads. */
const SEARCHED_PAGES = 5;

interface Scope {
  tenant: Tenant;
  productId: string | undefined;
  requester: Requester;
}

/**
 * Deliveries in front of another service. The document shows no form in which one could be created, so they
 * are created and deleted only if the operator has named the family. The content of payments is not known
 * here.
 */
export function createRemoteDeliveries(
  facade: UpstreamDependencies,
): Pick<RemoteSlice<DeliveryService>, 'serviceFor' | 'requests'> {
  const listed = createOfferedList<Scope, Delivery>(facade, {
    endpoint: LIST,
    maxAgeMs: MAX_AGE_MS,
    pageFrom: deliveriesFromWire,
    filterOf: ({ productId }) => (productId === undefined ? null : 'productId'),
    keyOf: ({ tenant, productId = '' }) => `${tenantKey(tenant)} ${productId}`,
    idOf: ({ deliveryId }) => deliveryId,
    pathOf: ({ productId }, { limit, offset }) =>
      `/v1/deliveries?limit=${limit}&offset=${offset}${productId === undefined ? '' : `&productId=${productId}`}`,
  });
  const requests = createDeliveryRequests({ ...facade, endpoints: listed.endpoints });

  function findMany(tenant: Tenant, deliveryIds: readonly string[], requester: Requester) {
    const ids = deliveryIds.map((id) => id.toLowerCase());
    return listed.findMany({ tenant, productId: undefined, requester }, ids, SEARCHED_PAGES);
  }

  return {
    serviceFor: (requester) => ({
      create: (tenant, input) =>
        requests.create(tenant, input, async (id) => {
          const [found = null] = await findMany(tenant, [id], requester);
          return found instanceof UpstreamError ? null : found;
        }),
      delete: requests.delete,
      findMany: (tenant, deliveryIds) => findMany(tenant, deliveryIds, requester),
      async list(tenant, { end, limit, after, before, ...filter }) {
        const productId = productOf(filter);
        const range = { end, limit, after, before };
        const { items, more } = await listed.list({ tenant, productId, requester }, range);
        return { items: items.map(({ position, item }) => ({ position, delivery: item })), more };
      },
      async listPage(tenant, { limit, offset, ...filter }) {
        return listed.page({ tenant, productId: productOf(filter), requester }, { limit, offset });
      },
      count: async (tenant, filter) => listed.count({ tenant, productId: productOf(filter), requester }),
      deliveredTo: async (_, __, ids) => ids.map(() => null),
    }),

    requests: requests.kinds,
  };
}

/**
 * The product of a filter, by which alone the service lists. @throws PreconditionError (NOT_OFFERED), because the
 * deliveries on unread pages are not known
 */
function productOf({ productId, ...others }: DeliveryFilter): string | undefined {
  assertUnfiltered(others, 'deliveries');
  return productId;
}
