import { plusMs } from '../kernel/clock.ts';
import type { Cents } from '../kernel/money.ts';
import {
  type CardPayment,
  type CardPaymentStatus,
  CHECKOUT_SESSION_MS,
  type Customer,
  canFollow,
  customerOf,
  isFinal,
} from './model.ts';

/** A payment as the service shows it in a response or a webhook, or as it was requested. Null: not shown. */
export interface UpstreamCardPayment {
  orderCode: string;
  status: CardPaymentStatus | 'unknown' | null;
  amountCents: Cents | null;
  checkoutUrl?: string | null;
  description?: string | null;
  callbackUrl?: string | null;
  customer?: Customer | null;
  metadata?: string | null;
  /** The number in this server's own request: the service does not show it. */
  externalId?: string | null;
  successUrl?: string | null;
  cancelUrl?: string | null;
  createdAt?: Date | null;
  expiresAt?: Date | null;
  paidAt?: Date | null;
  paidLate?: boolean | null;
  refundedAt?: Date | null;
  canceledAt?: Date | null;
  refundedCents?: Cents | null;
  refundableCents?: Cents | null;
  failureReason?: string | null;
}

/** A reconciled payment; with the status before, where subscribers get an update. */
export interface MirroredCardPayment {
  payment: CardPayment;
  changed: { from: CardPayment['status'] | null } | null;
}

/**
 * Merges what the service shows into what is known; null where nothing changes, or where the payment is unknown and
 * too little of it is shown. Known values stay: the claim fills in what is missing and moves the status forward as
 * the document allows, over statuses that were not observed, and never back. A word that the document does not have
 * becomes `unknown`, and the last known status is remembered. A claim that the payment is paid with another amount
 * moves nothing: the other amount is stored and shown until a claim with the payment's own amount arrives.
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
  // A subscriber must see when it was paid, so this is stored as soon as it is known.
  const paidAt = known?.paidAt ?? (wasPaidBy(status) ? (claim.paidAt ?? null) : null);
  const canceledAt =
    known?.canceledAt ?? (status === 'expired' || status === 'refunded' ? claim.canceledAt : null);
  const expiresAt = (known && !known.expiryDerived ? known.expiresAt : null) ?? claim.expiresAt ?? null;
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
    externalId: known?.externalId ?? claim.externalId ?? null,
    successUrl: known?.successUrl ?? claim.successUrl ?? null,
    cancelUrl: known?.cancelUrl ?? claim.cancelUrl ?? null,
    createdAt,
    ...(expiresAt
      ? { expiresAt }
      : {
          // 30 minutes after creation (2.3), or after the payment was first seen where its creation is unknown.
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
        (wasPaidBy(status) && (before === 'expired' || (!!paidAt && !!expiresAt && paidAt >= expiresAt)))),
    refundedAt: known?.refundedAt ?? (status === 'refunded' ? (claim.refundedAt ?? null) : null),
    ...(canceledAt && { canceledAt }),
    ...refundsAfter(known, claim),
    failureReason: known?.failureReason ?? (status === 'failed' ? (claim.failureReason ?? null) : null),
  };
  if (known && isUnchanged(known, payment)) return null;
  // The amounts that refunds take are no step of the payment's own, which alone has a version and an event.
  const { refundedCents, refundingCents } = known ?? payment;
  const isStep = known !== null && !isUnchanged(known, { ...payment, refundedCents, refundingCents });
  return {
    payment: isStep ? { ...payment, version: known.version + 1 } : payment,
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

/**
 * The refunded amounts of a payment that is or was paid, where the service shows them and they fit its amount. A part that
 * was given back stays so.
 */
function refundsAfter(
  known: CardPayment | null,
  { status, refundedCents, refundableCents }: UpstreamCardPayment,
): Pick<CardPayment, 'refundedCents' | 'refundingCents'> {
  const before = {
    refundedCents: known?.refundedCents ?? null,
    refundingCents: known?.refundingCents ?? null,
  };
  const amountCents = known?.amountCents;
  if (amountCents === undefined || refundedCents == null || refundedCents > amountCents) return before;
  const refunded = Math.max(before.refundedCents ?? 0, refundedCents);
  const isOpen = status === 'paid' && refundableCents != null;
  return {
    refundedCents: refunded,
    refundingCents: isOpen ? Math.max(0, amountCents - refunded - refundableCents) : 0,
  };
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

function moreOf(known: Customer | null | undefined, claimed: Customer | null | undefined): Customer | null {
  return customerOf({ ...claimed, ...known });
}

/** Whether two states are the same to callers and to later claims. */
function isUnchanged(left: CardPayment, right: CardPayment): boolean {
  const text = (payment: CardPayment) =>
    JSON.stringify(
      payment,
      Object.keys({ ...left, ...right, name: 0, email: 0, externalId: 0, taxId: 0 }).sort(),
    );
  return text(left) === text(right);
}
