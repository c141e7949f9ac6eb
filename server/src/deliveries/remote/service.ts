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
import type { Delivery, DeliveryService } from '../model.ts';
import { deliveriesFromWire } from '../wire.ts';
import { createDeliveryRequests } from './commands.ts';

const LIST: Endpoint = { name: 'GET /v1/deliveries', inWords: 'listing deliveries' };

/** The life of a cached page: stocks change with each sale. */
const KEEP_MS = 5_000;
/** The most pages that a lookup by id reads. */
const SEARCHED_PAGES = 5;

interface Scope {
  tenant: Tenant;
  productId: string | undefined;
  requester: Requester;
}

/**
 * Deliveries in front of another service. The document shows no body that one could be created by, so they are created and deleted
 * where the operator has named the family. What a payment was given is not known here.
 */
export function createRemoteDeliveries(
  facade: UpstreamDependencies,
): Pick<RemoteSlice<DeliveryService>, 'serviceFor' | 'requests'> {
  const { clock, reads } = facade;
  const endpoints = createEndpoints(clock);
  const requests = createDeliveryRequests({ ...facade, endpoints });
  const stableList = createStableOffsetList<Scope, Delivery>({
    keyOf: ({ tenant, productId = '' }) => `${tenantKey(tenant)} ${productId}`,
    idOf: ({ deliveryId }) => deliveryId,
    fetchPage: readPage,
    isCacheable: () => false,
  });

  /** @throws RateLimitError, UpstreamFault, and a PaymentError for a refusal */
  async function readPage(
    { tenant: { environment }, productId, requester }: Scope,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<OffsetPage<Delivery>> {
    const filter = productId === undefined ? '' : `&productId=${productId}`;
    const path = `/v1/deliveries?limit=${limit}&offset=${offset}${filter}` as const;
    const read = await endpoints.ask(environment, LIST, () =>
      reads.get(environment, path, { requestOptions: requestOptionsFor(requester), keepMs: KEEP_MS }),
    );
    if (!isSuccess(read)) throw refusalOf(read);
    const page = deliveriesFromWire(read.body);
    if (!page) throw unreadable();
    requester.onRead(read.at, read.stale);
    return { items: page.items, total: page.total ?? offset + page.items.length, at: read.at };
  }

  /** Says that the service has no deliveries, where it has shown that. @throws UnavailableError, and what `read` throws */
  async function offered<Value>(environment: Environment, read: Promise<Value>): Promise<Value> {
    return withUpstreamErrors(read).catch((error: unknown) => {
      const isMissing = endpoints.isMissing(environment, LIST) && error instanceof UpstreamError;
      throw isMissing ? notOffered('Listing deliveries') : error;
    });
  }

  async function findMany(tenant: Tenant, deliveryIds: readonly string[], requester: Requester) {
    const ids = deliveryIds.map((id) => id.toLowerCase());
    const search = stableList.find(
      { tenant, productId: undefined, requester },
      { wants: ({ deliveryId }) => ids.includes(deliveryId), limit: ids.length, pages: SEARCHED_PAGES },
    );
    const { items } = await offered(tenant.environment, search);
    return ids.map((id) => items.find(({ deliveryId }) => deliveryId === id) ?? null);
  }

  return {
    serviceFor: (requester) => ({
      create: (tenant, input) =>
        requests.create(tenant, input, async (id) => (await findMany(tenant, [id], requester))[0] ?? null),
      delete: requests.delete,
      findMany: (tenant, deliveryIds) => findMany(tenant, deliveryIds, requester),
      async list(tenant, { productId, ...range }) {
        const listed = stableList.list({ tenant, productId, requester }, range);
        const { items, more } = await offered(tenant.environment, listed);
        return { items: items.map(({ place, item }) => ({ place, delivery: item })), more };
      },
      async listPage(tenant, { productId, ...page }) {
        const read = readPage({ tenant, productId, requester }, page);
        const { items, total } = await offered(tenant.environment, read);
        return { items: items.flatMap((item) => item ?? []), total };
      },
      count: (tenant, { productId }) =>
        offered(tenant.environment, stableList.count({ tenant, productId, requester }, {})),
      deliveredTo: async (_, __, ids) => ids.map(() => null),
    }),

    requests: requests.kinds,
  };
}
