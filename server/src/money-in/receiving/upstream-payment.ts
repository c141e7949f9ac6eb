import { plusMs } from '../../kernel/clock.ts';
import type { Language } from '../../kernel/language.ts';
import type { Cents } from '../../kernel/money.ts';
import { lastStatusOf, prevails, type UpstreamSource } from '../../kernel/upstream-source.ts';
import { CHECKOUT_SESSION_MS, type Customer, customerOf } from '../checkout/model.ts';
import type { Doubt, PaymentStatus } from './model.ts';

// Merges another service's description of a payment, by any method, into the known state.

/** The members of a payment that the service shows in a response or a webhook, or that were requested. Null: not shown. */
export interface UpstreamDetails {
  status: PaymentStatus | 'unknown' | null;
  amountCents: Cents | null;
  checkoutUrl?: string | null;
  description?: string | null;
  callbackUrl?: string | null;
  customer?: Customer | null;
  metadata?: string | null;
  /** The number from this server's own request, which the service does not show. */
  externalId?: string | null;
  successUrl?: string | null;
  cancelUrl?: string | null;
  /** The language from this server's own request, which the service does not get. */
  language?: Language | null;
  createdAt?: Date | null;
  expiresAt?: Date | null;
  paidAt?: Date | null;
  paidLate?: boolean | null;
  refundedAt?: Date | null;
  refundedCents?: Cents | null;
  refundableCents?: Cents | null;
  failureReason?: string | null;
  returned?: boolean | null;
  keptPayment?: string | null;
}

/** The members of a payment that are merged in the same way for each method. */
export interface PaymentDetails extends Doubt {
  status: PaymentStatus | 'unknown';
  lastStatus?: PaymentStatus | null;
  amountCents: Cents;
  otherPaidCents?: Cents;
  checkoutUrl?: string | null;
  description: string | null;
  callbackUrl: string | null;
  customer: Customer | null;
  metadata: string | null;
  externalId?: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  language?: Language | null;
  createdAt: Date | null;
  expiresAt: Date;
  expiryDerived?: boolean;
  paidAt: Date | null;
  paidLate: boolean;
  refundedAt: Date | null;
  refundedCents: Cents | null;
  refundingCents: Cents | null;
  failureReason: string | null;
  returned?: boolean;
  keptPayment?: string | null;
}

/** The transitions of a method's payments. */
export interface Transitions {
  /** Whether `to` can follow `from`, directly or through statuses that were not observed. */
  canFollow(from: PaymentStatus, to: PaymentStatus): boolean;
  isFinal(status: PaymentStatus): boolean;
}

/**
 * Merges what the service shows into the known state; one of the two names the amount. Known values stay, and
 * the claim adds missing ones.
 *
 * - A claim moves the status forward along the transitions, across statuses that were not observed. Only a newer
 * answer of the service itself moves it in another direction, even from an end, and removes the members that
 * belong to that end.
 * - A status that the document does not have becomes `unknown`, and the last known one is kept beside it.
 * - A claim that the payment is paid with another amount does not move the status: the other amount is stored
 * and shown until a claim with the payment's own amount arrives.
 * - A webhook that says that the payment is paid, and names no amount, does not move the status either: the
 * payment stays `unresolved` until the service answers.
 */
