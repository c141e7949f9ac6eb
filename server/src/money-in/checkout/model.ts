import { z } from 'zod';
import { amountMembers, refuseTwoAmounts, withKnownNames } from '../../kernel/aliases.ts';
import type { CheckoutGrant } from '../../kernel/caller.ts';
import { NotFoundError, PreconditionError, UpstreamError, ValidationError } from '../../kernel/errors.ts';
import { languageTag } from '../../kernel/language.ts';
import { type Cents, isCents } from '../../kernel/money.ts';
import { closesOrder, type OrderStatus, type PaymentState } from '../../kernel/orders.ts';
import { taxIdText } from '../../kernel/tax-id.ts';
import {
  callableUrl,
  externalIdText,
  longExternalIdText,
  metadataText,
  nameText,
  plainText,
  requiredOr,
  URL_MAX,
  webUrl,
} from '../../kernel/text.ts';

// The request to a payer, by whichever method: the customer, the details and amounts of a checkout, the
// order.

/** The time in which a payer can pay. */
export const CHECKOUT_SESSION_MS = 30 * 60_000;

export interface Customer {
  name?: string | undefined;
  email?: string | undefined;
  externalId?: string | undefined;
  /** The whole CPF or CNPJ, in its normal form. Each interface shows it through `withMaskedTaxId` or `maskTaxId`. */
  taxId?: string | undefined;
}

// ── Input (section 4.2, limits of section 8) ─────────────────────────────────────────────────────

const CARD_PAYMENT_MIN_CENTS = 80;
/**
 * The upper limit of an amount, R$ 100 million: 900,000 such sales still add up to a safe integer. The document sets
 * none.
 */
const CARD_PAYMENT_MAX_CENTS = 10_000_000_000;

export const cardAmount = z
  .number({ error: requiredOr('must be an integer number of cents') })
  .refine(isCents, 'must be an integer number of cents')
  .refine((cents) => cents >= CARD_PAYMENT_MIN_CENTS, `must be at least ${CARD_PAYMENT_MIN_CENTS} (R$ 0,80)`)
  .refine((cents) => cents <= CARD_PAYMENT_MAX_CENTS, `must be at most ${CARD_PAYMENT_MAX_CENTS}`)
  .meta({ type: 'integer', minimum: CARD_PAYMENT_MIN_CENTS, maximum: CARD_PAYMENT_MAX_CENTS });

const customerInput = z.object({
  name: nameText({ max: 200 }).nullish(),
  email: plainText({ max: 254 })
    // Without control and invisible characters: those that turn text show another address, and one without a width is another customer.
    .refine((text) => /^[^\s@\p{Cc}\p{Cf}]+@[^\s@\p{Cc}\p{Cf}]+$/u.test(text), 'must be an e-mail address')
    .nullish(),
  externalId: longExternalIdText.nullish(),
  taxId: taxIdText.nullish().describe('CPF or CNPJ, with its punctuation or without; shown masked'),
});

/**
 * The details that the payer sees, and the addresses to which the payer returns: the same in a card payment
 * and in a checkout token.
 */
export const checkoutDetails = z.object({
  description: nameText({ max: 200 }).nullish().describe('Shown on the checkout'),
  // `assertCallbackUrl` decides which of these may be called.
  callbackUrl: webUrl({ max: URL_MAX })
    .nullish()
    .describe('Public https URL that gets the webhook of this payment'),
  customer: customerInput.nullish(),
  metadata: metadataText({ max: 2048 }).nullish().describe('Serialized JSON, given back byte for byte'),
  orderId: externalIdText
    .nullish()
    .describe('The number of your order: of all its payments at most one is kept'),
  externalId: externalIdText.nullish().describe('orderId under its earlier name'),
  successUrl: webUrl({ max: URL_MAX })
    .nullish()
    .describe('Where the payer goes after an approved payment; reaching it proves nothing'),
  cancelUrl: webUrl({ max: URL_MAX }).nullish().describe('Where the payer goes who gives up'),
  language: languageTag
    .nullish()
    .describe('The language of the checkout, unless its address names one; the payer’s where left out'),
});

export type CheckoutDetails = Omit<z.infer<typeof checkoutDetails>, 'orderId'>;

/**
 * Asserts that the URL for a payment's own webhooks follows the rule of every webhook. @throws
 * ValidationError
 */
