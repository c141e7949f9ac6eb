import type { Asker } from '../kernel/asker.ts';
import {
  NotFoundError,
  type PaymentError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import {
  hasNoEndpoint,
  isNotImplemented,
  isSuccess,
  messageOf,
  noEndpoint,
  refusalOf,
} from '../upstream/answers.ts';
import { createEndpoints } from '../upstream/endpoints.ts';
import { errandOf, type Facade } from '../upstream/facade.ts';
import { unavailable } from '../upstream/intents.ts';
import type { Read } from '../upstream/reads.ts';
import { type UpstreamAnswer, UpstreamFault, type UpstreamRequest } from '../upstream/upstream.ts';
import {
  MAX_PRODUCTS,
  type PlacedProduct,
  type ProductService,
  placeProducts,
  productIdText,
  type ShownProduct,
} from './model.ts';
import { productFromWire, productsFromWire } from './wire.ts';

export interface RemoteProducts {
  serviceFor(asker: Asker): ProductService;
}

/** A product never changes: what an answer may have missed is one that was made or deleted elsewhere. */
const KEEP_MS = 5_000;
/** A mutation waits for its turn, for it may not be sent twice. */
const WAIT_MS = 10_000;
const LARGEST_PAGE = 100;
const PAGES = MAX_PRODUCTS / LARGEST_PAGE;
/** More at once are looked for in the list, which is one request for a hundred. */
const ASKED_ONE_BY_ONE = 2;

const POST = 'POST /v1/products';
const LIST = 'GET /v1/products';
const GET = 'GET /v1/products/{id}';
const DELETE = 'DELETE /v1/products/{id}';
const IN_WORDS: Record<string, string> = {
  [POST]: 'creating products',
  [LIST]: 'listing products',
  [GET]: 'looking a product up',
  [DELETE]: 'deleting products',
};

/** Products over HTTP; nothing of them is kept here. */
export function createRemoteProducts({ clock, upstream, reads }: Facade): RemoteProducts {
  const endpoints = createEndpoints(clock);
  /** Has once found a product by its id: then a 404 is about the product. */
  let looksUp = false;

  function missing(endpoint: string): UpstreamError {
    endpoints.markMissing(endpoint);
    return noEndpoint(IN_WORDS[endpoint]!);
  }

  /** @throws PaymentError, UpstreamFault */
  async function write(endpoint: string, request: Omit<UpstreamRequest, 'errand'>): Promise<UpstreamAnswer> {
    if (endpoints.isMissing(endpoint)) throw noEndpoint(IN_WORDS[endpoint]!);
    try {
      return await upstream.send({ ...request, errand: { class: 'query', waitMs: WAIT_MS } });
    } catch (error) {
      throw isNotImplemented(error) ? missing(endpoint) : error;
    } finally {
      reads.forget(request.environment);
    }
  }

  /** @throws PaymentError */
  async function read(
    endpoint: string,
    environment: Environment,
    path: `/v1/${string}`,
    asker: Asker,
  ): Promise<Read> {
    if (endpoints.isMissing(endpoint)) throw noEndpoint(IN_WORDS[endpoint]!);
    try {
      return await reads.get(environment, path, { errand: errandOf(asker), keepMs: KEEP_MS });
    } catch (error) {
      if (isNotImplemented(error)) throw missing(endpoint);
      throw error instanceof UpstreamFault ? unavailable(error) : error;
    }
  }

  /** All there are, as the service lists them: at most five pages. */
  async function all({ environment }: Tenant, asker: Asker): Promise<ShownProduct[]> {
    const found = new Map<string, ShownProduct>();
    for (let page = 0; page < PAGES; page += 1) {
      const offset = page * LARGEST_PAGE;
      const answer = await read(
        LIST,
        environment,
        `/v1/products?limit=${LARGEST_PAGE}&offset=${offset}`,
        asker,
      );
      if (hasNoEndpoint(answer)) throw missing(LIST);
      if (!isSuccess(answer)) throw refusalOf(answer);
      const list = productsFromWire(answer.body);
      if (!list) throw unavailable(new UpstreamFault('unreadable', 'maybe'));
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
    if (!endpoints.isMissing(GET)) {
      const answer = await read(GET, tenant.environment, `/v1/products/${id}`, asker).catch((error) => {
        if (endpoints.isMissing(GET)) return null;
        throw error;
      });
      if (answer && isSuccess(answer)) {
        const product = productFromWire(answer.body);
        if (product?.id !== id) throw unavailable(new UpstreamFault('unreadable', 'maybe'));
        looksUp = true;
        asker.saw(answer.at, answer.stale);
        return product;
      }
      if (answer && (answer.status === 400 || (answer.status === 404 && looksUp))) {
        asker.saw(answer.at, answer.stale);
        return null;
      }
      if (answer && !hasNoEndpoint(answer)) throw refusalOf(answer);
      if (answer?.status === 405) endpoints.markMissing(GET);
    }
    const listed = (await all(tenant, asker)).find((product) => product.id === id) ?? null;
    // It is there, and was not found by its id.
    if (listed) endpoints.markMissing(GET);
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
    return placeProducts(await all(tenant, asker));
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
        if (hasNoEndpoint(answer)) throw missing(POST);
        if (!isSuccess(answer)) throw refusalOfCreation(answer);
        const product = productFromWire(answer.body);
        if (!product) throw perhapsCreated(new UpstreamFault('unreadable', 'maybe'));
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
        const answer = await write(DELETE, {
          environment,
          method: 'DELETE',
          path: `/v1/products/${id}`,
        }).catch((error) => {
          // To delete it once more does no harm.
          if (error instanceof UpstreamFault) throw unavailable(error);
          throw error;
        });
        if (isSuccess(answer)) return;
        if (answer.status === 404) throw new NotFoundError('Product not found');
        if (answer.status === 405) throw missing(DELETE);
        throw answer.status === 400 ? invalid('productId', answer) : refusalOf(answer);
      },

      find: async (tenant, id) => (await findMany(tenant, [id], asker))[0] ?? null,
      findMany: (tenant, ids) => findMany(tenant, ids, asker),

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
      count: async (tenant) => (await all(tenant, asker)).length,
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
  return answer.status === 400 || answer.status === 422 ? invalid('input', answer) : refusalOf(answer);
}

function invalid(path: string, { body }: UpstreamAnswer): ValidationError {
  return new ValidationError([
    { path, message: messageOf(body) ?? 'the payments service does not accept it' },
  ]);
}
