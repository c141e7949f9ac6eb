import type { Cents } from '../../kernel/money.ts';
import { isUnchanged } from '../../kernel/objects.ts';
import { eventAt, lastStatusOf, type Merged, type UpstreamSource } from '../../kernel/upstream-source.ts';
import {
  announcedDoubt,
  feeOf,
  isCorrection,
  mergeDetails,
  type UpstreamDetails,
  wasPaidBy,
  withoutDoubt,
} from '../receiving/upstream-payment.ts';
import { type CardPayment, canFollow, isFinal } from './model.ts';

/** A payment as the service shows it in a response or a webhook, or as it was requested. Null: not shown. */
export interface UpstreamCardPayment extends UpstreamDetails {
  orderCode: string;
  canceledAt?: Date | null;
  feeCents?: Cents | null;
}

/**
 * Merges what the service shows into the known state, by `mergeDetails`; null if nothing changes, or if the
 * payment is unknown and too little of it is shown.
 */
export function mergeUpstreamCardPayment(
  known: CardPayment | null,
  claim: UpstreamCardPayment,
  now: Date,
  source: UpstreamSource = eventAt(now),
): Merged<CardPayment> | null {
  if (!known && claim.amountCents === null) return null;
  const payment = complete(mergeDetails(known, claim, { canFollow, isFinal }, now, source), known, claim);
  if (known && isUnchanged(known, payment)) return null;
  if (!known) return { resource: payment, changed: { from: null } };
  const isStep = !isUnchanged(withAmounts(withoutDoubt(known)), withAmounts(withoutDoubt(payment)));
  return {
    resource: isStep ? { ...payment, version: known.version + 1 } : payment,
    changed: isUnchanged(announcedMembers(known), announcedMembers(payment)) ? null : { from: known.status },
  };
}

/** Makes a payment of merged details, which it takes over: copied by a spread, they would cost more than the rest of the merge. */
function complete(
  details: ReturnType<typeof mergeDetails>,
  known: CardPayment | null,
  claim: UpstreamCardPayment,
): CardPayment {
  const { status } = details;
  const isCorrected = known !== null && isCorrection(lastStatusOf(known), status, { canFollow });
  const canceledAt =
    (isCorrected ? null : known?.canceledAt) ??
    (status === 'expired' || status === 'refunded' || status === 'failed' ? claim.canceledAt : null);
  const feeCents = known?.feeCents ?? feeOf(claim, details.amountCents);
  return Object.assign(details, {
    orderCode: claim.orderCode,
    version: known?.version ?? 1,
    ...(feeCents !== null && { feeCents }),
    ...(canceledAt && { canceledAt }),
    // The mirror of its order shows `orderStatus`: the service does not know the order.
    ...(known?.orderStatus && { orderStatus: known.orderStatus }),
  });
}

/** A payment with its amounts. One that becomes known as 0 is no change, nor is the fee of what is not paid. */
function withAmounts(payment: CardPayment) {
  return {
    ...payment,
    feeCents: wasPaidBy(lastStatusOf(payment)) ? (payment.feeCents ?? 0) : 0,
    refundedCents: payment.refundedCents ?? 0,
    refundingCents: payment.refundingCents ?? 0,
  };
}

/** The members whose changes subscribers get. */
function announcedMembers(payment: CardPayment) {
  const { status, feeCents, otherPaidCents, refundedCents, refundingCents } = withAmounts(payment);
  return { status, feeCents, otherPaidCents, refundedCents, refundingCents, ...announcedDoubt(payment) };
}
