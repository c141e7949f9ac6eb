import { z } from 'zod';
import type { UpstreamError } from '../../kernel/errors.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import { type Cents, isCents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { plainText, printableText, URL_MAX, visibleText, webUrl } from '../../kernel/text.ts';

/** A product of the chat platform's store, as far as it is known. */
export interface StoreProduct {
  storeProductId: string;
  name: string | null;
  description: string | null;
  /** The price as the store writes it: `1.234,56`. */
  price: string | null;
  imageUrl: string | null;
  available: boolean | null;
}

/** The most products of a store. */
export const MAX_STORE_PRODUCTS = 5_000;

/** The store's format of an amount: reais with dots between thousands, and always two decimals. */
export const PRICE = /^(R\$\s*)?(\d{1,3}(\.\d{3})+|\d+),\d{2}$/;

/** Reads a price in the Brazilian decimal format; null for any other text, which would be a guess. */
export function priceCentsOf(price: string | null): Cents | null {
  if (price === null || !PRICE.test(price)) return null;
  const cents = Number(price.replace(/\D/g, ''));
  return isCents(cents) ? cents : null;
}

// ── Import ──────────────────────────────────────────────────────────────────────────────────────

const storeProductInput = z
  .object({
    id: printableText({ max: 100 }),
    name: visibleText(plainText({ max: 200 })),
    description: plainText({ max: 2_000 }).nullish(),
    price: plainText({ max: 50 }).nullish(),
    imageUrl: webUrl({ max: URL_MAX }).nullish(),
    available: z.boolean().nullish(),
  })
  .transform(
    ({ id, name, description = null, price = null, imageUrl = null, available = null }): StoreProduct => ({
      storeProductId: id,
      name,
      description,
      price,
      imageUrl,
      available,
    }),
  );

/** All products of a store, in its own order. */
export const storeProductsInput = z
  .array(storeProductInput, 'must be a list of products')
  .max(MAX_STORE_PRODUCTS, `must be at most ${MAX_STORE_PRODUCTS} products`)
  .superRefine((products, context) => {
    const seen = new Set<string>();
    for (const [index, { storeProductId }] of products.entries()) {
      // A row without a valid id has nothing to compare.
      if (storeProductId !== undefined && seen.has(storeProductId))
        context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is there twice' });
      seen.add(storeProductId);
    }
  });

export const importStoreInput = z.strictObject({
  /** The account; optional if there is only one. */
  accountId: plainText({ max: 100 }).optional(),
  environment: z.enum(['live', 'sandbox'], 'must be live or sandbox'),
  // The list itself, or the answer of `GET /v1/store/products`.
  products: z.preprocess(
    (file) => (file as { products?: unknown } | null)?.products ?? file,
    storeProductsInput,
  ),
});

/** The import of a store, for the operator of the server. */
export interface StoreAdministration {
  /**
   * Replaces all products of a store, or none.
   * @throws NotFoundError (the account), ValidationError (the account is ambiguous), PermissionError (in remote mode)
   */
  importStore(
    input: z.output<typeof importStoreInput>,
  ): Promise<{ accountId: string; environment: string; count: number }>;
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** A filter of the store's products, by what they show. @throws PreconditionError (NOT_OFFERED) in remote mode */
export interface StoreProductFilter {
  available?: boolean | undefined;
  priceCents?: Cents | undefined;
  minPriceCents?: Cents | undefined;
  maxPriceCents?: Cents | undefined;
}

/** The products of the store: read here, and written by an import alone. */
export interface StoreService {
  /**
   * Finds products, in the order of the ids; null for one that is not found, and an UpstreamError for one
   * that another service may still have.
   * @throws PreconditionError (NOT_OFFERED)
   */
  findMany(tenant: Tenant, ids: readonly string[]): Promise<(StoreProduct | UpstreamError | null)[]>;
  /** @throws PreconditionError (NOT_OFFERED) */
  list(
    tenant: Tenant,
    range: ListRange & StoreProductFilter,
  ): Promise<{ items: { position: number; product: StoreProduct }[]; more: boolean }>;
  /** Reads a page by offset, and the total count (the document's 2.1.6). */
  listPage(
    tenant: Tenant,
    page: StoreProductFilter & { limit: number; offset: number },
  ): Promise<{ items: StoreProduct[]; total: number }>;
  count(tenant: Tenant, filter?: StoreProductFilter): Promise<number>;
}

/** The write of a store, by the operator's import and the simulator, not by clients. */
export interface StoreControls {
  /**
   * Replaces all products, in the given order. It writes no single products, because the catalogue has those.
   */
  replace(tenant: Tenant, products: readonly StoreProduct[]): Promise<void>;
}
