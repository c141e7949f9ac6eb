import type { Asker } from '../../kernel/requester.ts';
import { NotFoundError, type PaymentError, UnavailableError, UpstreamError } from '../../kernel/errors.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import {
  answered,
  invalidInput,
  isSuccess,
  messageOf,
  refusalOf,
  unavailable,
  unreadable,
} from '../../upstream/responses.ts';
import { createEndpoints, type Endpoint } from '../../upstream/endpoint-availability.ts';
import { errandOf, type Facade, type Remote } from '../../upstream/dependencies.ts';
import { LARGEST_PAGE } from '../../upstream/stable-list.ts';
import type { Read } from '../../upstream/reads.ts';
import { type UpstreamAnswer, UpstreamFault, type UpstreamRequest } from '../../upstream/upstream.ts';
import {
  MAX_PRODUCTS,
  type PlacedProduct,
  type ProductService,
  placeProducts,
  productIdText,
  type ShownProduct,
} from '../model.ts';
import { productFromWire, productsFromWire } from '../wire.ts';

/** A product never changes: what an answer may have missed is one that was made or deleted elsewhere. */
const KEEP_MS = 5_000;
/** A mutation waits for its turn, for it may not be sent twice. */
const WAIT_MS = 10_000;
const PAGES = MAX_PRODUCTS / LARGEST_PAGE;
/** More at once are looked for in the list, which is one request for a hundred. */
const ASKED_ONE_BY_ONE = 2;

const POST = { name: 'POST /v1/products', inWords: 'creating products' };
const LIST = { name: 'GET /v1/products', inWords: 'listing products' };
const GET = { name: 'GET /v1/products/{id}', inWords: 'looking a product up' };
const DELETE = { name: 'DELETE /v1/products/{id}', inWords: 'deleting products' };

