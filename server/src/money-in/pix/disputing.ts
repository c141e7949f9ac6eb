import type { Cents } from '../../kernel/money.ts';
import { beginDispute, type ClaimedAmounts, endDispute } from '../receiving/model.ts';
import { change, type PixChange } from './decisions.ts';
import type { StoredPixResource } from './model.ts';

/** A claim of the payer's bank. */
export interface PixClaim {
  claimedCents: Cents;
  /** The days after the payment in which it can be claimed back; null: at any time. */
  days: number | null;
  /** The PIX that is claimed back; left out if the bank names the resource itself. */
  endToEndId?: string | undefined;
}

/**
 * Takes the amount of a dispute from what can be refunded; null if nothing of it can. It moves no share: a dispute holds
 * of the owner alone. There is no change where all of the claim is held by refunds under way.
 */
export function decideDisputeBegin<R extends StoredPixResource>(
  resource: R,
  { endToEndId, ...claim }: PixClaim,
  now: Date,
): (ClaimedAmounts & { change: PixChange<R> | null }) | null {
  // A PIX that was not accepted is sent back by itself.
  if (endToEndId !== undefined && endToEndId !== resource.endToEndId) return null;
  const begun = beginDispute(resource, claim, now);
  if (!begun) return null;
  const { amounts, ...claimed } = begun;
  return { ...claimed, change: claimed.amountCents > 0 ? change(resource, amounts, {}) : null };
}

/** Gives the amount of a won dispute back to what can be refunded. */
export function decideDisputeEnd<R extends StoredPixResource>(resource: R, amountCents: Cents): PixChange<R> {
  return change(resource, endDispute(resource, amountCents), {});
}