export function assertCallbackUrl(url: string | null | undefined, privateAddresses: boolean): void {
  if (url != null && !callableUrl(privateAddresses).safeParse(url).success)
    throw new ValidationError([{ path: 'input.callbackUrl', message: 'must be a public https URL' }]);
}

/**
 * The members of the input that starts a checkout, without the amount. An attempt id has at least 128 random bits (22 of
 * base64url). A retry of the attempt, after an expiry or a failure, appends `.2`, `.3`, ….
 */
const startMembers = {
  attemptId: z
    .string()
    .regex(
      /^[A-Za-z0-9_-]{22,128}(\.[0-9]{1,3})?$/,
      'must be at least 128 random bits: 22 to 128 of A-Z a-z 0-9 _ -',
    ),
  customer: customerInput.nullish(),
};

/** Creates the input of a start with the amounts of a method. */
export function startInput(rule: z.ZodType<Cents>) {
  return z
    .object({ ...startMembers, ...amountMembers(rule, 'The amount that the payer chose') })
    .superRefine(refuseTwoAmounts)
    .transform(withKnownNames);
}

export const startCheckoutInput = startInput(cardAmount);
export type StartCheckoutInput = z.infer<typeof startCheckoutInput>;

/** The payment of a start, and whether an earlier start has made it, as one of the same attempt or of another device. */
export interface StartedCheckout<P> {
  payment: P;
  replayed: boolean;
}

/** A product id, accepted in either case and stored in lower case. */
export const productIdText = z
  .string()
  .regex(/^[0-9a-f]{24}$/i, 'invalid product ID format: must be 24 hex digits')
  .transform((id) => id.toLowerCase());

/** The amount that a checkout token lets a browser pay. */
export type CheckoutAmount = KnownAmount | { kind: 'product'; productId: string };
export type KnownAmount =
  | { kind: 'fixed'; cents: Cents }
  | { kind: 'range'; minCents: Cents; maxCents: Cents };

/** All methods that a checkout token can allow. */
export const CHECKOUT_METHODS = ['card', 'pix'] as const;
export type CheckoutMethod = (typeof CHECKOUT_METHODS)[number];

declare module '../../kernel/caller.ts' {
  interface CheckoutGrant extends CheckoutDetails {
    /**
     * The methods of payment that the token allows; omitted for card alone, as in all tokens of an earlier
     * version.
     */
    methods?: readonly CheckoutMethod[];
    amount: CheckoutAmount;
    reusable: boolean;
  }
}

/**
 * A product as a checkout token sells it, provided by the slice that owns products. A member is null if the
 * service does not show it.
 */
export interface SoldProduct {
  name: string | null;
  priceCents: Cents | null;
}

export function customerOf(input: z.infer<typeof customerInput> | null | undefined): Customer | null {
  if (!input) return null;
  const given = Object.entries(input).filter(([, value]) => value != null);
  return given.length === 0 ? null : (Object.fromEntries(given) as Customer);
}

// ── The start of a payment by a token ────────────────────────────────────────────────────────────

/** The members of a payment that decide about another start of its token. */
export interface CheckoutPayment {
  status: string;
  amountCents: Cents;
  /** The time of its cancellation. Omitted by a method whose payments cannot be canceled. */
  canceledAt?: Date | null;
}

/** Returns the methods that a token allows: cards alone, for a token of a version that had no others. */
export function methodsOf({ methods = ['card'] }: Pick<CheckoutGrant, 'methods'>): readonly CheckoutMethod[] {
  return methods;
}

/** Reads the token that started a payment; null for a payment that an API key created. */
export function tokenOf({ checkoutAttempt }: { checkoutAttempt: string | null }): string | null {
  return checkoutAttempt?.split(':')[0] ?? null;
}

/**
 * Resolves the amount of a token when it is used. A product is read at that time: its price never changes,
 * but a deleted product is no longer sold. Its name describes the payment if the token has no description.
 * @throws NotFoundError, UpstreamError (its price is unknown)
 */
export function grantAtStart(
  grant: CheckoutGrant,
  product: SoldProduct | null,
): CheckoutGrant & { amount: KnownAmount } {
  const { amount } = grant;
  if (amount.kind !== 'product') return { ...grant, amount };
  const { name, priceCents } = soldNow(product);
  return {
    ...grant,
    description: grant.description ?? name,
    amount: { kind: 'fixed', cents: priceCents },
  };
}

