import type { z } from 'zod';
import {
  amountMembers,
  demandAmount,
  ONE_AMOUNT,
  refuseTwoOrders,
  withKnownAmount,
} from '../../kernel/aliases.ts';
import type { CheckoutGrant } from '../../kernel/caller.ts';
import { plusMs } from '../../kernel/clock.ts';
import { PreconditionError } from '../../kernel/errors.ts';
import { readableCode } from '../../kernel/ids.ts';
import type { Language } from '../../kernel/language.ts';
import type { DetailFilter } from '../../kernel/list-filter.ts';
import type { FamilyReads, ListRange } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { OrderStatus } from '../../kernel/orders.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import { idempotencyKeyText } from '../../kernel/text.ts';
import {
  CHECKOUT_SESSION_MS,
  type Customer,
  cardAmount,
  checkoutDetails,
  type StartCheckoutInput,
  type StartedCheckout,
} from '../checkout/model.ts';
import type { Doubt, PaymentStatus } from '../receiving/model.ts';

/** The statuses of a card payment (the document's section 3.2). */
export type CardPaymentStatus = PaymentStatus;

export const NEXT: Record<CardPaymentStatus, readonly CardPaymentStatus[]> = {
  pending: ['paid', 'failed', 'expired'],
  // A confirmation after the expiry is a payment, because the acquirer holds the money. The payment has
  // failed if the money is returned: another payment of the order was paid before, or this one was canceled.
  expired: ['paid', 'failed'],
  paid: ['refunded'],
  refunded: [],
  failed: [],
};

/** The fee of a card payment: the embedded service takes none. */
export const CARD_FEE_CENTS: Cents = 0;

/** Generates an order code of 120 random bits: the payer's page at this code needs no other secret. */
export function newOrderCode(): string {
  return `PSC-${readableCode(24)}`;
}

/** Whether a text has the form of this server's order codes. */
export function isOrderCode(text: string): boolean {
  return /^PSC-[0-9A-Z]{24}$/.test(text);
}

