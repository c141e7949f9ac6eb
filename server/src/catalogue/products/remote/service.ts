import { otherPart } from '../../../kernel/contradictions.ts';
import {
  NotFoundError,
  type PaymentError,
  PreconditionError,
  UpstreamError,
} from '../../../kernel/errors.ts';
import { readRecord } from '../../../kernel/lenient-json.ts';
import { matches } from '../../../kernel/list-filter.ts';
import { withoutExtra } from '../../../kernel/list-range.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Environment, Tenant } from '../../../kernel/tenant.ts';
import { productIdText } from '../../../money-in/checkout/model.ts';
import { claimCreated, disbelieve } from '../../../upstream/creations.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../../upstream/dependencies.ts';
import { createEndpoints } from '../../../upstream/endpoint-availability.ts';
import type { Read } from '../../../upstream/reads.ts';
import {
  invalidInput,
  isSuccess,
  messageOf,
  refusalOf,
  toUpstreamError,
  unreadable,
  withUpstreamErrors,
} from '../../../upstream/responses.ts';
import { LARGEST_PAGE } from '../../../upstream/stable-list.ts';
import { type UpstreamAnswer, UpstreamFault } from '../../../upstream/upstream.ts';
import { createWrite } from '../../../upstream/writes.ts';
import {
  MAX_PRODUCTS,
  type PositionedProduct,
  type Product,
  type ProductFilter,
  type ProductService,
  positionProducts,
  productConditions,
} from '../model.ts';
import { productFromWire, productsFromWire } from '../wire.ts';

/**
 * The life of a cached response. A product never changes, so a cached response can only lack a product that
 * was created elsewhere, or contain a deleted one.
 */
const MAX_AGE_MS = 5_000;
/** The longest wait of a mutation for its slot, because it may not be sent twice. */
const WAIT_MS = 10_000;
const PAGES = MAX_PRODUCTS / LARGEST_PAGE;
/**
 * The most products that are looked up one by one. More are searched in the list, which takes one request for
 * a hundred.
 */
const MAX_SINGLE_LOOKUPS = 2;

const POST = { name: 'POST /v1/products', inWords: 'creating products' };
const LIST = { name: 'GET /v1/products', inWords: 'listing products' };
const GET = { name: 'GET /v1/products/{id}', inWords: 'looking a product up' };
const DELETE = { name: 'DELETE /v1/products/{id}', inWords: 'deleting products' };