/** Products over HTTP; nothing of them is kept here. */
export function createRemoteProducts({
  clock,
  upstream,
  reads,
}: Facade): Pick<Remote<ProductService>, 'serviceFor'> {
  const endpoints = createEndpoints(clock);
  /** Has once found a product by its id: then a 404 is about the product. */
  let looksUp = false;

  /** @throws PaymentError, UpstreamFault */
  function write(endpoint: Endpoint, request: Omit<UpstreamRequest, 'errand'>): Promise<UpstreamAnswer> {
    const { environment } = request;
    const errand = { class: 'query', waitMs: WAIT_MS } as const;
    return endpoints
      .ask(environment, endpoint, () => upstream.send({ ...request, errand }))
      .finally(() => reads.forget(environment));
  }

  /** @throws RateLimitError, UpstreamFault */
  function read(environment: Environment, path: `/v1/${string}`, asker: Asker): Promise<Read> {
    return reads.get(environment, path, { errand: errandOf(asker), keepMs: KEEP_MS });
  }

  /** All there are, as the service lists them: at most five pages. */
  async function all({ environment }: Tenant, asker: Asker): Promise<ShownProduct[]> {
    const found = new Map<string, ShownProduct>();
    for (let page = 0; page < PAGES; page += 1) {
      const offset = page * LARGEST_PAGE;
      const path = `/v1/products?limit=${LARGEST_PAGE}&offset=${offset}` as const;
      const answer = await endpoints.ask(environment, LIST, () => read(environment, path, asker));
      if (!isSuccess(answer)) throw refusalOf(answer);
      const list = productsFromWire(answer.body);
      if (!list) throw unreadable();
      asker.saw(answer.at, answer.stale);
      // One that moved to the next page while this was read is there twice.
      for (const product of list.items) if (product) found.set(product.id, product);
      const end = offset + list.items.length;
      if (list.items.length < LARGEST_PAGE || (list.total !== null && end >= list.total)) break;
    }
    return [...found.values()];
  }

  /** By its id, or in the list where the service has no such lookup. */
  async function findOne(tenant: Tenant, id: string, asker: Asker): Promise<ShownProduct | null> {
    const { environment } = tenant;
    const answer = await endpoints.askIfThere(environment, GET, () =>
      read(environment, `/v1/products/${id}`, asker),
    );
    if (answer && isSuccess(answer)) {
      const product = productFromWire(answer.body);
      if (product?.id !== id) throw unreadable();
      looksUp = true;
      asker.saw(answer.at, answer.stale);
      return product;
    }
    if (answer && (answer.status === 400 || (answer.status === 404 && looksUp))) {
      asker.saw(answer.at, answer.stale);
      return null;
    }
    if (answer && answer.status !== 404) throw refusalOf(answer);
    const listed = (await all(tenant, asker)).find((product) => product.id === id) ?? null;
    // It is there, and was not found by its id.
    if (listed) endpoints.markMissing(environment, GET);
    return listed;
  }

  async function findMany(
    tenant: Tenant,
    ids: readonly string[],
    asker: Asker,
  ): Promise<(ShownProduct | null)[]> {
    const wanted = ids.map((id) => productIdText.safeParse(id).data ?? null);
    const possible = [...new Set(wanted)].filter((id) => id !== null);
    const found =
      possible.length > ASKED_ONE_BY_ONE
        ? await all(tenant, asker)
        : await Promise.all(possible.map((id) => findOne(tenant, id, asker)));
    const byId = new Map(found.flatMap((product) => (product ? [[product.id, product] as const] : [])));
    return wanted.map((id) => (id === null ? null : (byId.get(id) ?? null)));
  }

  async function placed(tenant: Tenant, asker: Asker): Promise<PlacedProduct[]> {
    return placeProducts(await answered(all(tenant, asker)));
  }

  return {
    serviceFor: (asker) => ({
      async create({ environment }, { name, description, priceCents }) {
        const input = { name, ...(description == null ? {} : { description }), priceCents };
        const answer = await write(POST, {
          environment,
          method: 'POST',
          path: '/v1/products',
          body: input,
        }).catch((error) => {
          throw error instanceof UpstreamFault ? perhapsCreated(error) : error;
        });
        if (!isSuccess(answer)) throw refusalOfCreation(answer);
        const product = productFromWire(answer.body);
        if (!product) throw perhapsCreated(unreadable());
        return {
          ...product,
          name: product.name ?? name,
          description: product.description ?? description ?? null,
          priceCents: product.priceCents ?? priceCents,
        };
      },

      async delete({ environment }, given) {
        const id = productIdText.safeParse(given).data;
        if (id === undefined) throw new NotFoundError('Product not found');
        // To delete it once more does no harm.
        const answer = await answered(
          write(DELETE, { environment, method: 'DELETE', path: `/v1/products/${id}` }),
        );
        if (isSuccess(answer)) return;
        if (answer.status === 404) throw new NotFoundError('Product not found');
        if (answer.status === 400) throw invalidInput(messageOf(answer.body), { path: 'productId' });
        throw refusalOf(answer);
      },

      find: async (tenant, id) => (await answered(findMany(tenant, [id], asker)))[0] ?? null,
      findMany: (tenant, ids) => answered(findMany(tenant, ids, asker)),

      async list(tenant, { first, after }) {
        const behind = (await placed(tenant, asker)).filter(
          ({ place }) => after === undefined || place < after,
        );
        return { items: behind.slice(0, first), hasNextPage: behind.length > first };
      },
      async listPage(tenant, { limit, offset }) {
        const products = await placed(tenant, asker);
        const items = products.slice(offset, offset + limit).map(({ product }) => product);
        return { items, total: products.length };
      },
      count: async (tenant) => (await answered(all(tenant, asker))).length,
    }),
  };
}

/** A product costs nobody anything, but it may be there already: repeated blindly, there are two. */
function perhapsCreated(fault: UpstreamFault): UpstreamError {
  if (fault.reached === 'no') return unavailable(fault);
  return new UpstreamError(`${fault.message}. The product may have been created: look at the list first`, {
    retryable: false,
    moneyMayHaveMoved: false,
  });
}

function refusalOfCreation(answer: UpstreamAnswer): PaymentError {
  if (answer.status === 409)
    return new UnavailableError(
      'LIMIT_REACHED',
      messageOf(answer.body) ?? `An account has at most ${MAX_PRODUCTS} products in each environment`,
    );
  const isOfInput = answer.status === 400 || answer.status === 422;
  return isOfInput ? invalidInput(messageOf(answer.body)) : refusalOf(answer);
}
