import { z } from 'zod';
import { exactlyOneOf } from '../../kernel/aliases.ts';
import { NotFoundError, type UpstreamError } from '../../kernel/errors.ts';
import { hashSecret } from '../../kernel/ids.ts';
import { isObjectId } from '../../kernel/lenient-json.ts';
import { among, before, type Conditions, equal, from } from '../../kernel/list-filter.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { idempotencyKeyText, plainText, visibleText, webUrl } from '../../kernel/text.ts';
import { productIdText } from '../../money-in/checkout/model.ts';
import type { ContentKind, DeliveredContent } from '../../money-in/receiving/model.ts';

/** Content for the payers of a product, as far as it is known. */
export interface Delivery {
  /** 24 hex digits. */
  deliveryId: string;
  /** Null if the service does not report it. */
  productId: string | null;
  /** `unknown` stands for a word of the service that this server does not know. */
  kind: ContentKind | 'unknown';
  /** The text or the link; null for codes, because each is delivered to one payer only. */
  content: string | null;
  /** The number of payments to which it was delivered; null if the service does not report it. */
  deliveredCount: number | null;
  /** The codes in stock; null for the other kinds. */
  remainingCount: number | null;
  createdAt: Date | null;
}

/** A delivery of the embedded service. */
export interface StoredDelivery extends Delivery {
  productId: string;
  kind: ContentKind;
  deliveredCount: number;
  createdAt: Date;
  deletedAt: Date | null;
}

/** The most deliveries of a product. */
export const MAX_DELIVERIES = 10;
/** The most codes of a product in stock. */
export const MAX_STOCK = 10_000;
/** The most codes of one request. */
export const MAX_CODES = 1_000;

/** The states of a delivery's stock. A text and a link are always ready. */
export const DELIVERY_STOCKS = ['ready', 'low', 'empty'] as const;
export type DeliveryStock = (typeof DELIVERY_STOCKS)[number];
/** The largest number of codes of a low stock. */
export const LOW_STOCK = 5;

export function stockOf({ remainingCount }: Pick<Delivery, 'remainingCount'>): DeliveryStock {
  if (remainingCount === null || remainingCount > LOW_STOCK) return 'ready';
  return remainingCount > 0 ? 'low' : 'empty';
}

/** The payment that received content, by its method. */
export const PAID_TYPES = ['card_payment', 'payment'] as const;
export type PaidType = (typeof PAID_TYPES)[number];

/**
 * The details of an event. It does not contain the content, which stays between the merchant and the payer.
 */
export interface DeliverySnapshot {
  deliveryId: string;
  productId: string;
  resource: { type: PaidType; id: string };
  /** The URL that receives the payment's own webhooks. */
  callbackUrl: string | null;
}

