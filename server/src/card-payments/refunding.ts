import { DAY_MS, plusMs } from '../kernel/clock.ts';
import { UnavailableError, ValidationError } from '../kernel/errors.ts';
import { type Cents, reaisText } from '../kernel/money.ts';
import { type Balances, creditWithRecovery, ledgerTransaction, type Move } from '../ledger/postings.ts';
import { assertWithdrawable } from '../wallet/model.ts';
import { type CardPaymentChange, step } from './decisions.ts';
import { refundableCents, type StoredCardPayment } from './model.ts';

/** The days after its payment in which a card payment can be refunded. */
export const REFUND_DAYS = 180;
/** The number of refunds that a merchant can request of one payment. */
export const MAX_REFUNDS = 20;

/** A refund to begin. */
export interface RefundRequest {
  refundId: string;
  /** Null: all that is refundable. */
  amountCents: Cents | null;
  /**
   * Begun by the service and not by the merchant: at any time, however often, and with a debt of the merchant where the
   * balance no longer covers it.
   */
  isAutomatic: boolean;
}

/**
 * Takes the amount of a refund from the account that holds the sale: `merchant_pending` before its release, the balance
 * after it. Returns the amount.
 * @throws UnavailableError, ValidationError, InsufficientFundsError
 */
export function decideRefundBegin(
  payment: StoredCardPayment,
  { refundId, amountCents: requested, isAutomatic }: RefundRequest,
  { balances, now }: { balances: Balances; now: Date },
): { change: CardPaymentChange; amountCents: Cents } {
  const refundable = refundableCents(payment)!;
  if (payment.status !== 'paid' || refundable === 0) throw notRefundable(reasonAgainst(payment));
  if (!isAutomatic) {
    if (now > plusMs(payment.paidAt!, REFUND_DAYS * DAY_MS))
      throw notRefundable(`was paid more than ${REFUND_DAYS} days ago`);
    if (payment.refundCount >= MAX_REFUNDS) throw notRefundable(`has had ${MAX_REFUNDS} refunds`);
  }
  const amountCents = requested ?? refundable;
  if (amountCents > refundable)
    throw new ValidationError([
      {
        path: 'input.amountCents',
        message: `must be at most ${refundable} (${reaisText(refundable)}), which is what can still be refunded`,
      },
    ]);
  if (payment.releasedAt && !isAutomatic) assertWithdrawable(balances, amountCents);
  return {
    amountCents,
    change: quietStep(
      payment,
      {
        refundingCents: payment.refundingCents + amountCents,
        refundCount: payment.refundCount + (isAutomatic ? 0 : 1),
      },
      `refund.begun:${refundId}`,
      takeFrom(payment, amountCents, balances),
    ),
  };
}

/** The moves that take a refund; beyond the balance it becomes a debt of the merchant. */
function takeFrom({ releasedAt }: StoredCardPayment, amount: Cents, balances: Balances): Move[] {
  if (!releasedAt) return [{ from: 'merchant_pending', to: 'refunds_in_transit', amount }];
  const fromBalance = Math.min(amount, balances.merchant_balance);
  return [
    { from: 'merchant_balance', to: 'refunds_in_transit', amount: fromBalance },
    { from: 'merchant_receivable', to: 'refunds_in_transit', amount: amount - fromBalance },
  ];
}

/** Records that the payer has the amount; with the last of it the payment is `refunded`. */
export function decideRefundCompleted(
  payment: StoredCardPayment,
  { refundId, amountCents }: { refundId: string; amountCents: Cents },
  now: Date,
): CardPaymentChange {
  const amounts = {
    refundedCents: payment.refundedCents + amountCents,
    refundingCents: payment.refundingCents - amountCents,
  };
  const moves: Move[] = [{ from: 'refunds_in_transit', to: 'acquirer', amount: amountCents }];
  const id = `refund.completed:${refundId}`;
  if (payment.status !== 'paid' || amounts.refundedCents < payment.amountCents)
    return quietStep(payment, amounts, id, moves);
  return step(payment, { ...payment, ...amounts, refundedAt: now }, 'refunded', {
    transaction: ledgerTransaction(id, moves),
  });
}

/** Puts the amount of a refused refund back to where the sale is now. */
export function decideRefundFailed(
  payment: StoredCardPayment,
  { refundId, amountCents }: { refundId: string; amountCents: Cents },
  balances: Balances,
): CardPaymentChange {
  return quietStep(
    payment,
    { refundingCents: payment.refundingCents - amountCents },
    `refund.failed:${refundId}`,
    payment.releasedAt
      ? creditWithRecovery('refunds_in_transit', amountCents, balances)
      : [{ from: 'refunds_in_transit', to: 'merchant_pending', amount: amountCents }],
  );
}

/** A step inside a status. It is not announced: the refund itself is. */
function quietStep(
  previous: StoredCardPayment,
  changed: Partial<StoredCardPayment>,
  transactionId: string,
  moves: readonly Move[],
): CardPaymentChange {
  return {
    previous,
    payment: { ...previous, ...changed },
    transaction: ledgerTransaction(transactionId, moves),
    due: [],
    announced: false,
  };
}

function reasonAgainst({ paidAt, refundingCents }: StoredCardPayment): string {
  if (!paidAt) return 'has not been paid';
  return refundingCents > 0
    ? 'has nothing left to refund: a refund is under way'
    : 'has been refunded already';
}

function notRefundable(reason: string): UnavailableError {
  return new UnavailableError('NOT_REFUNDABLE', `This card payment ${reason}`);
}