/** A product that can be sold now. @throws NotFoundError, UpstreamError (its price is unknown) */
export function soldNow(product: SoldProduct | null): SoldProduct & { priceCents: Cents } {
  if (!product) throw new NotFoundError('Product not found');
  const { name, priceCents } = product;
  if (priceCents === null)
    throw new UpstreamError(
      'UPSTREAM_REFUSED',
      'The payments service does not report the price of this product',
    );
  return { name, priceCents };
}

/**
 * Resolves the amount that the payer pays: the token's amount, or one inside its range. @throws
 * ValidationError
 */
export function checkoutAmount(
  { amount }: { amount: KnownAmount },
  valueCents: Cents | null | undefined,
): Cents {
  const path = valueCents == null ? 'input.amountCents' : 'input.valueCents';
  const refuse = (message: string) => new ValidationError([{ path, message }]);
  if (amount.kind === 'fixed') {
    if (valueCents != null && valueCents !== amount.cents)
      throw refuse(`this token pays exactly ${amount.cents}; leave the amount out`);
    return amount.cents;
  }
  if (valueCents == null) throw refuse(`choose an amount from ${amount.minCents} to ${amount.maxCents}`);
  if (valueCents < amount.minCents || valueCents > amount.maxCents)
    throw refuse(`must lie from ${amount.minCents} to ${amount.maxCents}`);
  return valueCents;
}

/**
 * Resolves the amount of a token with an open payment, which another device may join. A product is not read: it may
 * have been deleted since.
 */
export function grantOfOpen(
  grant: CheckoutGrant,
  { amountCents }: Pick<CheckoutPayment, 'amountCents'>,
): CheckoutGrant & { amount: KnownAmount } {
  const { amount } = grant;
  return { ...grant, amount: amount.kind === 'product' ? { kind: 'fixed', cents: amountCents } : amount };
}

/** Whether a start joins the last payment of a single-use token: it is open, and costs what the payer wants to pay. */
export function joins(last: Pick<CheckoutPayment, 'status' | 'amountCents'>, valueCents: Cents): boolean {
  return isOpen(last) && last.amountCents === valueCents;
}

/** Whether the last payment of a token still waits for its payer. */
export function isOpen({ status }: Pick<CheckoutPayment, 'status'>): boolean {
  return status === 'pending';
}

/**
 * Asserts that a single-use token may start another payment: it has none yet, or the last one has expired or failed and the
 * merchant has not canceled it.
 * @throws PreconditionError
 */
export function assertTokenFree(last: Pick<CheckoutPayment, 'status' | 'canceledAt'> | null): void {
  if (!last) return;
  assertNotCanceled(last);
  if (last.status === 'paid' || last.status === 'refunded') assertOrderOpen(last.status);
  if (last.status !== 'expired' && last.status !== 'failed') throw tokenUsed();
}

/**
 * Asserts that the merchant has not canceled this payment of a token: if so, the token starts nothing more,
 * by any method.
 * @throws PreconditionError
 */
export function assertNotCanceled({ canceledAt }: Pick<CheckoutPayment, 'canceledAt'>): void {
  if (canceledAt)
    throw new PreconditionError('CHECKOUT_TOKEN_USED', 'The payment of this checkout token was canceled');
}

export function tokenUsed(): PreconditionError {
  return new PreconditionError('CHECKOUT_TOKEN_USED', 'This checkout token has already started a payment');
}

/**
 * The checkout attempt of a start, which keeps one of its payments. A single-use token is one attempt,
 * however often it is started. For a reusable token, an attempt id and the ids of its retries (`.2`, `.3`, …)
 * name one attempt.
 */
export function checkoutAttemptOf(tokenId: string, { reusable }: CheckoutGrant, attemptId: string): string {
  return reusable ? `${tokenId}:${attemptId.replace(/\.[0-9]+$/, '')}` : tokenId;
}

// ── Orders ──────────────────────────────────────────────────────────────────────────────────────

/** Asserts that an order takes another payment. @throws PreconditionError (ORDER_PAID, ORDER_REFUNDED) */
export function assertOrderOpen(status: OrderStatus | null): void {
  if (status === 'paid') throw new PreconditionError('ORDER_PAID', 'This order has already been paid');
  if (status === 'refunded')
    throw new PreconditionError('ORDER_REFUNDED', 'This order was paid and refunded in full');
}

/** The id of the payment that closes the order; null if none does. */
export function keptPaymentOf(payments: readonly PaymentState[]): string | null {
  const closing = payments.filter(closesOrder);
  return (closing.find(({ status }) => status !== 'refunded') ?? closing[0])?.id ?? null;
}
