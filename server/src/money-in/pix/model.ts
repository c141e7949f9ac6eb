import { z } from 'zod';
import { PreconditionError, UpstreamError, ValidationError } from '../../kernel/errors.ts';
import type { Language } from '../../kernel/language.ts';
import type { DetailFilter } from '../../kernel/list-filter.ts';
import type { FamilyReads } from '../../kernel/list-range.ts';
import { type Cents, isCents } from '../../kernel/money.ts';
import type { OrderStatus } from '../../kernel/orders.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { requiredOr } from '../../kernel/text.ts';
import type { Customer } from '../checkout/model.ts';
import type { DeliveredContent, Doubt, PaymentStatus, ReturnCause } from '../receiving/model.ts';

// The members that all resources paid by a PIX code share: payments and charges.

export const NEXT: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  pending: ['paid', 'failed', 'expired'],
  // The bank holds the money of a late PIX, whatever the clock says. The resource has failed if the money is
  // returned, because another payment of the order was paid before.
  expired: ['paid', 'failed'],
  paid: ['refunded'],
  refunded: [],
  failed: [],
};

/** The bank's identifier of a code: the hex digits of its resource's id, in any family. */
export function txidOf(id: string): string {
  return id.slice(id.lastIndexOf('_') + 1);
}

/** Money that arrived for a code and is sent back. */
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

/** A resource that a PIX code pays, as far as it is known. All instants are in UTC. */
export interface PixResource extends Doubt {
  /** A number that grows by one with each change: of two answers the larger is the newer. */
  version: number;
  /** `unknown` stands for a word of the service that the document does not have. */
  status: PaymentStatus | 'unknown';
  /** The last known status while the status is `unknown`; null if there was none. */
  lastStatus?: PaymentStatus | null;
  amountCents: Cents;
  /** A different amount with which the service has reported it as paid; omitted if there is none. */
  otherPaidCents?: Cents;
  /** The part that the service keeps. Null if it does not report it. */
  feeCents: Cents | null;
  description: string | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The address of the page; omitted if this server hosts it. */
  checkoutUrl?: string | null;
  /**
   * The language of the page if its address names none. Omitted in a snapshot of an older version, and by
   * another service.
   */
  language?: Language | null;
  /** PIX Copia e Cola. Null until the bank has given it. */
  brCode: string | null;
  /** The bank's identifier of the code, as the service shows it; omitted if it is `txidOf` the resource. */
  txid?: string | null;
  createdAt: Date | null;
  expiresAt: Date;
  /** Set if the service does not show `expiresAt`, which is then derived. */
  expiryDerived?: boolean;
  /** The time of the payment, by the bank's clock. */
  paidAt: Date | null;
  paidLate: boolean;
  /**
   * The instant at which the merchant canceled it. Left out in a snapshot of an older version, and if another service
   * shows none.
   */
  canceledAt?: Date | null;
  /** The bank's identifier of the PIX that paid it. */
  endToEndId: string | null;
  refundedAt: Date | null;
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
  failureReason: string | null;
  /** The ids of its refunds, oldest first, as another service shows them; omitted if it does not report them. */
  refundIds?: readonly string[];
  /** The last credits that were sent back, oldest first: at most `SHOWN_RETURNS`. */
  returnedCredits: readonly ReturnedCredit[];
}

/** A resource of the embedded service that a PIX code pays. */
export interface StoredPixResource extends PixResource {
  status: PaymentStatus;
  feeCents: Cents;
  language: Language | null;
  createdAt: Date;
  canceledAt: Date | null;
  refundedCents: Cents;
  refundingCents: Cents;
  disputedCents: Cents;
  /** The number of refunds that the merchant has requested. */
  refundCount: number;
  returnedCredits: readonly (ReturnedCredit & { cause: ReturnCause })[];
}

/** The members that only another service's resources have. */
export type ShownElsewhere =
  | ('lastStatus' | 'otherPaidCents' | 'checkoutUrl' | 'txid' | 'expiryDerived' | 'refundIds')
  | ('unresolved' | 'claimedAt');

/**
 * A resource with a code, as far as the calls of the bank need it: the code pays it, or authorizes its
 * debits.
 */
export interface CodedResource {
  version: number;
  status: string;
  amountCents: Cents;
  brCode: string | null;
  expiresAt: Date;
  /** The time at which it closed its order; omitted if it has none. */
  paidAt?: Date | null;
  /** The bank's identifier of the credit that paid it; omitted if no single credit does. */
  endToEndId?: string | null;
  returnedCredits: StoredPixResource['returnedCredits'];
}