/** Reads a snapshot back from JSON. */
export function deliveryFromJson(json: unknown): DeliverySnapshot {
  return json as DeliverySnapshot;
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

/** A delivery id, accepted in either case. */
export const deliveryIdText = z
  .string()
  .refine(isObjectId, 'invalid delivery ID format: must be 24 hex digits')
  .transform((id) => id.toLowerCase());

const codesInput = z
  .array(visibleText(plainText({ max: 500 })))
  .min(1, 'must have at least one code')
  .max(MAX_CODES, `must have at most ${MAX_CODES} codes`)
  .superRefine((codes, context) => {
    const seen = new Set<string>();
    for (const [index, code] of codes.entries()) {
      if (seen.has(code)) context.addIssue({ code: 'custom', path: [index], message: 'is there twice' });
      seen.add(code);
    }
  });

const linkInput = webUrl({ max: 2_000 }).refine(
  // URL parsers skip tabs and control characters, which a pattern over the text would not.
  (text) => !URL.canParse(text) || new URL(text).protocol !== 'http:',
  'must be an https URL',
);

/** The rule of `@oneOf` is repeated here: graphql-jit does not know the directive. */
const contentInput = z
  .object({
    text: visibleText(plainText({ max: 4_000 }))
      .nullish()
      .describe('At most 4000 characters'),
    link: linkInput.nullish().describe('https, at most 2000 characters'),
    codes: codesInput
      .nullish()
      .describe(
        '1 to 1000, each at most 500 characters and once; more are added to the stock of the product',
      ),
  })
  .refine(
    ({ text, link, codes }) => [text, link, codes].filter((member) => member != null).length === 1,
    'must have exactly one of text, link and codes',
  )
  .meta(exactlyOneOf('text', 'link', 'codes'));

export const createDeliveryInput = z.object({
  productId: productIdText,
  content: contentInput,
  idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input give the same delivery'),
});
export type CreateDeliveryInput = z.infer<typeof createDeliveryInput>;

/** The new content of a delivery. */
export type NewContent =
  | { kind: 'text' | 'link'; content: string }
  | { kind: 'codes'; codes: readonly NewCode[] };
export interface NewCode {
  hash: string;
  code: string;
}

/** Reads the one member of a validated input. */
export function contentOf({ text, link, codes }: CreateDeliveryInput['content']): NewContent {
  if (codes != null) return { kind: 'codes', codes: codes.map((code) => ({ code, hash: hashSecret(code) })) };
  return text != null ? { kind: 'text', content: text } : { kind: 'link', content: link! };
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** A filter of deliveries. In front of another service each member but `productId` throws NOT_OFFERED. */
export interface DeliveryFilter {
  productId?: string | undefined;
  kind?: readonly ContentKind[] | undefined;
  stock?: readonly DeliveryStock[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** The condition of each member of the filter but the stock. */
export const deliveryConditions = {
  productId: equal('productId'),
  kind: among('kind'),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
} satisfies Conditions<Omit<DeliveryFilter, 'stock'>, Delivery>;

/** A part of the list, newest first: the first or the last `limit` deliveries after `after` and before `before`. */
export type DeliveryRange = DeliveryFilter & ListRange;

export interface DeliveryService<D extends Delivery = Delivery> {
  /**
   * Adds content to a product, or codes to its stock; codes go to waiting payments first. The same
   * idempotency key and input give the same delivery again, `replayed`.
   * @throws NotFoundError (the product), ValidationError (a code that the product had before),
   * PreconditionError (LIMIT_REACHED, or NOT_OFFERED in front of another service), IdempotencyError
   */
  create(tenant: Tenant, input: CreateDeliveryInput): Promise<{ delivery: D; replayed: boolean }>;
  /**
   * Ends a delivery. Delivered content stays readable. @throws NotFoundError, PreconditionError (NOT_OFFERED)
   */
  delete(tenant: Tenant, deliveryId: string): Promise<void>;
  /**
   * Finds deliveries, in the order of the ids; null for one that is not found, and an UpstreamError for one
   * that another service may still have.
   * @throws PreconditionError (NOT_OFFERED)
   */
  findMany(tenant: Tenant, deliveryIds: readonly string[]): Promise<(D | UpstreamError | null)[]>;
  /** @throws PreconditionError (NOT_OFFERED) */
  list(
    tenant: Tenant,
    range: DeliveryRange,
  ): Promise<{ items: { position: number; delivery: D }[]; more: boolean }>;
  /** Reads a page by offset, newest first, and the total count (the document's 2.1.6). */
  listPage(
    tenant: Tenant,
    page: DeliveryFilter & { limit: number; offset: number },
  ): Promise<{ items: D[]; total: number }>;
  count(tenant: Tenant, filter: DeliveryFilter): Promise<number>;
  /**
   * Reads the content of payments, in the order of the ids; null if there is none, or the service does not
   * report it.
   */
  deliveredTo(
    tenant: Tenant,
    type: PaidType,
    ids: readonly string[],
  ): Promise<(readonly DeliveredContent[] | null)[]>;
}

/** @throws NotFoundError */
export function assertFound<D extends Delivery>(delivery: D | null): D {
  if (!delivery) throw new NotFoundError('Delivery not found');
  return delivery;
}
