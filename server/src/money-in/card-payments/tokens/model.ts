import { z } from 'zod';
import { allowedOrigins, type MintedToken, trustedDocumentsOnly } from '../../../access/model.ts';
import { refuseTwoOrders, withKnownNames } from '../../../kernel/aliases.ts';
import type { CheckoutGrant } from '../../../kernel/caller.ts';
import { plusMs } from '../../../kernel/clock.ts';
import { ERASED } from '../../../kernel/erased.ts';
import { IdempotencyError, PreconditionError, ValidationError } from '../../../kernel/errors.ts';
import { hashInput } from '../../../kernel/input-hash.ts';
import type { ListedRange, ListRange } from '../../../kernel/list-range.ts';
import type { Behind } from '../../../kernel/records.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { notNull, optionalLimit, requiredOr } from '../../../kernel/text.ts';
import {
  CHECKOUT_METHODS,
  type CheckoutAmount,
  cardAmount,
  checkoutDetails,
  customerOf,
  productIdText,
} from '../../checkout/model.ts';
import { pixAmount } from '../../pix/model.ts';

/** The life of a single-use token if the request names none. */
const CHECKOUT_TOKEN_SECONDS = 86_400;
const MAX_SECONDS = 31_536_000;

/**
 * A pause of a checkout token, which takes no payments, or takes them slowly. Tokens of one order share one
 * pause.
 */
export interface TokenPause {
  /**
   * `merchant`: the token takes no payments. `declines`: many cards were declined, so each payer waits longer
   * between two cards. `restored`: the token takes no payments, because it may have sold in records that are
   * missing since a restore. That is not stored.
   */
  reason: 'merchant' | 'declines' | 'restored';
  pausedAt: Date;
  /** The end of the pause; null if it lasts until it is resumed. */
  pausedUntil: Date | null;
}

/** A checkout token and its pause. */
export interface PausedToken extends TokenPause {
  tokenId: string;
}

/** The event of a checkout token that was paused or resumed; `pause` is null if it was resumed. */
export interface TokenSnapshot {
  tokenId: string;
  pause: TokenPause | null;
}

