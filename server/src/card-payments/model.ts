import { z } from 'zod';
import { plusMs } from '../kernel/clock.ts';
import { NotFoundError, UnavailableError, UpstreamError, ValidationError } from '../kernel/errors.ts';
import { readableCode } from '../kernel/ids.ts';
import { type Cents, isCents } from '../kernel/money.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import { idempotencyKeyText, metadataText, plainText, requiredOr, webUrl } from '../kernel/text.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerTransaction,
  ledgerTransaction,
} from '../ledger/postings.ts';

/** The document's section 3.2, and what it leaves open as decided in `server/docs/decisions`. */
export type CardPaymentStatus = 'pending' | 'paid' | 'expired' | 'refunded' | 'failed';

const NEXT: Record<CardPaymentStatus, readonly CardPaymentStatus[]> = {
  pending: ['paid', 'failed', 'expired'],
  // The acquirer holds the money, the clock does not: a confirmation after the expiry is a payment.
  expired: ['paid'],
  paid: ['refunded'],
  refunded: [],
  failed: [],
};

/** 120 random bits: the payer's page at this code needs no other secret. */
export function newOrderCode(): string {
  return `PSC-${readableCode(24)}`;
}

/** Whether a text can be an order code of ours at all. */
export function isOrderCode(text: string): boolean {
  return /^PSC-[0-9A-Z]{24}$/.test(text);
}

