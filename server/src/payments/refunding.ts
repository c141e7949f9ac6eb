import type { Cents } from '../kernel/money.ts';
import type { Balances } from '../ledger/postings.ts';
import {
  beginRefund,
  completeRefund,
  failRefund,
  type Refundable,
  type RefundRequest,
  type RefundRules,
} from '../receiving/model.ts';
import { change, type PaymentChange, step } from './decisions.ts';
import type { StoredPayment } from './model.ts';

/** The days after its payment in which the bank sends a PIX back. */
export const REFUND_DAYS = 90;

const RULES: RefundRules = { name: 'payment', days: REFUND_DAYS, rail: 'pix_received' };

/** Takes the amount of a refund from the balance. @throws UnavailableError, ValidationError, InsufficientFundsError */
export function decideRefundBegin(
  payment: StoredPayment,
  request: RefundRequest,
  state: { balances: Balances; now: Date },
): { change: PaymentChange; amountCents: Cents } {
  const { amountCents, amounts, transaction } = beginRefund(refundableOf(payment), RULES, request, state);
  return { amountCents, change: change(payment, amounts, { transaction }) };
}

/** Records that the payer has the amount; with the last of it the payment is `refunded`. */
export function decideRefundCompleted(
  payment: StoredPayment,
  refund: { refundId: string; amountCents: Cents },
  now: Date,
): PaymentChange {
  const { amounts, transaction } = completeRefund(refundableOf(payment), RULES, refund);
  if (amounts.refundedCents < payment.amountCents) return change(payment, amounts, { transaction });
  return step(payment, { ...amounts, refundedAt: now }, 'refunded', { transaction });
}

/** Puts the amount of a refused refund back into the balance. */
export function decideRefundFailed(
  payment: StoredPayment,
  refund: { refundId: string; amountCents: Cents },
  balances: Balances,
): PaymentChange {
  const { amounts, transaction } = failRefund(refundableOf(payment), refund, balances);
  return change(payment, amounts, { transaction });
}

/** PIX has no release: its money is in the balance from the moment of the payment. */
function refundableOf(payment: StoredPayment): Refundable {
  return { ...payment, releasedAt: payment.paidAt };
}