export function mergeDetails(
  known: PaymentDetails | null,
  claim: UpstreamDetails,
  transitions: Transitions,
  now: Date,
  source: UpstreamSource,
): PaymentDetails {
  const before = known && lastStatusOf<PaymentStatus>(known);
  const otherPaidCents = otherPaidAfter(known, claim);
  const isBare = source.by === 'event' && known !== null && claim.amountCents === null;
  const isMoved = claim.status !== 'paid' || (otherPaidCents === null && (!isBare || wasPaidBy(before)));
  const status = statusAfter(known, before, isMoved ? claim.status : null, { ...transitions, source });
  const isCorrected = isCorrection(before, status, transitions);
  const createdAt = known?.createdAt ?? claim.createdAt ?? beginOf(claim.expiresAt) ?? null;
  // A subscriber must see the instant of the payment, so it is stored as soon as it is known.
  const paidAt = (isCorrected ? null : known?.paidAt) ?? (wasPaidBy(status) ? (claim.paidAt ?? null) : null);
  const expiresAt = (known && !known.expiryDerived ? known.expiresAt : null) ?? claim.expiresAt ?? null;
  const language = known?.language ?? claim.language;
  const amountCents = known?.amountCents ?? claim.amountCents!;
  const doubt = { status: claim.status, isMoved, isOther: otherPaidCents !== null };
  // The order matters: a property added after a spread costs ten times as much as one before it.
  return {
    status,
    amountCents,
    checkoutUrl: known?.checkoutUrl ?? claim.checkoutUrl ?? null,
    description: known?.description ?? claim.description ?? null,
    callbackUrl: known?.callbackUrl ?? claim.callbackUrl ?? null,
    customer: customerOf({ ...claim.customer, ...known?.customer }),
    metadata: known?.metadata ?? claim.metadata ?? null,
    externalId: known?.externalId ?? claim.externalId ?? null,
    successUrl: known?.successUrl ?? claim.successUrl ?? null,
    cancelUrl: known?.cancelUrl ?? claim.cancelUrl ?? null,
    createdAt,
    // 30 minutes after creation (2.3), or after the payment was first seen where its creation is unknown.
    expiresAt:
      expiresAt ??
      (known && !(known.createdAt === null && createdAt)
        ? known.expiresAt
        : plusMs(createdAt ?? now, CHECKOUT_SESSION_MS)),
    paidAt,
    paidLate:
      (!isCorrected && known?.paidLate) ||
      ((isMoved ? claim.paidLate : null) ??
        (wasPaidBy(status) && (before === 'expired' || (!!paidAt && !!expiresAt && paidAt >= expiresAt)))),
    refundedAt:
      (isCorrected ? null : known?.refundedAt) ?? (status === 'refunded' ? (claim.refundedAt ?? null) : null),
    failureReason:
      (isCorrected ? null : known?.failureReason) ??
      (status === 'failed' ? (claim.failureReason ?? null) : null),
    ...refundsAfter(isCorrected ? null : known, claim, amountCents),
    // Omitted if there is none, so that the record of an earlier version does not change.
    ...(language && { language }),
    ...(!expiresAt && { expiryDerived: true }),
    ...(status === 'unknown' && { lastStatus: before }),
    ...(otherPaidCents !== null && { otherPaidCents }),
    ...returnAfter(isCorrected ? null : known, claim, status),
    ...doubtAfter(known, doubt, status, source),
  };
}

/** A payment without the instant of a webhook's claim. The service's confirmation of a claim changes that alone, and is not announced. */
export function withoutDoubt<P extends Doubt>(payment: P): Omit<P, 'claimedAt'> {
  const { claimedAt: _, ...rest } = payment;
  return rest;
}

/** The doubts that subscribers are notified about. */
export function announcedDoubt({ unresolved }: Doubt): Pick<Doubt, 'unresolved'> {
  return unresolved ? { unresolved } : {};
}

/** The doubts about a payment's status that remain after a claim. */
function doubtAfter(
  known: PaymentDetails | null,
  claim: Pick<UpstreamDetails, 'status'> & { isMoved: boolean; isOther: boolean },
  status: PaymentDetails['status'],
  { by, at }: UpstreamSource,
): Doubt {
  const hasEnded = status !== 'pending' && status !== 'unknown';
  const since = known?.status === status ? known.claimedAt : by === 'event' ? at : undefined;
  const isSaid = by === 'service' && claim.status === status && claim.isMoved;
  const isDenied = known !== null && wasPaidBy(known.status) && known.claimedAt !== undefined;
  const isClaimed = by === 'event' && claim.status === 'paid' && !claim.isOther;
  const isUnresolved = !wasPaidBy(status) && (known?.unresolved || isDenied || isClaimed);
  return {
    ...(hasEnded && since && !isSaid && { claimedAt: since }),
    ...(isUnresolved && { unresolved: true as const }),
  };
}

