import { z } from 'zod';
import { cardAmount } from '../card-payments/model.ts';
import { NotFoundError, UnavailableError } from '../kernel/errors.ts';
import type { Cents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { plainText } from '../kernel/text.ts';

/** A billing product (the document's 2.5; its fields are decided in the README). It never changes: it is deleted. */
export interface Product {
  /** 24 hex digits. */
  id: string;
  name: string;
  description: string | null;
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

export interface ProductService {
  /** @throws UnavailableError (LIMIT_REACHED: 500 an account and environment) */
  create(tenant: Tenant, input: CreateProductInput): Promise<Product>;
  /** Permanently (section 4.4). @throws NotFoundError */
  delete(tenant: Tenant, id: string): Promise<void>;
  /** Null where it does not exist or is another tenant's. */
  find(tenant: Tenant, id: string): Promise<Product | null>;
  /** In the order asked, null where not found. */
  findMany(tenant: Tenant, ids: readonly string[]): Promise<(Product | null)[]>;
  /** Newest first, each with its place in the list, which is what `after` takes. */
  list(
    tenant: Tenant,
    page: { first: number; after?: number | undefined },
  ): Promise<{ items: { place: number; product: Product }[]; hasNextPage: boolean }>;
  /** A page by number, newest first, and how many there are in all (the document's 2.1.6). */
  listPage(
    tenant: Tenant,
    page: { limit: number; offset: number },
  ): Promise<{ items: Product[]; total: number }>;
  count(tenant: Tenant): Promise<number>;
}

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

/** @throws UnavailableError where the account has all the products that it may have */
export function decideCreate(
  input: CreateProductInput,
  { id, count, now }: { id: string; count: number; now: Date },
): Product {
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
export function assertFound(product: Product | null): Product {
  if (!product) throw new NotFoundError('Product not found');
  return product;
}