/** Whether a text can be an order code of any service, whose form the document does not show. */
export function isAnyOrderCode(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

/**
 * A card payment (the document's section 2.3) with its later states, as far as they are known: in front of another
 * service, from what that service has shown. All instants are in UTC.
 */
export interface CardPayment extends Doubt {
  orderCode: string;
  /**
   * A number that grows by one with each change of the payment's status or its order's: of two answers the
   * larger is the newer. Partial refunds change the amounts without it.
   */
  version: number;
  /** `unknown` stands for a word of the service that the document does not have. */
  status: CardPaymentStatus | 'unknown';
  /** The last known status while the status is `unknown`; null if there was none. */
  lastStatus?: CardPaymentStatus | null;
  amountCents: Cents;
  /** A different amount with which the service has reported the payment as paid; omitted if there is none. */
  otherPaidCents?: Cents;
  /** The fee that another service has reported; omitted if it has reported none, and in the embedded service. */
  feeCents?: Cents;
  /** The address of the page; omitted if this server hosts it. */
  checkoutUrl?: string | null;
  description: string | null;
  callbackUrl: string | null;
  customer: Customer | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The merchant's order, which keeps one of its payments. Omitted in a snapshot of an older version. */
  externalId?: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  /**
   * The language of the page if its address names none. Omitted in a snapshot of an older version, and by
   * another service.
   */
  language?: Language | null;
  createdAt: Date | null;
  expiresAt: Date;
  /** Set if the service does not show `expiresAt`, which is then derived. */
  expiryDerived?: boolean;
  paidAt: Date | null;
  paidLate: boolean;
  refundedAt: Date | null;
  /**
   * The time at which its money reached the balance. Omitted in remote mode: the upstream service does not
   * report it.
   */
  releasedAt?: Date | null;
  /** The time at which the merchant canceled it. Omitted in a snapshot of an older version, and in remote mode. */
  canceledAt?: Date | null;
  /**
   * The amount that completed refunds have returned; `refundingCents` has those under way. Null if the
   * service does not report it.
   */
  refundedCents: Cents | null;
  /**
   * The amount that unfinished refunds have taken from the balances. Null if the service does not report it.
   */
  refundingCents: Cents | null;
  /**
   * The amount that the payer's bank claims, without disputes that were won. Omitted if the service does not
   * report it.
   */
  disputedCents?: Cents;
  /** The acquirer's reason; `paid_elsewhere` or `canceled` for a payment whose money is returned. */
  failureReason: string | null;
  /** Omitted in a snapshot of an older version. */
  returned?: boolean;
  keptPayment?: string | null;
  /**
   * The status of its order, if another payment has paid the order while this one was open or had expired.
   */
  orderStatus?: OrderStatus | null;
  /** The acquirer's reason for the last declined card. It is unknown in front of another service. */
  declineReason?: string | null;
}

/** A payment of the embedded service. */
export interface StoredCardPayment extends CardPayment {
  orderStatus: OrderStatus | null;
  status: CardPaymentStatus;
  externalId: string | null;
  language: Language | null;
  /** The product that its checkout token sold; null if it sold none. */
  productId: string | null;
  returned: boolean;
  keptPayment: string | null;
  /** The checkout attempt. If two of its payments are paid, the second is returned. */
  checkoutAttempt: string | null;
  /** The charge whose outcome is not known yet. */
  openChargeId: string | null;
  /** The charge that was approved, which a refund or a return needs. */
  paidChargeId: string | null;
  declinedCharges: number;
  createdAt: Date;
  canceledAt: Date | null;
  releasedAt: Date | null;
  refundedCents: Cents;
  refundingCents: Cents;
  disputedCents: Cents;
  /** The number of refunds that the merchant has requested. */
  refundCount: number;
}

/**
 * Whether no later status can follow: REFUNDED or FAILED. A PAID payment may be refunded, an EXPIRED one paid late. A status
 * that only a newer version knows is not final.
 */
export function isFinal(status: CardPaymentStatus | 'unknown'): boolean {
  return NEXT[status as CardPaymentStatus]?.length === 0;
}

/** The instant at which the payment reached its status, as far as it is known. */
export function statusSince(payment: CardPayment): Date {
  const { status, refundedAt, paidAt, canceledAt, createdAt, expiresAt } = payment;
  const since = refundedAt ?? paidAt ?? canceledAt ?? (status === 'expired' ? expiresAt : createdAt);
  return since ?? plusMs(expiresAt, -CHECKOUT_SESSION_MS);
}

/** Whether `to` can follow `from`, directly or through statuses that were not observed. */
export function canFollow(from: CardPaymentStatus, to: CardPaymentStatus): boolean {
  return NEXT[from].some((next) => next === to || canFollow(next, to));
}

// ── Input (section 4.2, limits of section 8) ─────────────────────────────────────────────────────

export const createCardPaymentInput = checkoutDetails
  .extend({
    ...amountMembers(cardAmount, 'The amount'),
    idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input give the same payment'),
  })
  .superRefine(demandAmount)
  .superRefine(refuseTwoOrders)
  .transform(withKnownAmount)
  .meta(ONE_AMOUNT);
export type CreateCardPaymentInput = z.infer<typeof createCardPaymentInput>;

/** The number of declined cards after which a payment fails, so that nobody tests stolen numbers on it. */
export const MAX_DECLINED_CHARGES = 5;

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface CardPaymentFilter extends DetailFilter {
  status?: readonly CardPaymentStatus[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** Released from `pendingReleaseCents` to the balance: at this instant or later, and before the other. */
  releasedAfter?: Date | undefined;
  releasedBefore?: Date | undefined;
}

/**
 * A part of the list, newest first: the first or the last `limit` payments behind `after` and before
 * `before`.
 */
export type CardPaymentRange = CardPaymentFilter & ListRange;

/** The port of card payments. The embedded service knows every payment completely. */
export interface CardPaymentService<P extends CardPayment = CardPayment>
  extends FamilyReads<P, CardPaymentFilter> {
  /**
   * Creates a hosted card payment (section 4.2). With an idempotency key, the same key and input give the
   * same payment, `replayed`.
   * @throws ValidationError, PreconditionError (sandbox, or the account takes no cards), IdempotencyError; in front of
   *   another service PermissionError, RateLimitError, UpstreamError as well
   */
  create(tenant: Tenant, input: CreateCardPaymentInput): Promise<{ payment: P; replayed: boolean }>;
  /**
   * Starts the payment that a checkout token describes, once for each attempt id. A single-use token whose payment is
   * open gives that payment to a further start, as from a second device. `address` is the payer's.
   * @throws ValidationError, NotFoundError (its product was deleted), PreconditionError (also: a single-use token whose
   *   order is paid, or open with another amount), IdempotencyError, RateLimitError (too many cards of this network
   *   were declined)
   */
  startCheckout(
    tenant: Tenant,
    token: { id: string; grant: CheckoutGrant },
    input: StartCheckoutInput,
    address?: string | null,
  ): Promise<StartedCheckout<P>>;
  /**
   * Cancels a pending payment: it is expired at once. A charge that was under way is returned by itself if it is
   * approved. Repeated, it changes nothing: `replayed`.
   * @throws NotFoundError, PreconditionError (NOT_CANCELABLE; in front of another service NOT_OFFERED)
   */
  cancel(tenant: Tenant, orderCode: string): Promise<{ payment: P; replayed: boolean }>;
  /** The fee that the service takes of a payment: none, in the embedded service. Null if it is unknown. */
  feeCentsOf(payment: CardPayment): Cents | null;
  /** Rejects a filter by a field that this mode never knows. @throws PreconditionError (NOT_OFFERED) */
  assertFilter(filter: CardPaymentFilter): void;
}

/** An attempt to charge a card. */
export interface ChargeAttempt {
  tenant: Tenant;
  /** The checkout token that started the payment; null if an API key did. */
  tokenId: string | null;
  /** The payer's network address; null if it is unknown, and then nobody is held back. */
  address: string | null;
}

/** The outcome of an attempt. `unused`: it was not decided, or never reached the acquirer. */
export type AttemptOutcome = 'approved' | 'declined' | 'unused';

/**
 * A guard that holds back a network that tries one card after another. Counts hold over all instances. Each wait is
 * longer than the last; a token or an account with many declined cards makes all waits longer, and stops nobody.
 */
export interface CardTestingGuard {
  /** Returns when this payer may try a card again; null if now. It counts nothing. */
  peek(attempt: ChargeAttempt): Promise<Date | null>;
  /** Returns the same as `peek`, and on null counts the attempt as declined until `record` corrects it. */
  admit(attempt: ChargeAttempt): Promise<Date | null>;
  /** Records the outcome of an admitted attempt, once. An attempt that was decided late has no address. */
  record(attempt: ChargeAttempt, outcome: AttemptOutcome): Promise<void>;
}

// ── Availability ────────────────────────────────────────────────────────────────────────────────

export interface AccountSettings {
  cardPaymentsEnabled: boolean;
  cardReleaseDays: number;
}

/** @throws PreconditionError if the account takes no cards, or the key is a test key */
export function assertCardsAvailable(environment: Environment, account: AccountSettings): void {
  assertNotSandbox(environment);
  if (!account.cardPaymentsEnabled) throw cardsNotConfigured();
}

/** @throws PreconditionError */
export function assertNotSandbox(environment: Environment): void {
  if (environment === 'sandbox')
    throw new PreconditionError('NOT_IN_SANDBOX', 'Card payments are not available in sandbox');
}

/** The refusal of an account without card payments. `message`: the other service's own text, which may give another reason. */
export function cardsNotConfigured(message: string | null = null): PreconditionError {
  return new PreconditionError(
    'CARD_PAYMENTS_NOT_CONFIGURED',
    message ?? 'Card payments are not configured for this account',
  );
}

// ── The snapshot of an event ─────────────────────────────────────────────────────────────────────

const INSTANTS = [
  'createdAt',
  'expiresAt',
  'paidAt',
  'releasedAt',
  'refundedAt',
  'canceledAt',
  'claimedAt',
] as const;

/** Reads a snapshot back from JSON, where instants are text. */
export function cardPaymentFromJson(json: unknown): CardPayment {
  const payment: Record<string, unknown> = { ...(json as object) };
  for (const field of INSTANTS) if (payment[field]) payment[field] = new Date(payment[field] as string);
  // The snapshot comes from a version that refunded whole payments alone, or shows another service's payment.
  payment.refundedCents ??= null;
  payment.refundingCents ??= null;
  return payment as unknown as CardPayment;
}
