import { z } from 'zod';
import { cardAmount } from '../card-payments/model.ts';
import { NotFoundError, UnavailableError } from '../kernel/errors.ts';
import type { Cents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { plainText } from '../kernel/text.ts';

/** A billing product (the document's 2.5), as far as whoever shows it knows. It never changes: it is deleted. */
export interface Product {
  /** 24 hex digits. */
  id: string;
  name: string | null;
  description: string | null;
  priceCents: Cents | null;
  createdAt: Date | null;
}

/** A product of the service that is embedded here; its fields are decided in `server/docs/decisions`. */
export interface StoredProduct extends Product {
  name: string;
  priceCents: Cents;
  createdAt: Date;
}

/** Of an account in one environment (the document's section 8). */
export const MAX_PRODUCTS = 500;

// ── What a caller may ask for ───────────────────────────────────────────────────────────────────

/** In either case as it is given, in lower case as it is kept. */
export const productIdText = z
  .string()
  .regex(/^[0-9a-f]{24}$/i, 'invalid product ID format: must be 24 hex digits')
  .transform((id) => id.toLowerCase());

/** The price is what a card can be charged: a checkout token sells the product by card. */
export const createProductInput = z.object({
  // Where a payment has no description of its own, the payer reads the name: so it fits there.
  name: plainText({ max: 200 }),
  description: plainText({ max: 2_000 }).nullish(),
  priceCents: cardAmount,
});
export type CreateProductInput = z.infer<typeof createProductInput>;

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** Embedded, every product is known whole. */
export interface ProductService<P extends Product = Product> {
  /**
   * @throws UnavailableError (LIMIT_REACHED: 500 an account and environment); in front of another service each method
   *   PermissionError, RateLimitError, UpstreamError as well
   */
  create(tenant: Tenant, input: CreateProductInput): Promise<P>;
  /** Permanently (section 4.4). @throws NotFoundError */
  delete(tenant: Tenant, id: string): Promise<void>;
  /** Null where it does not exist or is another tenant's. */
  find(tenant: Tenant, id: string): Promise<P | null>;
  /** In the order asked, null where not found. */
  findMany(tenant: Tenant, ids: readonly string[]): Promise<(P | null)[]>;
  /** Newest first, each with its place in the list, which is what `after` takes. */
  list(
    tenant: Tenant,
    page: { first: number; after?: number | undefined },
  ): Promise<{ items: { place: number; product: P }[]; hasNextPage: boolean }>;
  /** A page by number, newest first, and how many there are in all (the document's 2.1.6). */
  listPage(tenant: Tenant, page: { limit: number; offset: number }): Promise<{ items: P[]; total: number }>;
  count(tenant: Tenant): Promise<number>;
}

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

/** @throws UnavailableError where the account has all the products that it may have */
export function decideCreate(
  input: CreateProductInput,
  { id, count, now }: { id: string; count: number; now: Date },
): StoredProduct {
  if (count >= MAX_PRODUCTS)
    throw new UnavailableError(
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

export interface PlacedProduct {
  place: number;
  product: Product;
}

/** Places within one millisecond; with these a place is a safe integer until the year 2248. */
const PLACES_A_MS = 1_024;
const LAST_MS = Number.MAX_SAFE_INTEGER / PLACES_A_MS - 1_000;

/**
 * Newest first, each with its place. Where every product tells when it was created, that is its place, which stays
 * whatever is created or deleted around it; of one millisecond, the end of its id decides. Else its place is its rank in
 * the service's own list, newest first as ours, counted from the oldest: nothing that is created moves it.
 */
export function placeProducts(listed: readonly Product[]): PlacedProduct[] {
  const isDated = listed.every(({ createdAt }) => createdAt !== null);
  if (!isDated) return listed.map((product, index) => ({ place: listed.length - index, product }));
  const wanted = listed
    .map((product) => ({
      place:
        Math.floor(Math.min(Math.max(0, product.createdAt!.getTime()), LAST_MS)) * PLACES_A_MS +
        (Number.parseInt(product.id.slice(-3), 16) % PLACES_A_MS),
      product,
    }))
    .sort((left, right) => left.place - right.place || (left.product.id < right.product.id ? -1 : 1));
  // Two of one millisecond with the same end: one behind the other.
  for (const [index, each] of wanted.entries())
    each.place = Math.max(each.place, (wanted[index - 1]?.place ?? -1) + 1);
  return wanted.reverse();
}