/** The debits that a code authorizes in addition to its own payment. */
export interface Recurrence {
  interval: 'weekly' | 'monthly' | 'quarterly' | 'semiannual' | 'yearly';
  /** Null: until it is canceled. */
  endsAfterCycles: number | null;
}

/** The number of returned credits that a resource shows. */
export const SHOWN_RETURNS = 20;

/**
 * Whether no later status can follow: REFUNDED or FAILED. A PAID resource may be refunded, an EXPIRED one
 * paid late. A status that only a newer version knows is not final.
 */
export function isFinal(status: PaymentStatus | 'unknown'): boolean {
  return NEXT[status as PaymentStatus]?.length === 0;
}

/** Whether `to` can follow `from`, directly or through statuses that were not observed. */
export function canFollow(from: PaymentStatus, to: PaymentStatus): boolean {
  return NEXT[from].some((next) => next === to || canFollow(next, to));
}

/** Whether a payer can pay the code at this moment. */
export function isPayable({ status, brCode }: Pick<PixResource, 'status' | 'brCode'>): boolean {
  return status === 'pending' && brCode !== null;
}

/** The instant at which a resource reached its status, as far as it is known. `beganAt` is that of its creation. */
export function statusSince(resource: PixResource, beganAt: Date): Date {
  const { status, refundedAt, paidAt, canceledAt, expiresAt } = resource;
  return refundedAt ?? paidAt ?? canceledAt ?? (status === 'expired' ? expiresAt : beganAt);
}

// ── Creation ────────────────────────────────────────────────────────────────────────────────────

const MIN_CENTS = 1;
/** The upper limit of an amount, R$ 100 million, as of a card payment. */
const MAX_CENTS = 10_000_000_000;

/** The amount of a resource that a PIX code pays. */
export const pixAmount = z
  .number({ error: requiredOr('must be an integer number of cents') })
  .refine(isCents, 'must be an integer number of cents')
  .refine((cents) => cents >= MIN_CENTS, `must be at least ${MIN_CENTS}`)
  .refine((cents) => cents <= MAX_CENTS, `must be at most ${MAX_CENTS}`)
  .meta({ type: 'integer', minimum: MIN_CENTS, maximum: MAX_CENTS });

export interface AccountSettings {
  pixEnabled: boolean;
  /** The part of each PIX that the service keeps; the sandbox has none. */
  pixFeeCents: Cents;
}

/** @throws PreconditionError if the account takes no PIX */
export function assertPixEnabled({ pixEnabled }: AccountSettings): void {
  if (!pixEnabled) throw notConfigured('PIX');
}

/** The refusal of an account without a method. `message`: the other service's own text, which may give another reason. */
export function notConfigured(method: string, message: string | null = null): PreconditionError {
  return new PreconditionError(
    'PAYMENTS_NOT_CONFIGURED',
    message ?? `Payments by ${method} are not configured for this account`,
  );
}

/** The answer to a creation without a code: the bank has not given one yet, or its resource has ended without one. */
export function noCode(name: string, id: string, { status }: { status: string }): UpstreamError {
  const lookup = { lookupReference: id };
  return status === 'pending'
    ? new UpstreamError(
        'UPSTREAM_UNAVAILABLE',
        'The bank has not given a code yet: repeat the request with its idempotencyKey',
        lookup,
      )
    : new UpstreamError('BANK_REFUSED', `The bank refused this ${name}`, lookup);
}

// ── Reading ─────────────────────────────────────────────────────────────────────────────────────

