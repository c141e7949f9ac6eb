import { isUnchanged } from '../kernel/objects.ts';
import { type MergedPayment, mergeDetails, type UpstreamDetails } from '../receiving/upstream-payment.ts';
import { type CardPayment, canFollow, isFinal } from './model.ts';

/** A payment as the service shows it in a response or a webhook, or as it was requested. Null: not shown. */
export interface UpstreamCardPayment extends UpstreamDetails {
  orderCode: string;
  canceledAt?: Date | null;
}

/**
 * Merges what the service shows into what is known, by `mergeDetails`; null where nothing changes, or where the payment is
 * unknown and too little of it is shown.
 */
export function mergeUpstreamCardPayment(
  known: CardPayment | null,
  claim: UpstreamCardPayment,
  now: Date,
): MergedPayment<CardPayment> | null {
  if (!known && claim.amountCents === null) return null;
  const details = mergeDetails(known, claim, { canFollow, isFinal }, now);
  const { status } = details;
  const canceledAt =
    known?.canceledAt ?? (status === 'expired' || status === 'refunded' ? claim.canceledAt : null);
  const payment: CardPayment = {
    orderCode: claim.orderCode,
    version: known?.version ?? 1,
    ...(canceledAt && { canceledAt }),
    ...details,
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