/** Products over HTTP; none is stored here. */
export function createRemoteProducts({
  clock,
  committer,
  upstream,
  reads,
  onFault,
}: UpstreamDependencies): Pick<RemoteSlice<ProductService>, 'serviceFor'> {
  const endpoints = createEndpoints(clock);
  const write = createWrite({ upstream, reads }, endpoints, { priority: 'query', waitMs: WAIT_MS });
  /** Whether the service has ever found a product by its id: from then on a 404 is about the product. */
  let supportsLookup = false;

  /** @throws RateLimitError, UpstreamFault */
  function read(environment: Environment, path: `/v1/${string}`, requester: Requester): Promise<Read> {
    return reads.get(environment, path, {
      requestOptions: requestOptionsFor(requester),
      maxAgeMs: MAX_AGE_MS,
    });
  }

  /** Reads all products in the order of the service: at most five pages. */
  async function readAll({ environment }: Tenant, requester: Requester): Promise<Product[]> {
    const found = new Map<string, Product>();
    for (let page = 0; page < PAGES; page += 1) {
      const offset = page * LARGEST_PAGE;
      const path = `/v1/products?limit=${LARGEST_PAGE}&offset=${offset}` as const;
      const answer = await endpoints.ask(environment, LIST, () => read(environment, path, requester));
      if (!isSuccess(answer)) throw refusalOf(answer);
      const list = productsFromWire(answer.body);
      if (!list) throw unreadable();
      requester.onRead(answer.at, answer.stale);
      // A product that moved to the next page during this read appears twice.
      for (const product of list.items) if (product) found.set(product.id, product);
      const end = offset + list.items.length;
      if (list.items.length < LARGEST_PAGE || (list.total !== null && end >= list.total)) break;
    }
    return [...found.values()];
  }

  /** Finds a product by its id, or in the list where the service has no such lookup. */
  async function findOne(tenant: Tenant, id: string, requester: Requester): Promise<Product | null> {
    const { environment } = tenant;
    const answer = await endpoints.callIfSupported(environment, GET, () =>
      read(environment, `/v1/products/${id}`, requester),
    );
    if (answer && isSuccess(answer)) {
      const product = productFromWire(answer.body);
      if (product?.id !== id) throw unreadable();
      supportsLookup = true;
      requester.onRead(answer.at, answer.stale);
      return product;
    }
    if (answer && (answer.status === 400 || (answer.status === 404 && supportsLookup))) {
      requester.onRead(answer.at, answer.stale);
      return null;
    }
    if (answer && answer.status !== 404) throw refusalOf(answer);
    const listed = (await readAll(tenant, requester)).find((product) => product.id === id) ?? null;
    // The product exists, but was not found by its id.
    if (listed) endpoints.markMissing(environment, GET);
    return listed;
  }

  async function findMany(
    tenant: Tenant,
    ids: readonly string[],
    requester: Requester,
  ): Promise<(Product | null)[]> {
    const requested = ids.map((id) => productIdText.safeParse(id).data ?? null);
    const possible = [...new Set(requested)].filter((id) => id !== null);
    const found =
      possible.length > MAX_SINGLE_LOOKUPS
        ? await readAll(tenant, requester)
        : await Promise.all(possible.map((id) => findOne(tenant, id, requester)));
    const byId = new Map(found.flatMap((product) => (product ? [[product.id, product] as const] : [])));
    return requested.map((id) => (id === null ? null : (byId.get(id) ?? null)));
  }

  /** Lists the products that a filter selects, which the service does not list by any condition. */
  async function listPositioned(
    tenant: Tenant,
    filter: ProductFilter,
    requester: Requester,
  ): Promise<PositionedProduct[]> {
    const all = positionProducts(await withUpstreamErrors(readAll(tenant, requester)));
    return all.filter(({ product }) => matches(productConditions, product, filter));
  }

  return {
    serviceFor: (requester) => ({
      async create(tenant, { name, description, priceCents }) {
        const { environment } = tenant;
        const input = { name, ...(description == null ? {} : { description }), priceCents };
        const answer = await write(POST, {
          environment,
          method: 'POST',
          path: '/v1/products',
          body: input,
        }).catch((error) => {
          throw error instanceof UpstreamFault ? possiblyCreated(error) : error;
        });
        if (!isSuccess(answer)) throw refusalOfCreation(answer);
        const product = productFromWire(answer.body);
        if (!product) throw possiblyCreated(unreadable());
        const contradiction = otherPart(
          ['name', product.name, name],
          ['price', product.priceCents, priceCents],
        );
        if (contradiction !== null)
          throw disbelieve(onFault, contradiction, { inWords: POST.inWords, movesMoney: false });
        const creation = { kind: 'createProduct', id: product.id, externalId: null } as const;
        await claimCreated({ committer, onFault }, tenant, creation, POST.inWords);
        return {
          ...product,
          name: product.name ?? name,
          description: product.description ?? description ?? null,
          priceCents: product.priceCents ?? priceCents,
        };
      },

      async delete({ environment }, productId) {
        const id = productIdText.safeParse(productId).data;
        if (id === undefined) throw new NotFoundError('Product not found');
        // A second deletion does no harm.
        const answer = await withUpstreamErrors(
          write(DELETE, { environment, method: 'DELETE', path: `/v1/products/${id}` }),
        );
        if (isSuccess(answer) && readRecord(answer.body)?.deleted === false)
          throw toUpstreamError(unreadable());
        if (isSuccess(answer)) return;
        if (answer.status === 404) throw new NotFoundError('Product not found');
        if (answer.status === 400) throw invalidInput(messageOf(answer.body), { path: 'productId' });
        throw refusalOf(answer);
      },

      find: async (tenant, id) => (await withUpstreamErrors(findMany(tenant, [id], requester)))[0] ?? null,
      findMany: (tenant, ids) => withUpstreamErrors(findMany(tenant, ids, requester)),

      async list(tenant, { end, limit, ...range }) {
        const { after = Number.POSITIVE_INFINITY, before = Number.NEGATIVE_INFINITY, ...filter } = range;
        const listed = await listPositioned(tenant, filter, requester);
        return withoutExtra(
          listed.filter(({ position }) => position < after && position > before),
          { end, limit },
        );
      },
      async listPage(tenant, { limit, offset, ...filter }) {
        const products = await listPositioned(tenant, filter, requester);
        const items = products.slice(offset, offset + limit).map(({ product }) => product);
        return { items, total: products.length };
      },
      count: async (tenant, filter = {}) => (await listPositioned(tenant, filter, requester)).length,
    }),
  };
}

/**
 * Marks a fault of a creation as not retryable: the product may exist already, and a blind retry would create
 * a second.
 */
function possiblyCreated(fault: UpstreamFault): UpstreamError {
  if (fault.reached === 'no') return toUpstreamError(fault);
  return new UpstreamError(
    'OUTCOME_UNKNOWN',
    `${fault.message}. The product may have been created: look at the list first`,
  );
}

function refusalOfCreation(answer: UpstreamAnswer): PaymentError {
  if (answer.status === 409)
    return new PreconditionError(
      'LIMIT_REACHED',
      messageOf(answer.body) ?? `An account has at most ${MAX_PRODUCTS} products in each environment`,
    );
  const isInvalidInput = answer.status === 400 || answer.status === 422;
  return isInvalidInput ? invalidInput(messageOf(answer.body)) : refusalOf(answer);
}