/** The filter of a list. */
export interface PixFilter extends DetailFilter {
  status?: readonly PaymentStatus[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** The reading side of the port of a family. `Filter`: the filter of its lists. */
export interface PixReads<R extends PixResource, Filter> extends FamilyReads<R, Filter> {
  /** Refuses a text that cannot be an id. @throws ValidationError */
  assertId(id: string): void;
}

// ── The bank's and the payer's side ─────────────────────────────────────────────────────────────

/** The kinds of tasks that codes have. */
export type PixTask = 'pix.register' | 'pix.expire' | 'pix.receive' | 'pix.return';

/** A resource as the page of its payer shows it. */
export interface HostedPix {
  id: string;
  version: number;
  status: PaymentStatus;
  amountCents: Cents;
  description: string | null;
  brCode: string | null;
  expiresAt: Date;
  paidAt: Date | null;
  paidLate: boolean;
  /** The time at which the merchant canceled it; null also if a merchant cannot cancel it. */
  canceledAt: Date | null;
  refundedAt: Date | null;
  refundedCents: Cents;
  returnedCredits: readonly ReturnedCredit[];
  /**
   * Whether it has failed because its money arrived after another payment of the order; omitted if it has no
   * order.
   */
  returned?: boolean;
  /** The shop's addresses, to which the payer returns. */
  successUrl: string | null;
  cancelUrl: string | null;
  language: Language | null;
  /** The debits that the code authorizes; left out if it authorizes none. */
  recurrence?: Recurrence & {
    nextDueAt: Date | null;
    /** Whether the recurrence has ended, so that nothing more is debited. */
    isOver: boolean;
  };
}

/** The operations of the payer's page on one resource. The page knows only the id. */
export interface HostedPixCheckout {
  /**
   * Finds a resource. `orderStatus`: the status of an order that another payment has paid, so that money for
   * this one is returned. With `asksBank`, new credits are recorded first, if any can still arrive; a bank
   * that does not answer changes nothing. `delivered`: the content that a paid resource got.
   */
  open(
    id: string,
    options?: { asksBank: boolean },
  ): Promise<{
    accountId: string;
    payment: HostedPix;
    merchantName: string;
    orderStatus: OrderStatus | null;
    delivered: readonly DeliveredContent[];
  } | null>;
}

/** The side of the service that the bank calls, for the resources of one family. */
export interface PixReceiver<R extends CodedResource = StoredPixResource> {
  /**
   * Records every unrecorded credit that the bank holds for a resource: accepted, or sent back. It is called
   * at least once for each credit; a repeated call changes nothing. Null if the resource does not exist.
   */
  receive(tenant: Tenant, id: string): Promise<R | null>;
}

/** The side of the service that the bank calls with a code alone: the bank knows no ids of resources. */
export interface PixCodeReceiver {
  /**
   * Records every unrecorded credit that the bank holds for a code. Returns the resource of the code; null if
   * the tenant has no such code.
   */
  receiveByTxid(tenant: Tenant, txid: string): Promise<HostedPix | null>;
}

/** The operations that play the passing of time, for tenants of the sandbox. */
export interface PixSimulation<R extends CodedResource = StoredPixResource> {
  /**
   * Ends the time of a pending resource now, unless the bank holds money for it: its `expiresAt` becomes this
   * moment. A resource that has ended stays as it is. Null if it does not exist.
   */
  expireNow(tenant: Tenant, id: string): Promise<R | null>;
}

/** Registers the code of a resource at the bank, and returns the resource as it is afterwards. */
export type RegisterCode<R extends CodedResource> = (tenant: Tenant, resource: R) => Promise<R>;

/** The payer's data for the bank, as far as the merchant has given them. */
export type Payer = Customer | null;

/** @throws ValidationError if a text has not the form that an id must have */
export function assertIdForm(path: string, hasForm: boolean, form: string): void {
  if (!hasForm) throw new ValidationError([{ path, message: `must be ${form}` }]);
}

// ── The snapshot of an event ─────────────────────────────────────────────────────────────────────

/** The members that are instants. */
type InstantOf<R> = { [Member in keyof R]-?: Date extends R[Member] ? Member : never }[keyof R] & string;

const INSTANTS = Object.keys({
  createdAt: true,
  expiresAt: true,
  paidAt: true,
  refundedAt: true,
  canceledAt: true,
  claimedAt: true,
} satisfies Record<InstantOf<PixResource>, true>);

/** Reads a snapshot back from JSON, where instants are text. `own`: those that only the family has. */
export function pixResourceFromJson<R extends PixResource>(
  json: unknown,
  ...own: Exclude<InstantOf<R>, InstantOf<PixResource>> extends never
    ? []
    : [Record<Exclude<InstantOf<R>, InstantOf<PixResource>>, true>]
): R {
  const resource: Record<string, unknown> = { ...(json as object) };
  for (const field of [...INSTANTS, ...own.flatMap(Object.keys)])
    if (resource[field]) resource[field] = new Date(resource[field] as string);
  resource.returnedCredits = (resource.returnedCredits as unknown[]).map(returnedCreditFromJson);
  return resource as unknown as R;
}

export function returnedCreditFromJson(json: unknown): ReturnedCredit {
  const { receivedAt, returnedAt, ...rest } = json as Record<keyof ReturnedCredit, string>;
  return {
    ...(rest as unknown as ReturnedCredit),
    receivedAt: new Date(receivedAt),
    returnedAt: returnedAt ? new Date(returnedAt) : null,
  };
}
