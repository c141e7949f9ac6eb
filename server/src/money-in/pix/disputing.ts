import type { Cents } from '../../kernel/money.ts';
import { beginDispute, type ClaimedAmounts, endDispute } from '../receiving/model.ts';
import { change, type PixChange } from './decisions.ts';
import type { StoredPixResource } from './model.ts';

/** A claim of the payer's bank. */
export interface PixClaim {
  claimedCents: Cents;
  /** The days after the payment in which it can be claimed back; null: at any time. */
  days: number | null;
  /** The claimed PIX; omitted if the bank names the resource itself. */
  endToEndId?: string | undefined;
}

/**
 * Subtracts the amount of a dispute from the refundable amount; null if nothing is refundable. It moves no
 * share, because a dispute holds money of the owner alone. Nothing changes if refunds under way hold the
 * whole claim.
 */
export function decideDisputeBegin<R extends StoredPixResource>(
  resource: R,
  { endToEndId, ...claim }: PixClaim,
  now: Date,
): (ClaimedAmounts & { change: PixChange<R> | null }) | null {
  // A PIX that was not accepted is returned automatically.
  if (endToEndId !== undefined && endToEndId !== resource.endToEndId) return null;
  const begun = beginDispute(resource, claim, now);
  if (!begun) return null;
  const { amounts, ...claimed } = begun;
  return { ...claimed, change: claimed.amountCents > 0 ? change(resource, amounts, {}) : null };
}

/** Adds the amount of a won dispute to the refundable amount again. */
export function decideDisputeEnd<R extends StoredPixResource>(resource: R, amountCents: Cents): PixChange<R> {
  return change(resource, endDispute(resource, amountCents), {});
}
