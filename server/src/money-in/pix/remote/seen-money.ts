import type { SeenMove } from '../../../upstream/seen-money.ts';
import type { PixResource } from '../model.ts';

/** The refunds that a resource shows: with those that are under way, whose money has left the balance. */
export function refundOf(resource: PixResource): SeenMove[] {
  const { status, amountCents, refundedCents, refundingCents, refundedAt } = resource;
  const whole = status === 'refunded' ? amountCents : 0;
  const refunded = Math.max(whole, (refundedCents ?? 0) + (refundingCents ?? 0));
  return refunded === 0 ? [] : [{ kind: 'refund', amountCents: -refunded, feeCents: 0, at: refundedAt }];
}