/** Builds the rule that says whether a status is an end, and the next one corrects it. */
export function isEndBefore(canFollow: Transitions['canFollow']) {
  return (status: PaymentDetails['status'], to: PaymentDetails['status']): boolean =>
    status !== 'pending' && status !== 'unknown' && isCorrection(status, to, { canFollow });
}

/** Whether a status contradicts the known one, so that what was recorded with the known one did not happen. */
export function isCorrection<Status extends string>(
  before: Status | null,
  status: Status | 'unknown',
  { canFollow }: { canFollow(from: Status, to: Status): boolean },
): boolean {
  return before !== null && status !== 'unknown' && status !== before && !canFollow(before, status);
}

/** The members about a returned payment, omitted if the service does not show them. */
function returnAfter(
  known: PaymentDetails | null,
  claim: UpstreamDetails,
  status: PaymentDetails['status'],
): Pick<PaymentDetails, 'returned' | 'keptPayment'> {
  if (status !== 'failed' && status !== 'expired') return {};
  const returned = claim.returned ?? known?.returned ?? null;
  const keptPayment = known?.keptPayment ?? claim.keptPayment ?? null;
  return { ...(returned !== null && { returned }), ...(keptPayment !== null && { keptPayment }) };
}

/** Whether a payment of this status was paid. */
export function wasPaidBy(status: PaymentStatus | 'unknown' | null): boolean {
  return status === 'paid' || status === 'refunded';
}

function otherPaidAfter(
  known: PaymentDetails | null,
  { status, amountCents }: Pick<UpstreamDetails, 'status' | 'amountCents'>,
): Cents | null {
  if (!known) return null;
  if (status !== 'paid' || amountCents === null) return known.otherPaidCents ?? null;
  return amountCents === known.amountCents ? null : amountCents;
}

/**
 * The refunded amounts of a payment that is or was paid, if the service shows them and they fit its amount. A
 * refunded amount never decreases.
 */
function refundsAfter(
  known: PaymentDetails | null,
  { status, refundedCents, refundableCents }: UpstreamDetails,
  amountCents: Cents,
): Pick<PaymentDetails, 'refundedCents' | 'refundingCents'> {
  const before = {
    refundedCents: known?.refundedCents ?? null,
    refundingCents: known?.refundingCents ?? null,
  };
  if (refundedCents == null || refundedCents > amountCents) return before;
  const refunded = Math.max(before.refundedCents ?? 0, refundedCents);
  const isOpen = status === 'paid' && refundableCents != null;
  return {
    refundedCents: refunded,
    refundingCents: isOpen ? Math.max(0, amountCents - refunded - refundableCents) : 0,
  };
}

function statusAfter(
  known: PaymentDetails | null,
  before: PaymentStatus | null,
  claimed: UpstreamDetails['status'],
  { canFollow, isFinal, source }: Transitions & { source: UpstreamSource },
): PaymentDetails['status'] {
  if (claimed === null) return known?.status ?? 'unknown';
  if (before === null) return claimed;
  if (claimed === 'unknown') return isFinal(before) ? before : 'unknown';
  if (claimed === before || canFollow(before, claimed)) return claimed;
  const claimedAt = known?.claimedAt;
  const isPaid = wasPaidBy(before);
  const isOlder = claimed === 'pending' || (isPaid && (claimed === 'expired' || claimedAt !== undefined));
  return prevails(source, { isOlder, isPaid, claimedAt }) ? claimed : known!.status;
}

function beginOf(expiresAt: Date | null | undefined): Date | null {
  return expiresAt ? plusMs(expiresAt, -CHECKOUT_SESSION_MS) : null;
}

/** The fee that the service shows, unless it is more than the amount. */
export function feeOf({ feeCents = null }: { feeCents?: Cents | null }, amountCents: Cents): Cents | null {
  return feeCents !== null && feeCents <= amountCents ? feeCents : null;
}
