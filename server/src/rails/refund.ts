import type { Cents } from '../kernel/money.ts';

/** The status of a refund at the rail that sends it. */
export type RefundStatus =
  /** `endToEndId`: the bank's identifier of the return; null for a card. */
  | { status: 'completed'; endToEndId: string | null }
  /** The refund is not decided yet; it is looked up again at `settlesAt`, or soon where that is null. */
  | { status: 'pending'; settlesAt: Date | null }
  /** Refused for good, for this id: the payer gets nothing. */
  | { status: 'failed'; reason: string };

/** A rail that gives payers their money back. */
export interface RefundRail {
  /**
   * Gives an amount back to the payer, or returns the status of a refund that was requested before: called again under its id
   * after a crash or a lost answer. `railChargeId` is the rail's name of what was paid: a card's charge, or the end-to-end id of
   * a PIX.
   */
  refund(refund: { id: string; railChargeId: string; amountCents: Cents }): Promise<RefundStatus>;
}
