import type { Cents } from '../../kernel/money.ts';
import type { Balances } from '../../state/ledger/postings.ts';
import {
  amountToRefund,
  beginDispute,
  beginRefund,
  type ClaimedAmounts,
  completeRefund,
  endDispute,
  failRefund,
  type RefundRequest,
  type RefundRules,
  type RefundStep,
} from '../receiving/model.ts';
import { type CardPaymentChange, step } from './decisions.ts';
import type { StoredCardPayment } from './model.ts';

/** The days after its payment in which a card payment can be refunded. */
export const REFUND_DAYS = 180;

const RULES: RefundRules = { name: 'card payment', days: REFUND_DAYS, rail: 'acquirer' };

/** Takes the amount of a refund from the sale. @throws PreconditionError, ValidationError, InsufficientFundsError */
export function decideRefundBegin(
  payment: StoredCardPayment,
  request: RefundRequest,
  state: { balances: Balances; now: Date },
): { change: CardPaymentChange; amountCents: Cents } {
  const amountCents = amountToRefund(payment, RULES, request, state.now);
  const { refundId, isAutomatic } = request;
  const begun = { refundId, ref: payment.orderCode, amountCents, ownCents: amountCents, isAutomatic };
  return { amountCents, change: insideStatus(payment, beginRefund(payment, begun, state.balances)) };
}

/** Records that the payer has received the amount; with the last part of it the payment is `refunded`. */
export function decideRefundCompleted(
  payment: StoredCardPayment,
  refund: { refundId: string; amountCents: Cents },
  now: Date,
): CardPaymentChange {
  const { amounts, transaction } = completeRefund(payment, RULES, { ...refund, ref: payment.orderCode });
  if (payment.status !== 'paid' || amounts.refundedCents < payment.amountCents)
    return insideStatus(payment, { amounts, transaction });
  return step(payment, { ...payment, ...amounts, refundedAt: now }, 'refunded', { transaction });
}

/** Returns the amount of a refused refund to the account where the sale is now. */
export function decideRefundFailed(
  payment: StoredCardPayment,
  refund: { refundId: string; amountCents: Cents; isAutomatic: boolean },
  balances: Balances,
): CardPaymentChange {
  const failed = { ...refund, ref: payment.orderCode, ownCents: refund.amountCents };
  return insideStatus(payment, failRefund(payment, failed, balances));
}

/**
 * Subtracts the amount of a dispute from the refundable amount; null if nothing is refundable. Nothing
 * changes if refunds under way hold the whole claim.
 */
export function decideDisputeBegin(
  payment: StoredCardPayment,
  claim: { claimedCents: Cents; days: number | null },
  now: Date,
): (ClaimedAmounts & { change: CardPaymentChange | null }) | null {
  const begun = beginDispute(payment, claim, now);
  if (!begun) return null;
  const { amounts, ...claimed } = begun;
  const change = claimed.amountCents > 0 ? insideStatus(payment, { amounts, transaction: null }) : null;
  return { ...claimed, change };
}

/** Adds the amount of a won dispute to the refundable amount again. */
export function decideDisputeEnd(payment: StoredCardPayment, amountCents: Cents): CardPaymentChange {
  return insideStatus(payment, { amounts: endDispute(payment, amountCents), transaction: null });
}

/** A step inside a status: an update of the refundable and the refunded amount. */
function insideStatus(
  previous: StoredCardPayment,
  {
    amounts,
    transaction,
  }: { amounts: Partial<StoredCardPayment>; transaction: RefundStep['transaction'] | null },
): CardPaymentChange {
  return {
    previous,
    payment: { ...previous, ...amounts, version: previous.version + 1 },
    transaction,
    due: [],
    announced: true,
  };
}
