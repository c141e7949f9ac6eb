import type { Cents } from '../kernel/money.ts';

/** The status of a refund at the rail that sends it. */
export type RefundStatus =
  /** `endToEndId`: the bank's identifier of the return; null for a card. */
  | { status: 'completed'; endToEndId: string | null }
  /** The refund is not decided yet. The next lookup is at `settlesAt`, or soon if that is null. */
  | { status: 'pending'; settlesAt: Date | null }
  /** The refund with this id is refused for good: the payer gets nothing. */
  | { status: 'failed'; reason: string };

/** A rail that gives payers their money back. */
export interface RefundRail {
  /**
   * Refunds an amount to the payer, or returns the status of an earlier request with the same id: it is
   * called again after a crash or a lost answer. `railChargeId` is the rail's name of the payment: a charge
   * of a card, or the end-to-end id of a PIX.
   */
  refund(refund: { id: string; railChargeId: string; amountCents: Cents }): Promise<RefundStatus>;
}