/** Whether a text can be an order code of any service: the document shows no form for it. */
export function isAnyOrderCode(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

export interface Customer {
  name?: string | undefined;
  email?: string | undefined;
  externalId?: string | undefined;
}

/**
 * The document's section 2.3, with what its life adds, as far as whoever shows it knows: in front of another service,
 * what that has told. All instants in UTC.
 */
export interface CardPayment {
  orderCode: string;
  /** Grows by one with each change: of two answers the larger is the newer. */
  version: number;
  /** `unknown`: a word of the service's that the document does not have. */
  status: CardPaymentStatus | 'unknown';
  /** While it is `unknown`: the last status of the document that it had; null where it had none. */
  lastStatus?: CardPaymentStatus | null;
  amountCents: Cents;
  /** Another amount with which the service has said that it is paid; left out where there is none. */
  otherPaidCents?: Cents;
  /** Left out where the page is this server's own. */
  checkoutUrl?: string | null;
  description: string | null;
  callbackUrl: string | null;
  customer: Customer | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  createdAt: Date | null;
  expiresAt: Date;
  /** The service has not told `expiresAt`: it is what follows from the rest. */
  expiryDerived?: boolean;
  paidAt: Date | null;
  paidLate: boolean;
  refundedAt: Date | null;
  failureReason: string | null;
  /** The acquirer's, for the last card that was declined. In front of another service it is not known. */
  declineReason?: string | null;
}

/** A payment of the service that is embedded here. */
export interface StoredCardPayment extends CardPayment {
  status: CardPaymentStatus;
  /** Payments of one checkout attempt: if two of them are paid, the second is refunded. */
  checkoutAttempt: string | null;
  /** The charge whose outcome the acquirer still owes us. */
  openChargeId: string | null;
  /** The charge that paid it, for a refund. */
  paidChargeId: string | null;
  declinedCharges: number;
  createdAt: Date;
  releasedAt: Date | null;
}

/** REFUNDED or FAILED: no later status can come. A paid one may be refunded, an expired one paid late. */
export function isFinal(status: CardPaymentStatus | 'unknown'): boolean {
  return status !== 'unknown' && NEXT[status].length === 0;
}

/** Whether `to` can come after `from`, at once or by way of others that nobody saw. */
export function canFollow(from: CardPaymentStatus, to: CardPaymentStatus): boolean {
  return NEXT[from].some((next) => next === to || canFollow(next, to));
}

// ── What a caller may ask for (section 4.2, limits of section 8) ────────────────────────────────

const CARD_PAYMENT_MIN_CENTS = 80;
/** R$ 100 million: 900,000 such sales still add up to a safe integer. The document sets no upper limit. */
const CARD_PAYMENT_MAX_CENTS = 10_000_000_000;
export const CHECKOUT_SESSION_MS = 30 * 60_000;
const URL_MAX = 500;

export const cardAmount = z
  .number({ error: requiredOr('must be an integer number of cents') })
  .refine(isCents, 'must be an integer number of cents')
  .refine((cents) => cents >= CARD_PAYMENT_MIN_CENTS, `must be at least ${CARD_PAYMENT_MIN_CENTS} (R$ 0,80)`)
  .refine((cents) => cents <= CARD_PAYMENT_MAX_CENTS, `must be at most ${CARD_PAYMENT_MAX_CENTS}`)
  .meta({ type: 'integer', minimum: CARD_PAYMENT_MIN_CENTS, maximum: CARD_PAYMENT_MAX_CENTS });

const customerInput = z.object({
  name: plainText({ max: 200 }).nullish(),
  email: plainText({ max: 254 })
    .refine((text) => /^[^\s@]+@[^\s@]+$/.test(text), 'must be an e-mail address')
    .nullish(),
  externalId: plainText({ max: 200 }).nullish(),
});

/** What the payer sees and where it goes: the same in a card payment and in a checkout token. */
export const checkoutDetails = z.object({
  description: plainText({ max: 200 }).nullish().describe('Shown on the checkout'),
  // Which of these may be called is the server's to say: `assertCallbackUrl`.
  callbackUrl: webUrl({ max: URL_MAX })
    .nullish()
    .describe('Public https URL that gets the webhook of this payment'),
  customer: customerInput.nullish(),
  metadata: metadataText({ max: 2048 }).nullish().describe('Serialized JSON, given back byte for byte'),
  successUrl: webUrl({ max: URL_MAX })
    .nullish()
    .describe('Where the payer goes after an approved payment; reaching it proves nothing'),
  cancelUrl: webUrl({ max: URL_MAX }).nullish().describe('Where the payer goes who gives up'),
});

export const createCardPaymentInput = checkoutDetails.extend({
  valueCents: cardAmount,
  idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input give the same payment'),
});
export type CreateCardPaymentInput = z.infer<typeof createCardPaymentInput>;

/** At least 128 random bits: 22 of base64url. A later attempt of the same visit appends `.2`, `.3`, …. */
export const startCheckoutInput = z.object({
  attemptId: z
    .string()
    .regex(
      /^[A-Za-z0-9_-]{22,128}(\.[0-9]{1,3})?$/,
      'must be at least 128 random bits: 22 to 128 of A-Z a-z 0-9 _ -',
    ),
  valueCents: cardAmount.nullish(),
  customer: customerInput.nullish(),
});
export type StartCheckoutInput = z.infer<typeof startCheckoutInput>;

/** What a checkout token lets a browser pay. */
export type CheckoutAmount = KnownAmount | { kind: 'product'; productId: string };
type KnownAmount = { kind: 'fixed'; cents: Cents } | { kind: 'range'; minCents: Cents; maxCents: Cents };

/** A product as far as a checkout token sells it; the slice that owns products gives it. Null: the service does not tell. */
export interface SoldProduct {
  name: string | null;
  priceCents: Cents | null;
}

/** The token that started a payment; null for one that an API key created. */
export function tokenOf({ checkoutAttempt }: Pick<StoredCardPayment, 'checkoutAttempt'>): string | null {
  return checkoutAttempt?.split(':')[0] ?? null;
}

/** The payment that a checkout token describes. Nothing of it can be read out of the token. */
export interface CheckoutGrant extends z.infer<typeof checkoutDetails> {
  amount: CheckoutAmount;
  reusable: boolean;
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface CardPaymentPage<P extends CardPayment = CardPayment> {
  /** Newest first, each with its place in the list, which is what `after` takes. */
  items: { place: number; payment: P }[];
  hasNextPage: boolean;
}

/** Embedded, every payment is known whole. */
export interface CardPaymentService<P extends CardPayment = CardPayment> {
  /**
   * Creates a hosted card payment (section 4.2). With an idempotency key, the same key and input give the
   * same payment, `replayed`.
   * @throws ValidationError, UnavailableError (sandbox, or the account takes no cards), IdempotencyError; in front of
   *   another service PermissionError, RateLimitError, UpstreamError as well
   */
  create(tenant: Tenant, input: CreateCardPaymentInput): Promise<{ payment: P; replayed: boolean }>;
  /**
   * Starts the payment that a checkout token describes, once for each attempt id. `address` is the payer's.
   * @throws ValidationError, NotFoundError (its product was deleted), UnavailableError (also: a single-use token whose
   *   payment still stands), IdempotencyError, RateLimitError (too many cards of this network were declined)
   */
  startCheckout(
    tenant: Tenant,
    token: { id: string; grant: CheckoutGrant },
    input: StartCheckoutInput,
    address?: string | null,
  ): Promise<P>;
  /** Null where it does not exist or is another tenant's. */
  find(tenant: Tenant, orderCode: string): Promise<P | null>;
  /** In the order asked, null where not found. */
  findMany(tenant: Tenant, orderCodes: readonly string[]): Promise<(P | null)[]>;
  /** Also tells the version of the tenant's log that the state holds for. */
  findWithVersion(tenant: Tenant, orderCode: string): Promise<{ version: number; payment: P } | null>;
  list(
    tenant: Tenant,
    page: { first: number; after?: number | undefined; status?: readonly CardPaymentStatus[] | undefined },
  ): Promise<CardPaymentPage<P>>;
  /** A page by number, newest first, and how many there are in all (the document's 2.1.6). */
  listPage(tenant: Tenant, page: { limit: number; offset: number }): Promise<{ items: P[]; total: number }>;
  count(tenant: Tenant, filter: { status?: readonly CardPaymentStatus[] | undefined }): Promise<number>;
}

/** What the payer's page can do with one payment, whose order code is all it knows. */
export interface HostedCheckout {
  open(orderCode: string): Promise<{ payment: StoredCardPayment; merchantName: string } | null>;
  /** Why this acquirer does not take the card, in words for the payer; null where it does. */
  cardRefusal(cardNumber: string): string | null;
  /**
   * Charges a card: records the charge, asks the acquirer, records its answer. A crash or a lost answer in
   * between loses nothing: the open charge is looked up again, and until then is `processing`. `address` is the payer's;
   * without one nobody is held back. @throws NotFoundError
   */
  pay(orderCode: string, card: CardDetails, address?: string | null): Promise<PayResult>;
  /**
   * Gives a paid payment's amount back to the payer, now or as soon as the acquirer can. False where it is not paid, or
   * its refund has begun before. @throws NotFoundError
   */
  refund(tenant: Tenant, orderCode: string): Promise<boolean>;
}

/** A card as the payer typed it: never stored, never logged. */
export interface CardDetails {
  number: string;
  holder: string;
  expiryMonth: number;
  expiryYear: number;
  securityCode: string;
}

export type PayResult =
  | { kind: 'paid' | 'failed' | 'processing'; payment: StoredCardPayment }
  /** `reason` is the acquirer's, for the merchant: a payer who tests stolen cards learns from it which are good. */
  | { kind: 'declined'; reason: string; payment: StoredCardPayment }
  /** The acquirer never got the charge. */
  | { kind: 'not_charged'; payment: StoredCardPayment }
  /** Nothing was tried: this payer may try a card again at `retryAt`. */
  | { kind: 'held_back'; retryAt: Date; payment: StoredCardPayment }
  | { kind: ChargeRefusal; payment: StoredCardPayment };

/** One try to charge a card. */
export interface ChargeAttempt {
  tenant: Tenant;
  /** The checkout token that started the payment; null where an API key did. */
  tokenId: string | null;
  /** The payer's network address; null where it is not known: then nobody is held back. */
  address: string | null;
}

/** `unused`: it was not decided, or never reached the acquirer. */
export type AttemptOutcome = 'approved' | 'declined' | 'unused';

/**
 * Holds back a network that tries one card after another. Counts hold over all instances. Each wait is longer than the
 * last; a token or an account whose cards are declined makes everybody's waits longer, and stops nobody.
 */
export interface CardTestingGuard {
  /** When this payer may try a card again; null where at once. Counts nothing. */
  look(attempt: ChargeAttempt): Promise<Date | null>;
  /** The same, and where it is null counts the attempt as declined until `record` says otherwise. */
  admit(attempt: ChargeAttempt): Promise<Date | null>;
  /** Counts the outcome of an admitted attempt, once; one that was decided late comes without its address. */
  record(attempt: ChargeAttempt, outcome: AttemptOutcome): Promise<void>;
}

// ── Rules: pure, from what is and what happened to what shall be ────────────────────────────────

/** One payment's step, with the money and the deadlines that go with it. Null money: no money moved. */
export interface CardPaymentChange {
  readonly previous: StoredCardPayment | null;
  readonly payment: StoredCardPayment;
  readonly transaction: LedgerTransaction | null;
  readonly due: readonly { kind: CardPaymentTask; at: Date }[];
  /** Whether subscribers are told: a step inside `pending` or `paid` that no status shows is not. */
  readonly announced: boolean;
}

/** Work that waits for an instant. */
export type CardPaymentTask =
  | 'card_payment.expire'
  | 'card_payment.resolve'
  | 'card_payment.release'
  | 'card_payment.refund';

export interface AccountSettings {
  cardPaymentsEnabled: boolean;
  cardReleaseDays: number;
}

/** @throws UnavailableError where the account takes no cards, or is asked with a test key */
export function assertCardsAvailable(environment: Environment, account: AccountSettings): void {
  assertNotSandbox(environment);
  if (!account.cardPaymentsEnabled) throw cardsNotConfigured();
}

/** @throws UnavailableError */
export function assertNotSandbox(environment: Environment): void {
  if (environment === 'sandbox')
    throw new UnavailableError('NOT_IN_SANDBOX', 'Card payments are not available in sandbox');
}

export function cardsNotConfigured(): UnavailableError {
  return new UnavailableError(
    'CARD_PAYMENTS_NOT_CONFIGURED',
    'Card payments are not configured for this account',
  );
}

export function decideCreate(
  input: Omit<CreateCardPaymentInput, 'idempotencyKey'>,
  { orderCode, checkoutAttempt, now }: { orderCode: string; checkoutAttempt: string | null; now: Date },
): CardPaymentChange {
  const expiresAt = new Date(now.getTime() + CHECKOUT_SESSION_MS);
  const payment: StoredCardPayment = {
    orderCode,
    version: 1,
    status: 'pending',
    amountCents: input.valueCents,
    description: input.description ?? null,
    callbackUrl: input.callbackUrl ?? null,
    customer: customerOf(input.customer),
    metadata: input.metadata ?? null,
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    checkoutAttempt,
    openChargeId: null,
    paidChargeId: null,
    declinedCharges: 0,
    declineReason: null,
    createdAt: now,
    expiresAt,
    paidAt: null,
    paidLate: false,
    releasedAt: null,
    refundedAt: null,
    failureReason: null,
  };
  return {
    previous: null,
    payment,
    transaction: null,
    due: [{ kind: 'card_payment.expire', at: expiresAt }],
    announced: true,
  };
}

/**
 * What a token sells as it stands when it is started. A product is looked at then and not when the token was minted:
 * its price never changes, but once it was deleted nobody buys it. Its name says what is paid where the token does not.
 * @throws NotFoundError, UpstreamError (nobody knows its price)
 */
export function grantAtStart(
  grant: CheckoutGrant,
  product: SoldProduct | null,
): CheckoutGrant & { amount: KnownAmount } {
  const { amount } = grant;
  if (amount.kind !== 'product') return { ...grant, amount };
  if (!product) throw new NotFoundError('Product not found');
  if (product.priceCents === null)
    throw new UpstreamError('The payments service does not tell what this product costs', {
      retryable: false,
      moneyMayHaveMoved: false,
    });
  return {
    ...grant,
    description: grant.description ?? product.name,
    amount: { kind: 'fixed', cents: product.priceCents },
  };
}

/** What the payer may pay with a token: its amount, or one inside its range. @throws ValidationError */
export function checkoutAmount(
  { amount }: { amount: KnownAmount },
  valueCents: Cents | null | undefined,
): Cents {
  const refuse = (message: string) => new ValidationError([{ path: 'input.valueCents', message }]);
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

/** A single-use token starts no other payment until its last has expired or failed. @throws UnavailableError */
export function assertTokenFree(last: Pick<CardPayment, 'status'> | null): void {
  if (last && last.status !== 'expired' && last.status !== 'failed')
    throw new UnavailableError('CHECKOUT_TOKEN_USED', 'This checkout token has already started a payment');
}

/** After so many declined cards the payment fails: nobody tries stolen numbers on it. */
export const MAX_DECLINED_CHARGES = 5;
/** A charge without an answer for so long is looked up at the acquirer. */
export const RESOLVE_AFTER_MS = 10_000;

/** Given back since or not: what came of the attempt was settled by it, and no other payment of it takes money again. */
const wasPaid = ({ paidAt }: StoredCardPayment): boolean => paidAt !== null;

export type ChargeRefusal = 'not_payable' | 'in_progress' | 'paid_elsewhere';

/**
 * Before the acquirer is asked: the charge is recorded, so that no crash forgets it.
 * A refusal where the payment cannot be paid (any more), another charge is open, or its attempt is paid.
 */
export function decideCharge(
  payment: StoredCardPayment,
  { chargeId, siblings, now }: { chargeId: string; siblings: readonly StoredCardPayment[]; now: Date },
): CardPaymentChange | ChargeRefusal {
  if (payment.status !== 'pending' || payment.expiresAt <= now) return 'not_payable';
  if (payment.openChargeId) return 'in_progress';
  if (siblings.some(wasPaid)) return 'paid_elsewhere';
  return {
    previous: payment,
    payment: { ...payment, openChargeId: chargeId },
    transaction: null,
    due: [{ kind: 'card_payment.resolve', at: new Date(now.getTime() + RESOLVE_AFTER_MS) }],
    announced: false,
  };
}

/**
 * Whether a charge's money can be recorded once it is taken: asked before, for afterwards it is too late. Half of what
 * a balance can hold is left to the charges under way.
 */
export function fitsBalances({ amountCents }: StoredCardPayment, balances: Balances): boolean {
  return amountCents - balances.acquirer <= Number.MAX_SAFE_INTEGER / 2;
}

/** What the acquirer said of a charge. `pending`: it has not decided; `void`: it never got it, and never will take it. */
export type ChargeOutcome =
  | { status: 'approved' }
  | { status: 'declined'; reason: string; final: boolean }
  | { status: 'pending'; settlesAt: Date | null }
  | { status: 'void' };

/**
 * What an outcome of the open charge makes of the payment; null where it changes nothing. A repeated or late
 * answer about a charge that is no longer open changes nothing.
 */
export function decideOutcome(
  payment: StoredCardPayment,
  {
    chargeId,
    outcome,
    siblings,
    account,
    now,
  }: {
    chargeId: string;
    outcome: ChargeOutcome;
    siblings: readonly StoredCardPayment[];
    account: AccountSettings;
    now: Date;
  },
): CardPaymentChange | null {
  if (payment.openChargeId !== chargeId) return null;
  if (outcome.status === 'pending') {
    const { settlesAt } = outcome;
    // An instant that has passed without a decision is as good as none.
    const at = settlesAt && settlesAt > now ? settlesAt : new Date(now.getTime() + RESOLVE_AFTER_MS);
    return {
      previous: payment,
      payment,
      transaction: null,
      due: [{ kind: 'card_payment.resolve', at }],
      announced: false,
    };
  }
  const settled: StoredCardPayment = { ...payment, openChargeId: null };
  if (outcome.status === 'void')
    return { previous: payment, payment: settled, transaction: null, due: [], announced: false };
  if (outcome.status === 'approved') return paid(payment, settled, { siblings, account, now });

  const declinedCharges = payment.declinedCharges + 1;
  const declined: StoredCardPayment = { ...settled, declinedCharges, declineReason: outcome.reason };
  const fails = payment.status === 'pending' && (outcome.final || declinedCharges >= MAX_DECLINED_CHARGES);
  if (!fails)
    return {
      previous: payment,
      payment: declined,
      transaction: null,
      due: [],
      announced: false,
    };
  return step(payment, { ...declined, failureReason: outcome.reason }, 'failed');
}

function paid(
  payment: StoredCardPayment,
  settled: StoredCardPayment,
  { siblings, account, now }: { siblings: readonly StoredCardPayment[]; account: AccountSettings; now: Date },
): CardPaymentChange {
  const releaseAt = new Date(now.getTime() + account.cardReleaseDays * 86_400_000);
  const doublyPaid = siblings.some(wasPaid);
  return step(
    payment,
    { ...settled, paidChargeId: payment.openChargeId, paidAt: now, paidLate: now >= payment.expiresAt },
    'paid',
    {
      transaction: ledgerTransaction(`card_payment.paid:${payment.orderCode}`, [
        { from: 'acquirer', to: 'merchant_pending', amount: payment.amountCents },
      ]),
      due: [
        { kind: 'card_payment.release', at: releaseAt },
        // Two payments of one attempt: the payer gets the second back at once.
        ...(doublyPaid ? [{ kind: 'card_payment.refund' as const, at: now }] : []),
      ],
    },
  );
}

/** At its instant, and not before: an open charge may still be approved later, which `paidLate` tells. */
export function decideExpire(payment: StoredCardPayment, now: Date): CardPaymentChange | null {
  if (payment.status !== 'pending' || payment.expiresAt > now) return null;
  return step(payment, payment, 'expired');
}

/** The sale goes from `merchant_pending` to the balance; what the merchant owes is settled first. */
export function decideRelease(
  payment: StoredCardPayment,
  balances: Balances,
  now: Date,
): CardPaymentChange | null {
  if (payment.status !== 'paid' || payment.releasedAt) return null;
  const transaction = ledgerTransaction(
    `card_payment.released:${payment.orderCode}`,
    creditWithRecovery('merchant_pending', payment.amountCents, balances),
  );
  return {
    previous: payment,
    payment: { ...payment, releasedAt: now },
    transaction,
    due: [],
    announced: false,
  };
}

/** From where the sale lies; what the balance no longer covers, the merchant owes. */
export function decideRefund(
  payment: StoredCardPayment,
  balances: Balances,
  now: Date,
): CardPaymentChange | null {
  if (payment.status !== 'paid') return null;
  const fromBalance = Math.min(payment.amountCents, balances.merchant_balance);
  const transaction = ledgerTransaction(
    `card_payment.refunded:${payment.orderCode}`,
    payment.releasedAt
      ? [
          { from: 'merchant_balance', to: 'acquirer', amount: fromBalance },
          { from: 'merchant_receivable', to: 'acquirer', amount: payment.amountCents - fromBalance },
        ]
      : [{ from: 'merchant_pending', to: 'acquirer', amount: payment.amountCents }],
  );
  return step(payment, { ...payment, refundedAt: now }, 'refunded', { transaction });
}

function step(
  previous: StoredCardPayment,
  next: StoredCardPayment,
  status: CardPaymentStatus,
  { transaction, due = [] }: { transaction?: LedgerTransaction; due?: CardPaymentChange['due'] } = {},
): CardPaymentChange {
  if (!NEXT[previous.status].includes(status))
    throw new RangeError(`a card payment never goes from ${previous.status} to ${status}`);
  return {
    previous,
    payment: { ...next, status, version: previous.version + 1 },
    transaction: transaction ?? null,
    due,
    announced: true,
  };
}

export function customerOf(input: z.infer<typeof customerInput> | null | undefined): Customer | null {
  if (!input) return null;
  const given = Object.entries(input).filter(([, value]) => value != null);
  return given.length === 0 ? null : (Object.fromEntries(given) as Customer);
}

// ── In front of another service: what is known, held against what is said ───────────────────────

/** What the service, or whoever asked it, says of a payment. Null: nothing of that. */
export interface UpstreamCardPayment {
  orderCode: string;
  status: CardPaymentStatus | 'unknown' | null;
  amountCents: Cents | null;
  checkoutUrl?: string | null;
  description?: string | null;
  callbackUrl?: string | null;
  customer?: Customer | null;
  metadata?: string | null;
  successUrl?: string | null;
  cancelUrl?: string | null;
  createdAt?: Date | null;
  expiresAt?: Date | null;
  paidAt?: Date | null;
  paidLate?: boolean | null;
  refundedAt?: Date | null;
  failureReason?: string | null;
}

/** A payment as it is known from now on; with the status before, where subscribers get an update. */
export interface MirroredCardPayment {
  payment: CardPayment;
  changed: { from: CardPayment['status'] | null } | null;
}

/**
 * What is known after a claim; null where that is what was known before, or where the claim is of a payment that is not
 * known and says too little of it. What is known stays: a claim fills in what is missing, and moves the status where the
 * document lets it go, steps that nobody saw included; never back. A word that the document does not have is passed on
 * as `unknown`, and remembers where it came from. One of being paid with another amount moves nothing: it is kept and
 * shown, until one with the amount of the payment arrives.
 */
export function mergeUpstreamCardPayment(
  known: CardPayment | null,
  claim: UpstreamCardPayment,
  now: Date,
): MirroredCardPayment | null {
  if (!known && claim.amountCents === null) return null;
  const before = known && (known.status === 'unknown' ? (known.lastStatus ?? null) : known.status);
  const otherPaidCents = otherPaidAfter(known, claim);
  const isMoved = otherPaidCents === null || claim.status !== 'paid';
  const status = statusAfter(known?.status ?? null, before, isMoved ? claim.status : null);
  const createdAt = known?.createdAt ?? claim.createdAt ?? beginOf(claim.expiresAt) ?? null;
  // Whoever is told of a payment must know what is paid: these are kept as soon as they are known.
  const paidAt = known?.paidAt ?? (wasPaidBy(status) ? (claim.paidAt ?? null) : null);
  const told = (known && !known.expiryDerived ? known.expiresAt : null) ?? claim.expiresAt ?? null;
  const payment: CardPayment = {
    orderCode: claim.orderCode,
    version: known?.version ?? 1,
    status,
    ...(status === 'unknown' && { lastStatus: before }),
    amountCents: known?.amountCents ?? claim.amountCents!,
    ...(otherPaidCents !== null && { otherPaidCents }),
    checkoutUrl: known?.checkoutUrl ?? claim.checkoutUrl ?? null,
    description: known?.description ?? claim.description ?? null,
    callbackUrl: known?.callbackUrl ?? claim.callbackUrl ?? null,
    customer: moreOf(known?.customer, claim.customer),
    metadata: known?.metadata ?? claim.metadata ?? null,
    successUrl: known?.successUrl ?? claim.successUrl ?? null,
    cancelUrl: known?.cancelUrl ?? claim.cancelUrl ?? null,
    createdAt,
    ...(told
      ? { expiresAt: told }
      : {
          // 30 minutes after creation (2.3); after we came to know of it, where nobody tells when that was.
          expiresAt:
            known && !(known.createdAt === null && createdAt)
              ? known.expiresAt
              : plusMs(createdAt ?? now, CHECKOUT_SESSION_MS),
          expiryDerived: true,
        }),
    paidAt,
    paidLate:
      known?.paidLate ||
      ((isMoved ? claim.paidLate : null) ??
        (wasPaidBy(status) && (before === 'expired' || (!!paidAt && !!told && paidAt >= told)))),
    refundedAt: known?.refundedAt ?? (status === 'refunded' ? (claim.refundedAt ?? null) : null),
    failureReason: known?.failureReason ?? (status === 'failed' ? (claim.failureReason ?? null) : null),
  };
  if (known && isSame(known, payment)) return null;
  return {
    payment: known ? { ...payment, version: known.version + 1 } : payment,
    changed:
      known?.status === status && known.otherPaidCents === payment.otherPaidCents
        ? null
        : { from: known?.status ?? null },
  };
}

function otherPaidAfter(
  known: CardPayment | null,
  { status, amountCents }: UpstreamCardPayment,
): Cents | null {
  if (!known) return null;
  if (status !== 'paid' || amountCents === null) return known.otherPaidCents ?? null;
  return amountCents === known.amountCents ? null : amountCents;
}

function statusAfter(
  known: CardPayment['status'] | null,
  before: CardPaymentStatus | null,
  claimed: UpstreamCardPayment['status'],
): CardPayment['status'] {
  if (claimed === null) return known ?? 'unknown';
  if (before === null) return claimed;
  if (claimed === 'unknown') return isFinal(before) ? before : 'unknown';
  return claimed === before || canFollow(before, claimed) ? claimed : known!;
}

const wasPaidBy = (status: CardPayment['status']) => status === 'paid' || status === 'refunded';

function beginOf(expiresAt: Date | null | undefined): Date | null {
  return expiresAt ? plusMs(expiresAt, -CHECKOUT_SESSION_MS) : null;
}

/** When it came into the status that it has, as far as anybody has told. */
export function statusSince({ refundedAt, paidAt, createdAt, expiresAt }: CardPayment): Date {
  return refundedAt ?? paidAt ?? createdAt ?? plusMs(expiresAt, -CHECKOUT_SESSION_MS);
}

function moreOf(known: Customer | null | undefined, claimed: Customer | null | undefined): Customer | null {
  return customerOf({ ...claimed, ...known });
}

/** In what a caller is shown, or what another claim is held against. */
function isSame(left: CardPayment, right: CardPayment): boolean {
  const text = (payment: CardPayment) =>
    JSON.stringify(payment, Object.keys({ ...left, ...right, name: 0, email: 0, externalId: 0 }).sort());
  return text(left) === text(right);
}

const MINUTE_MS = 60_000;
/** So long after its expiry a payment may still be seen to be paid late; later than that, a webhook alone tells. */
const LATE_MS = 24 * 60 * MINUTE_MS;

/**
 * How often a payment that somebody follows is asked for, in milliseconds: a tenth of how long it has waited, so that a
 * fresh one is seen within seconds. Null where nothing that polling is for can come any more.
 */
export function pollInterval({ status, createdAt, expiresAt }: CardPayment, now: Date): number | null {
  if (status !== 'pending' && status !== 'expired' && status !== 'unknown') return null;
  const overMs = now.getTime() - expiresAt.getTime();
  if (overMs >= LATE_MS) return null;
  if (status === 'pending' && overMs < 0) {
    const ageMs = now.getTime() - (createdAt ?? plusMs(expiresAt, -CHECKOUT_SESSION_MS)).getTime();
    return between(3_000, ageMs / 10, MINUTE_MS);
  }
  return between(MINUTE_MS, overMs / 10, 10 * MINUTE_MS);
}

function between(least: number, value: number, most: number): number {
  return Math.round(Math.min(most, Math.max(least, value)));
}

// ── As an event's snapshot ──────────────────────────────────────────────────────────────────────

const INSTANTS = ['createdAt', 'expiresAt', 'paidAt', 'releasedAt', 'refundedAt'] as const;

/** A snapshot read back from JSON, where instants are text. */
export function cardPaymentFromJson(json: unknown): CardPayment {
  const payment: Record<string, unknown> = { ...(json as object) };
  for (const field of INSTANTS) if (payment[field]) payment[field] = new Date(payment[field] as string);
  return payment as unknown as CardPayment;
}
