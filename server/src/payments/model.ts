import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  CHECKOUT_SESSION_MS,
  type CheckoutGrant,
  type Customer,
  checkoutDetails,
  type StartCheckoutInput,
} from '../card-payments/model.ts';
import { plusMs } from '../kernel/clock.ts';
import { UnavailableError, UpstreamError, ValidationError } from '../kernel/errors.ts';
import { type Cents, isCents } from '../kernel/money.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import { idempotencyKeyText, requiredOr } from '../kernel/text.ts';
import { productIdText } from '../products/model.ts';
import type { PaymentStatus, ReturnCause } from '../receiving/model.ts';

/** The methods of a payment of this family. */
export const PAYMENT_METHODS = ['pix', 'ltc'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

export const NEXT: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  pending: ['paid', 'failed', 'expired'],
  // The bank holds the money of a late PIX, and the clock does not.
  expired: ['paid'],
  paid: ['refunded'],
  refunded: [],
  failed: [],
};

/** Names a payment: by the given 32 hex digits, else by random ones. */
export function newPaymentId(digits: string | null): string {
  return `psa_${digits ?? randomUUID().replaceAll('-', '')}`;
}

/** Whether a text has the form of a payment's id (the document's section 2.1): `psa_` and 32 hex digits. */
export function isPaymentId(text: string): boolean {
  return /^psa_[0-9a-f]{32}$/.test(text);
}

/** Whether a text can be the id of a payment of any service: of its form the document shows the beginning alone. */
export function isAnyPaymentId(text: string): boolean {
  return /^psa_(?!sub_)[A-Za-z0-9_-]{1,64}$/.test(text);
}

export const paymentIdText = z
  .string()
  .refine(isPaymentId, 'must be psa_ and 32 hex digits, in lower case')
  .meta({ description: 'psa_ and 32 hex digits', examples: ['psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'] });

/** The bank's identifier of the payment's code: the hex digits of its id. */
export function txidOf(paymentId: string): string {
  return paymentId.slice('psa_'.length);
}

/** Money that came for a payment and is sent back. */
export interface ReturnedCredit {
  /** The bank's identifier of the PIX that came. */
  endToEndId: string;
  amountCents: Cents;
  /** `unknown` stands for a cause that only a newer version has. */
  cause: ReturnCause | 'unknown';
  receivedAt: Date;
  /** Null while the bank is sending it back. */
  returnedAt: Date | null;
}

/** A payment by PIX (the document's section 2.5), as far as it is known. All instants are in UTC. */
export interface Payment {
  /** `psa_` and 32 hex digits. */
  paymentId: string;
  /** A number that grows by one with each change: of two answers the larger is the newer. */
  version: number;
  /** `unknown` stands for a word of the service that the document does not have. */
  status: PaymentStatus | 'unknown';
  /** The last known status while the status is `unknown`; null where there was none. */
  lastStatus?: PaymentStatus | null;
  method: PaymentMethod | 'unknown';
  amountCents: Cents;
  /** Another amount with which the service has reported it paid; left out where there is none. */
  otherPaidCents?: Cents;
  /** The part that the service keeps. Null where it does not tell. */
  feeCents: Cents | null;
  description: string | null;
  callbackUrl: string | null;
  customer: Customer | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The merchant's order. Of its payments one is kept. */
  externalId: string | null;
  productId: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  /** Left out where this server hosts the page. */
  checkoutUrl?: string | null;
  /** PIX Copia e Cola. Null until the bank has given it. */
  brCode: string | null;
  /** The bank's identifier of the code, as the service shows it; left out where it is `txidOf` the payment. */
  txid?: string | null;
  createdAt: Date | null;
  expiresAt: Date;
  /** Set where the service does not show `expiresAt`, which is then derived. */
  expiryDerived?: boolean;
  /** When the payer paid, by the bank's clock. */
  paidAt: Date | null;
  paidLate: boolean;
  /** The bank's identifier of the PIX that paid it. */
  endToEndId: string | null;
  refundedAt: Date | null;
  /** Given back to the payer so far. Null where the service does not tell. */
  refundedCents: Cents | null;
  /** Held by refunds whose end is not known yet. Null where the service does not tell. */
  refundingCents: Cents | null;
  failureReason: string | null;
  /** The last credits that were sent back, oldest first: at most `SHOWN_RETURNS`. */
  returnedCredits: readonly ReturnedCredit[];
}

/** A payment of the embedded service. */
export interface StoredPayment extends Payment {
  status: PaymentStatus;
  method: 'pix';
  feeCents: Cents;
  createdAt: Date;
  /** The checkout attempt. If two of its payments are paid, the second is returned. */
  checkoutAttempt: string | null;
  refundedCents: Cents;
  refundingCents: Cents;
  /** The number of refunds that the merchant has requested. */
  refundCount: number;
  returnedCredits: readonly (ReturnedCredit & { cause: ReturnCause })[];
}

/** The number of returned credits that a payment shows. */
export const SHOWN_RETURNS = 20;

