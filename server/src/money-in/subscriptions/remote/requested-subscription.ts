import { type CreateSubscriptionInput, detailsOf, type Subscription } from '../model.ts';
import { takesAmount, type UpstreamSubscription } from '../upstream-subscription.ts';

/** The request to the service, stored before it is sent. */
export type WantedSubscription = Pick<
  Subscription,
  'description' | 'customer' | 'metadata' | 'successUrl' | 'cancelUrl' | 'language' | 'endsAfterCycles'
> &
  Pick<CreateSubscriptionInput, 'valueCents' | 'interval'>;

export function toWanted(input: Omit<CreateSubscriptionInput, 'idempotencyKey'>): WantedSubscription {
  return {
    valueCents: input.valueCents,
    interval: input.interval,
    ...detailsOf(input),
  };
}

/** The body of the request, which does not contain the language. */
export function bodyOf({ language: _, ...wanted }: WantedSubscription): object {
  return wanted;
}

/**
 * The reason why the answer does not belong to the request, or must not reach a payer; null if it may. A code
 * with another interval would authorize other debits.
 */
export function contradictionOf(claim: UpstreamSubscription, wanted: WantedSubscription): string | null {
  if (claim.amountCents !== wanted.valueCents) return 'another amount, or none';
  if (claim.interval !== wanted.interval) return 'another interval, or none';
  if (claim.endsAfterCycles !== wanted.endsAfterCycles) return 'another number of cycles';
  const isOpen = claim.status === null || claim.status === 'pending' || claim.status === 'unknown';
  const isFit = claim.brCode !== null && takesAmount(claim.brCode, wanted.valueCents);
  return isOpen && !isFit ? 'no code whose checksum holds and whose amount fits' : null;
}

/** A created subscription: the request is more exact than the response. */
export function createdClaim(
  claim: UpstreamSubscription,
  { valueCents: _, ...wanted }: WantedSubscription,
  at: Date,
): UpstreamSubscription {
  return {
    ...claim,
    ...wanted,
    status: claim.status ?? 'pending',
    createdAt: claim.createdAt ?? at,
  };
}
