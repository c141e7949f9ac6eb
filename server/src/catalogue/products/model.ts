import { z } from 'zod';
import { NotFoundError, PreconditionError } from '../../kernel/errors.ts';
import { atLeast, atMost, before, type Conditions, equal, from } from '../../kernel/list-filter.ts';
import type { ListedRange, ListRange } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { nameText, visibleText } from '../../kernel/text.ts';
import { cardAmount } from '../../money-in/checkout/model.ts';

/**
 * A billing product (the document's 2.5), as far as it is known. It can be deleted but never changes: a payer
 * never sees one price on the merchant's page and another on the checkout page.
 */
export interface Product {
  /** 24 hex digits. */
  id: string;
  name: string | null;
  description: string | null;
  priceCents: Cents | null;
  createdAt: Date | null;
}

/** A product of the embedded service, which knows each field. */
export interface StoredProduct extends Product {
  name: string;
  priceCents: Cents;
  createdAt: Date;
}

/** The limit of products of an account in one environment (the document's section 8). */
export const MAX_PRODUCTS = 500;

// ── Input ────────────────────────────────────────────────────────────────────────────────────────

/**
 * The input of a creation. Its price is limited to the largest card payment, because a checkout token sells
 * the product by card.
 */
export const createProductInput = z.object({
  // The name describes a payment without a description of its own, so it has the same length limit.
  name: visibleText(nameText({ max: 200 })),
  description: nameText({ max: 2_000 }).nullish(),
  priceCents: cardAmount,
});
export type CreateProductInput = z.infer<typeof createProductInput>;

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** A filter of products. A period includes its `from` and excludes its `before`. */
export interface ProductFilter {
  priceCents?: Cents | undefined;
  minPriceCents?: Cents | undefined;
  maxPriceCents?: Cents | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** The condition of each member of the filter. */
export const productConditions = {
  priceCents: equal('priceCents'),
  minPriceCents: atLeast('priceCents'),
  maxPriceCents: atMost('priceCents'),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
} satisfies Conditions<ProductFilter, Product>;

/** The port of products. The embedded service knows every product completely. */
export interface ProductService<P extends Product = Product> {
  /**
   * @throws PreconditionError (LIMIT_REACHED: 500 an account and environment); in front of another service each method
   *   PermissionError, RateLimitError, UpstreamError as well
   */
  create(tenant: Tenant, input: CreateProductInput): Promise<P>;
  /** Deletes a product permanently (section 4.4). @throws NotFoundError */
  delete(tenant: Tenant, id: string): Promise<void>;
  /** Finds a product; null if it does not exist or is another tenant's. */
  find(tenant: Tenant, id: string): Promise<P | null>;
  /** Finds products, in the order of the ids; null if not found. */
  findMany(tenant: Tenant, ids: readonly string[]): Promise<(P | null)[]>;
  /** Lists products, newest first, each with its position in the list. */
  list(
    tenant: Tenant,
    range: ListRange & ProductFilter,
  ): Promise<ListedRange<{ position: number; product: P }>>;
  /** Reads a page by offset, newest first, and the total count (the document's 2.1.6). */
  listPage(
    tenant: Tenant,
    page: ProductFilter & { limit: number; offset: number },
  ): Promise<{ items: P[]; total: number }>;
  count(tenant: Tenant, filter?: ProductFilter): Promise<number>;
}

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

/** Creates a product. @throws PreconditionError if the account has reached its limit */
export function decideCreate(
  input: CreateProductInput,
  { id, count, now }: { id: string; count: number; now: Date },
): StoredProduct {
  if (count >= MAX_PRODUCTS)
    throw new PreconditionError(
      'LIMIT_REACHED',
      `An account has at most ${MAX_PRODUCTS} products in each environment`,
    );
  return {
    id,
    name: input.name,
    description: input.description ?? null,
    priceCents: input.priceCents,
    createdAt: now,
  };
}

/** @throws NotFoundError */
export function assertFound<P extends Product>(product: P | null): P {
  if (!product) throw new NotFoundError('Product not found');
  return product;
}

// ── In front of another service ─────────────────────────────────────────────────────────────────

export interface PositionedProduct {
  position: number;
  product: Product;
}

/** The number of positions within one millisecond: with it a position is a safe integer until the year 2248. */
const PLACES_PER_MS = 1_024;
const LAST_MS = Number.MAX_SAFE_INTEGER / PLACES_PER_MS - 1_000;

/**
 * Sorts products, newest first, and gives each a position. If every product shows its time of creation, the
 * position derives from that, and stays whatever is created or deleted around it; within one millisecond the
 * end of the id decides. Otherwise it is the rank in the service's own list, which is newest first too,
 * counted from the oldest: a later creation changes no position.
 */
export function positionProducts(listed: readonly Product[]): PositionedProduct[] {
  const isDated = listed.every(({ createdAt }) => createdAt !== null);
  if (!isDated) return listed.map((product, index) => ({ position: listed.length - index, product }));
  const dated = listed
    .map((product) => ({
      position:
        Math.floor(Math.min(Math.max(0, product.createdAt!.getTime()), LAST_MS)) * PLACES_PER_MS +
        (Number.parseInt(product.id.slice(-3), 16) % PLACES_PER_MS),
      product,
    }))
    .sort((left, right) => left.position - right.position || (left.product.id < right.product.id ? -1 : 1));
  // Two products of one millisecond with the same end of the id take consecutive positions.
  for (const [index, placed] of dated.entries())
    placed.position = Math.max(placed.position, (dated[index - 1]?.position ?? -1) + 1);
  return dated.reverse();
}