/**
 * Whether no later status can follow: REFUNDED or FAILED. A PAID payment may be refunded, an EXPIRED one paid late. A status
 * that only a newer version knows is not final.
 */
export function isFinal(status: PaymentStatus | 'unknown'): boolean {
  return NEXT[status as PaymentStatus]?.length === 0;
}

/** Whether `to` can follow `from`, directly or through statuses that were not observed. */
export function canFollow(from: PaymentStatus, to: PaymentStatus): boolean {
  return NEXT[from].some((next) => next === to || canFollow(next, to));
}

/** Whether a payer can pay the code at this moment. */
export function isPayable({ status, brCode }: Pick<Payment, 'status' | 'brCode'>): boolean {
  return status === 'pending' && brCode !== null;
}

/** The instant at which the payment reached its status, as far as it is known. */
export function statusSince(payment: Payment): Date {
  const { status, refundedAt, paidAt, expiresAt } = payment;
  return refundedAt ?? paidAt ?? (status === 'expired' ? expiresAt : paymentBeganAt(payment));
}

/** The instant of the creation, derived from the expiry where the service does not show it. */
export function paymentBeganAt({ createdAt, expiresAt }: Pick<Payment, 'createdAt' | 'expiresAt'>): Date {
  return createdAt ?? plusMs(expiresAt, -CHECKOUT_SESSION_MS);
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

const PAYMENT_MIN_CENTS = 1;
/** The upper limit of an amount, R$ 100 million, as of a card payment. */
const PAYMENT_MAX_CENTS = 10_000_000_000;

const paymentAmount = z
  .number({ error: requiredOr('must be an integer number of cents') })
  .refine(isCents, 'must be an integer number of cents')
  .refine((cents) => cents >= PAYMENT_MIN_CENTS, `must be at least ${PAYMENT_MIN_CENTS}`)
  .refine((cents) => cents <= PAYMENT_MAX_CENTS, `must be at most ${PAYMENT_MAX_CENTS}`)
  .meta({ type: 'integer', minimum: PAYMENT_MIN_CENTS, maximum: PAYMENT_MAX_CENTS });

export const createPaymentInput = checkoutDetails
  .extend({
    valueCents: paymentAmount.nullish().describe('The amount; not together with productId'),
    productId: productIdText
      .nullish()
      .describe('A product, whose price and name are the payment’s; not together with valueCents'),
    method: z
      .enum(PAYMENT_METHODS, `must be one of ${PAYMENT_METHODS.join(', ')}`)
      .nullish()
      .describe('pix where left out'),
    idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input give the same payment'),
  })
  .refine(({ valueCents, productId }) => (valueCents == null) !== (productId == null), {
    path: ['valueCents'],
    message: 'must be given, or productId in its place, and not both',
  });
export type CreatePaymentInput = z.infer<typeof createPaymentInput>;

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface PaymentFilter {
  status?: readonly PaymentStatus[] | undefined;
  method?: readonly PaymentMethod[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** A part of the list, newest first: the first or the last `limit` of those behind `after` and before `before`. */
export interface PaymentRange extends PaymentFilter {
  end: 'first' | 'last';
  limit: number;
  after?: number | undefined;
  before?: number | undefined;
}

/** The port of PIX payments. The embedded service knows every payment completely. */
export interface PaymentService<P extends Payment = Payment> {
  /** Refuses a text that cannot be a payment's id. @throws ValidationError */
  assertId(paymentId: string): void;
  /**
   * Creates a payment and gets its code from the bank. With an idempotency key, the same key and input give the same
   * payment, `replayed`.
   * @throws ValidationError, NotFoundError (the product), UnavailableError (PAYMENTS_NOT_CONFIGURED, NOT_IN_SANDBOX,
   *   LIMIT_REACHED; in front of another service NOT_OFFERED), IdempotencyError, UpstreamError (the bank gave no code:
   *   `lookupReference` is the payment's id)
   */
  create(tenant: Tenant, input: CreatePaymentInput): Promise<{ payment: P; replayed: boolean }>;
  /**
   * Starts the PIX payment that a checkout token describes, once for each attempt id. A single-use token whose PIX payment
   * is open gives that payment to a further attempt. A payment whose code has not come yet is returned without it.
   * @throws ValidationError, NotFoundError (its product was deleted), PermissionError (the token takes no PIX),
   *   UnavailableError (also: a single-use token whose order is paid), IdempotencyError
   */
  startCheckout(
    tenant: Tenant,
    token: { id: string; grant: CheckoutGrant },
    input: StartCheckoutInput,
  ): Promise<P>;
  /** Finds a payment; null where it does not exist or is another tenant's. @throws UnavailableError (NOT_OFFERED) */
  find(tenant: Tenant, paymentId: string): Promise<P | null>;
  /** Finds payments, in the order of the ids; null where not found. @throws UnavailableError (NOT_OFFERED) */
  findMany(tenant: Tenant, paymentIds: readonly string[]): Promise<(P | null)[]>;
  /**
   * Finds a payment with the version of the tenant's log at which its state holds.
   * @throws UnavailableError (NOT_OFFERED)
   */
  findWithVersion(tenant: Tenant, paymentId: string): Promise<{ version: number; payment: P } | null>;
  list(
    tenant: Tenant,
    range: PaymentRange,
  ): Promise<{ items: { place: number; payment: P }[]; more: boolean }>;
  /** Reads a page by offset, newest first, and the total count (the document's 2.1.6). */
  listPage(tenant: Tenant, page: { limit: number; offset: number }): Promise<{ items: P[]; total: number }>;
  count(tenant: Tenant, filter: PaymentFilter): Promise<number>;
}

/** The operations of the payer's page on one payment, whose id is all that it knows. */
export interface HostedPixCheckout {
  /**
   * Finds a payment. `paidElsewhere`: another payment of the same order was paid, so that money for this one is returned.
   * With `asksBank`, what has come is recorded before, where money may still come; a bank that does not answer changes nothing.
   */
  open(
    paymentId: string,
    options?: { asksBank: boolean },
  ): Promise<{ payment: StoredPayment; merchantName: string; paidElsewhere: boolean } | null>;
}

/** The side of the service that the bank calls. */
export interface PixReceiver {
  /**
   * Records every credit that the bank holds for a payment and that is not recorded yet: accepted, or sent back. Called at
   * least once for each credit; a repeated call changes nothing. Null where there is no such payment.
   */
  receive(tenant: Tenant, paymentId: string): Promise<StoredPayment | null>;
}

/** The passing of time in sandbox, whose tenants cannot wait for it. */
export interface PixSimulation {
  /**
   * Ends the time of a pending payment now, unless the bank holds money for it: its `expiresAt` is this moment. One that has
   * ended stays as it is. Null where there is none.
   */
  expireNow(tenant: Tenant, paymentId: string): Promise<StoredPayment | null>;
}

/** Registers the code of a payment at the bank, and returns the payment as it is afterwards. */
export type RegisterPayment = (tenant: Tenant, payment: StoredPayment) => Promise<StoredPayment>;

/** The kinds of tasks that payments have. */
export type PaymentTask = 'payment.register' | 'payment.expire' | 'payment.receive' | 'payment.return';

/** @throws ValidationError where a text has not the form that an id must have */
export function assertIdForm(hasForm: boolean, form: string): void {
  if (!hasForm) throw new ValidationError([{ path: 'paymentId', message: `must be ${form}` }]);
}

// ── Availability ────────────────────────────────────────────────────────────────────────────────

export interface AccountSettings {
  pixEnabled: boolean;
  /** The part of each PIX payment that the service keeps; the sandbox has none. */
  pixFeeCents: Cents;
}

/** @throws UnavailableError where the account takes no payments by the method, or is asked with a test key */
export function assertMethodAvailable(
  method: PaymentMethod,
  environment: Environment,
  { pixEnabled }: AccountSettings,
): void {
  if (method === 'ltc') {
    if (environment === 'sandbox')
      throw new UnavailableError('NOT_IN_SANDBOX', 'LTC payments are not available in sandbox');
    throw notConfigured('LTC');
  }
  if (!pixEnabled) throw notConfigured('PIX');
}

function notConfigured(method: string): UnavailableError {
  return new UnavailableError(
    'PAYMENTS_NOT_CONFIGURED',
    `Payments by ${method} are not configured for this account`,
  );
}

/** The answer to a creation without a code: the bank refused it for good, or has not given one in time. */
export function noCode({ paymentId, status }: Payment): UpstreamError {
  return status === 'failed'
    ? new UpstreamError('The bank refused this payment', {
        ...{ retryable: false, moneyMayHaveMoved: false, lookupReference: paymentId },
      })
    : new UpstreamError('The bank has not given a code yet: repeat the request with its idempotencyKey', {
        ...{ retryable: true, moneyMayHaveMoved: false, lookupReference: paymentId },
      });
}

// ── The snapshot of an event ─────────────────────────────────────────────────────────────────────

const INSTANTS = ['createdAt', 'expiresAt', 'paidAt', 'refundedAt'] as const;

/** Reads a snapshot back from JSON, where instants are text. */
export function paymentFromJson(json: unknown): Payment {
  const payment: Record<string, unknown> = { ...(json as object) };
  for (const field of INSTANTS) if (payment[field]) payment[field] = new Date(payment[field] as string);
  payment.returnedCredits = (payment.returnedCredits as unknown[]).map(returnedCreditFromJson);
  return payment as unknown as Payment;
}

export function returnedCreditFromJson(json: unknown): ReturnedCredit {
  const { receivedAt, returnedAt, ...rest } = json as Record<keyof ReturnedCredit, string>;
  return {
    ...(rest as unknown as ReturnedCredit),
    receivedAt: new Date(receivedAt),
    returnedAt: returnedAt ? new Date(returnedAt) : null,
  };
}