/** Reads a snapshot back from JSON, where instants are text. */
export function tokenFromJson(json: unknown): TokenSnapshot {
  const { tokenId, pause } = json as TokenSnapshot;
  if (!pause) return { tokenId, pause: null };
  const { reason, pausedAt, pausedUntil } = pause;
  return {
    tokenId,
    pause: {
      reason,
      pausedAt: new Date(pausedAt),
      pausedUntil: pausedUntil === null ? null : new Date(pausedUntil),
    },
  };
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

/** The methods of the token decide which amounts are allowed. */
const cents = z.number({ error: requiredOr('must be an integer number of cents') });

const centsRange = z
  .object({ minCents: cents, maxCents: cents })
  .refine((range) => range.minCents <= range.maxCents, {
    path: ['maxCents'],
    message: 'must not be below minCents',
  });

/** The rule of `@oneOf` is repeated here: graphql-jit does not know the directive. */
const checkoutAmountInput = z
  .object({
    fixedCents: cents.nullish(),
    range: centsRange.nullish(),
    productId: productIdText.nullish(),
  })
  .refine(
    (amount) =>
      [amount.fixedCents, amount.range, amount.productId].filter((member) => member != null).length === 1,
    'must have exactly one of fixedCents, range and productId',
  );

export const createCheckoutTokenInput = checkoutDetails
  .extend({
    amount: checkoutAmountInput.nullish(),
    amountCents: cents.nullish(),
    methods: z
      .array(z.enum(CHECKOUT_METHODS, `must be of ${CHECKOUT_METHODS.join(', ')}`))
      .min(1, 'must name at least one method')
      .refine((methods) => new Set(methods).size === methods.length, 'must not name a method twice')
      .nullish(),
    allowedOrigins,
    reusable: z.boolean().nullish(),
    expiresInSeconds: optionalLimit(
      z
        .number({ error: notNull('the life of a token of its kind') })
        .int('must be a whole number of seconds')
        .min(60, 'must be at least 60')
        .max(MAX_SECONDS, `must be at most a year (${MAX_SECONDS})`),
    ),
    trustedDocumentsOnly,
  })
  .superRefine(refuseTwoOrders)
  .superRefine(({ orderId, externalId, reusable }, context) => {
    if (!reusable || (orderId ?? externalId) == null) return;
    const message = 'must be left out of a reusable token, which serves many orders';
    context.addIssue({ code: 'custom', path: [orderId == null ? 'externalId' : 'orderId'], message });
  })
  .superRefine(({ amount, amountCents }, context) => {
    if ((amount == null) !== (amountCents == null)) return;
    const message = 'must be given, or amountCents for a fixed one, and not both';
    context.addIssue({ code: 'custom', path: ['amount'], message });
  })
  .superRefine(({ amount, amountCents, methods }, context) => {
    const takesCards = methods == null || methods.includes('card');
    const rule = takesCards ? cardAmount : pixAmount;
    for (const [path, given] of amountsIn(amount ?? {}, amountCents))
      for (const { message } of rule.safeParse(given).error?.issues ?? [])
        context.addIssue({ code: 'custom', path, message });
  })
  .transform(({ amount, amountCents, ...rest }) => ({
    ...withKnownNames(rest),
    amount: amount ?? { fixedCents: amountCents },
  }));
export type CreateCheckoutTokenInput = z.infer<typeof createCheckoutTokenInput>;

/** The amounts of an input, with their paths in it. */
function amountsIn(
  { fixedCents, range }: z.infer<typeof checkoutAmountInput>,
  amountCents: number | null | undefined,
) {
  const all: [path: string[], given: number | null | undefined][] = [
    [['amountCents'], amountCents],
    [['amount', 'fixedCents'], fixedCents],
    [['amount', 'range', 'minCents'], range?.minCents],
    [['amount', 'range', 'maxCents'], range?.maxCents],
  ];
  return all.filter(([, given]) => given != null);
}

const tokenName = z
  .string('must be a token or its id')
  .min(1, 'must be a token or its id')
  .max(256, 'must be a token or its id');
export const pauseTokenInput = z.strictObject({
  token: tokenName,
  minutes: z
    .number()
    .int('must be a whole number of minutes')
    .min(1, 'must lie from 1 to 525600')
    .max(525_600, 'must lie from 1 to 525600')
    .optional(),
});
export const resumeTokenInput = z.strictObject({ token: tokenName });

// ── The ports ───────────────────────────────────────────────────────────────────────────────────

export interface CheckoutTokenService {
  /**
   * Mints a public token for the payment that it describes. The result holds the only copy. Tokens of one
   * `externalId` are of one order: they share its payments, its attempts and its pause.
   * @throws ValidationError, NotFoundError (the product), PreconditionError (sandbox, or no cards), IdempotencyError
   *   (the order has a token with another amount or customer)
   */
  create(
    tenant: Tenant,
    keyId: string | null,
    input: CreateCheckoutTokenInput,
  ): Promise<MintedToken & { expiresAt: Date | null }>;
  /**
   * Stops the payments of a token, named by its text or its id, until it is resumed or for a number of seconds.
   * @throws NotFoundError, ValidationError
   */
  pause(tenant: Tenant, token: string, seconds: number | null): Promise<PausedToken>;
  /** Ends the pause of a token and returns the token's id. Without a pause nothing changes. @throws NotFoundError */
  resume(tenant: Tenant, token: string): Promise<string>;
  /** Finds the last pause of a token, which may have ended; null if it was resumed, or never paused. */
  pauseOf(tokenId: string): Promise<TokenPause | null>;
  /** Finds the last pause of each token, as `pauseOf` does. */
  pausesOf(tokenIds: readonly string[]): Promise<(TokenPause | null)[]>;
  /** Lists the pauses in force, those of the newest tokens first. */
  listPaused(
    tenant: Tenant,
    range: ListRange,
  ): Promise<ListedRange<{ position: number; pause: PausedToken }>>;
}

/** Pauses for the operator of the server, in every account. */
export interface TokenAdministration {
  /** Pauses a token, named by its text or its id, until it is resumed or for a number of minutes. @throws NotFoundError */
  pauseToken(input: z.output<typeof pauseTokenInput>): Promise<{ token: PausedToken }>;
  /** Ends the pause of a token, if it has one. @throws NotFoundError */
  resumeToken(input: z.output<typeof resumeTokenInput>): Promise<{ tokenId: string }>;
  /** Lists the pauses in force of all accounts, those of the newest tokens first; at most 100. */
  listPausedTokens(): Promise<{ tokens: PausedToken[] }>;
}

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

/** The instant at which a new token expires; null for a reusable one without a limit, which is revoked. */
export function expiryOf({ expiresInSeconds, reusable }: CreateCheckoutTokenInput, now: Date): Date | null {
  if (expiresInSeconds == null && reusable) return null;
  return plusMs(now, (expiresInSeconds ?? CHECKOUT_TOKEN_SECONDS) * 1_000);
}

/** The payment that a new token describes. */
export function grantOf({
  amount,
  reusable,
  allowedOrigins: _,
  expiresInSeconds: __,
  trustedDocumentsOnly: ___,
  methods,
  ...details
}: CreateCheckoutTokenInput): CheckoutGrant {
  const paysBy = CHECKOUT_METHODS.filter((method) => (methods ?? ['card']).includes(method));
  return {
    ...details,
    reusable: reusable ?? false,
    amount: amountOf(amount),
    // As an earlier version has hashed it: that version compares an order's later token with its first.
    ...(paysBy.includes('pix') && { methods: paysBy }),
  };
}

/**
 * Asserts that a further token of an order has the amount and the customer of the first. The message names the members that
 * differ; of a customer it shows nothing, and one that was erased is not compared.
 * @throws IdempotencyError
 */
export function assertSameOrder(first: CheckoutGrant, next: CheckoutGrant): void {
  const [amountBefore, amount] = [inWords(first.amount), inWords(next.amount)];
  const [before, customer] = [customerOf(first.customer), customerOf(next.customer)];
  const compared = before?.name === ERASED ? [] : (['name', 'email', 'externalId', 'taxId'] as const);
  const differing = [
    ...(amount === amountBefore ? [] : [`amount (${amountBefore}, not ${amount})`]),
    ...compared
      .filter((member) => before?.[member] !== customer?.[member])
      .map((member) => `customer.${member}`),
  ];
  if (differing.length === 0) return;
  throw new IdempotencyError(
    `A checkout token of this orderId was minted before with another ${differing.join(', ')}`,
  );
}

function inWords(amount: CheckoutAmount): string {
  switch (amount.kind) {
    case 'fixed':
      return `fixedCents ${amount.cents}`;
    case 'range':
      return `range ${amount.minCents} to ${amount.maxCents}`;
    case 'product':
      return `productId ${amount.productId}`;
  }
}

/**
 * Hashes the whole first token of an order, because an instance of the version before compares a later token
 * with it.
 */
export function orderHash(
  { language: _, ...grant }: CheckoutGrant,
  origins: readonly string[],
  isBound: boolean,
): string {
  return hashInput({
    ...grant,
    customer: customerOf(grant.customer),
    origins: [...new Set(origins)].sort(),
    // Left out if false: the hash of an earlier version had no such member.
    ...(isBound && { trustedDocumentsOnly: true }),
  });
}

function amountOf({ fixedCents, productId, range }: CreateCheckoutTokenInput['amount']): CheckoutAmount {
  if (fixedCents != null) return { kind: 'fixed', cents: fixedCents };
  if (productId != null) return { kind: 'product', productId };
  return { kind: 'range', minCents: range!.minCents, maxCents: range!.maxCents };
}

/** Whether a pause is in force. */
export function isPaused(pause: TokenPause | null | undefined, now: Date): boolean {
  return pause != null && (pause.pausedUntil === null || pause.pausedUntil > now);
}

/** Whether a token takes no payments at all. */
export function isStopped(pause: TokenPause | null | undefined, now: Date): pause is TokenPause {
  return isPaused(pause, now) && pause?.reason !== 'declines';
}

/** Refuses a token that takes no payments. @throws PreconditionError */
export function assertNotPaused(pause: TokenPause | null | undefined, now: Date): void {
  if (isStopped(pause, now))
    throw new PreconditionError('CHECKOUT_TOKEN_PAUSED', 'This checkout takes no payments at the moment');
}

/** The pause of a token that was minted before the records went back: until the operator confirms them. */
export function pauseOfRestore({ until }: Behind): TokenPause {
  return { reason: 'restored', pausedAt: until, pausedUntil: null };
}

const MINUTE_MS = 60_000;
const FIRST_PAUSE_MS = 5 * MINUTE_MS;
const MAX_DECLINES_PAUSE_MS = 60 * MINUTE_MS;
/** A pause that begins within this time after the end of the last one is twice as long. */
const REPEATED_WITHIN_MS = 60 * MINUTE_MS;

/**
 * The pause of a token whose cards are declined; null if it is paused already. It ends automatically, and
 * lasts twice as long as the last one, up to an hour.
 */
export function decidePauseForDeclines(last: TokenPause | null, now: Date): TokenPause | null {
  if (isPaused(last, now)) return null;
  let ms = FIRST_PAUSE_MS;
  if (last?.reason === 'declines' && last.pausedUntil && plusMs(last.pausedUntil, REPEATED_WITHIN_MS) > now)
    ms = Math.min(MAX_DECLINES_PAUSE_MS, 2 * (last.pausedUntil.getTime() - last.pausedAt.getTime()));
  return { reason: 'declines', pausedAt: now, pausedUntil: plusMs(now, ms) };
}

/** The pause that a merchant requests: at most a year, like a token's own life. @throws ValidationError */
export function decidePauseByMerchant(seconds: number | null, now: Date): TokenPause {
  if (seconds !== null && !(Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_SECONDS))
    throw new ValidationError([{ path: 'seconds', message: `must lie from 1 to ${MAX_SECONDS}` }]);
  return {
    reason: 'merchant',
    pausedAt: now,
    pausedUntil: seconds === null ? null : plusMs(now, seconds * 1_000),
  };
}
