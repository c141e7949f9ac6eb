import { DAY_MS, plusMs } from '../../kernel/clock.ts';
import { PreconditionError } from '../../kernel/errors.ts';
import { closesOrder, type PaymentState } from '../../kernel/orders.ts';
import { entryOf } from '../../state/ledger/journal.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerTransaction,
  ledgerTransaction,
} from '../../state/ledger/postings.ts';
import { CHECKOUT_SESSION_MS, customerOf, keptPaymentOf } from '../checkout/model.ts';
import { causeOfReturn, NOT_CANCELABLE, NOT_RETURNED } from '../receiving/model.ts';
import type { ChargeRefusal } from './hosted-checkout.ts';
import {
  type AccountSettings,
  type CardPaymentStatus,
  type CreateCardPaymentInput,
  MAX_DECLINED_CHARGES,
  NEXT,
  type StoredCardPayment,
} from './model.ts';

/** A step of a payment, with its money and its deadlines. `transaction` is null if no money moved. */
export interface CardPaymentChange {
  readonly previous: StoredCardPayment | null;
  readonly payment: StoredCardPayment;
  readonly transaction: LedgerTransaction | null;
  readonly due: readonly { kind: CardPaymentTask; at: Date }[];
  /**
   * Whether subscribers get an update. A step of a charge inside `pending` is not announced, nor is the
   * release.
   */
  readonly announced: boolean;
}

/** Tasks that are due at an instant. */
export type CardPaymentTask =
  | 'card_payment.expire'
  | 'card_payment.resolve'
  | 'card_payment.release'
  | 'card_payment.return';

export function decideCreate(
  input: Omit<CreateCardPaymentInput, 'idempotencyKey'>,
  {
    orderCode,
    checkoutAttempt,
    productId = null,
    now,
  }: { orderCode: string; checkoutAttempt: string | null; productId?: string | null; now: Date },
): CardPaymentChange {
  const expiresAt = new Date(now.getTime() + CHECKOUT_SESSION_MS);
  const payment: StoredCardPayment = {
    orderCode,
    version: 1,
    status: 'pending',
    amountCents: input.valueCents,
    description: input.description ?? null,
    callbackUrl: input.callbackUrl ?? null,
    customer: customerOf(input.customer),
    metadata: input.metadata ?? null,
    externalId: input.externalId ?? null,
    productId,
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    language: input.language ?? null,
    checkoutAttempt,
    orderStatus: null,
    openChargeId: null,
    paidChargeId: null,
    declinedCharges: 0,
    declineReason: null,
    createdAt: now,
    expiresAt,
    paidAt: null,
    paidLate: false,
    releasedAt: null,
    refundedAt: null,
    canceledAt: null,
    refundedCents: 0,
    refundingCents: 0,
    disputedCents: 0,
    refundCount: 0,
    failureReason: null,
    ...NOT_RETURNED,
  };
  return {
    previous: null,
    payment,
    transaction: null,
    due: [{ kind: 'card_payment.expire', at: expiresAt }],
    announced: true,
  };
}

/** Milliseconds after which a charge without an answer is looked up at the acquirer. */
export const RESOLVE_AFTER_MS = 10_000;

/**
 * Opens a charge before the acquirer is called, so that no crash loses it. Returns a refusal if the payment
 * cannot be paid, another charge is open, or its checkout attempt or order is paid.
 */
export function decideCharge(
  payment: StoredCardPayment,
  { chargeId, otherPayments, now }: { chargeId: string; otherPayments: readonly PaymentState[]; now: Date },
): CardPaymentChange | ChargeRefusal {
  if (payment.status !== 'pending' || payment.expiresAt <= now) return 'not_payable';
  if (payment.openChargeId) return 'in_progress';
  if (otherPayments.some(closesOrder)) return 'paid_elsewhere';
  return {
    previous: payment,
    payment: { ...payment, openChargeId: chargeId },
    transaction: null,
    due: [{ kind: 'card_payment.resolve', at: new Date(now.getTime() + RESOLVE_AFTER_MS) }],
    announced: false,
  };
}

/**
 * The outcome of a charge. `pending`: the acquirer has not decided; `void`: it never received the charge, and never
 * will take it.
 */
export type ChargeOutcome =
  | { status: 'approved' }
  | { status: 'declined'; reason: string; final: boolean }
  | { status: 'pending'; settlesAt: Date | null }
  | { status: 'void' };

/**
 * Applies the outcome of the open charge; null if nothing changes. A repeated or late answer about another
 * charge changes nothing.
 */
export function decideOutcome(
  payment: StoredCardPayment,
  {
    chargeId,
    outcome,
    otherPayments,
    account,
    now,
  }: {
    chargeId: string;
    outcome: ChargeOutcome;
    otherPayments: readonly PaymentState[];
    account: AccountSettings;
    now: Date;
  },
): CardPaymentChange | null {
  if (payment.openChargeId !== chargeId) return null;
  if (outcome.status === 'pending') {
    const { settlesAt } = outcome;
    // An instant that has passed without a decision is ignored.
    const at = settlesAt && settlesAt > now ? settlesAt : new Date(now.getTime() + RESOLVE_AFTER_MS);
    return {
      previous: payment,
      payment,
      transaction: null,
      due: [{ kind: 'card_payment.resolve', at }],
      announced: false,
    };
  }
  const settled: StoredCardPayment = { ...payment, openChargeId: null };
  if (outcome.status === 'void')
    return { previous: payment, payment: settled, transaction: null, due: [], announced: false };
  if (outcome.status === 'approved') return paid(payment, settled, { otherPayments, account, now });

  const declinedCharges = payment.declinedCharges + 1;
  const declined: StoredCardPayment = { ...settled, declinedCharges, declineReason: outcome.reason };
  const fails = payment.status === 'pending' && (outcome.final || declinedCharges >= MAX_DECLINED_CHARGES);
  if (!fails)
    return {
      previous: payment,
      payment: declined,
      transaction: null,
      due: [],
      announced: false,
    };
  return step(payment, { ...declined, failureReason: outcome.reason }, 'failed');
}

/**
 * A payment whose charge was approved. If it was canceled, or another payment of its order was paid before,
 * the money is returned: the payment has failed, is never shown as paid, and never reaches the balance.
 */
function paid(
  payment: StoredCardPayment,
  settled: StoredCardPayment,
  {
    otherPayments,
    account,
    now,
  }: { otherPayments: readonly PaymentState[]; account: AccountSettings; now: Date },
): CardPaymentChange {
  const { orderCode, amountCents, openChargeId: paidChargeId } = payment;
  const keptPayment = keptPaymentOf(otherPayments);
  if (causeOfReturn(payment, { amountCents, isOrderClosed: keptPayment !== null }) !== null) {
    const failureReason = payment.canceledAt ? 'canceled' : 'paid_elsewhere';
    return step(payment, { ...settled, paidChargeId, failureReason, returned: true, keptPayment }, 'failed', {
      transaction: ledgerTransaction(
        `card_payment.returned:${orderCode}`,
        [{ from: 'acquirer', to: 'refunds_in_transit', amount: amountCents }],
        entryOf('return', 'card_payment', orderCode),
      ),
      due: [{ kind: 'card_payment.return', at: now }],
    });
  }
  return step(
    payment,
    { ...settled, paidChargeId, paidAt: now, paidLate: now >= payment.expiresAt },
    'paid',
    {
      transaction: ledgerTransaction(
        `card_payment.paid:${orderCode}`,
        [{ from: 'acquirer', to: 'merchant_pending', amount: amountCents }],
        entryOf('card_payment', 'card_payment', orderCode),
      ),
      due: [{ kind: 'card_payment.release', at: plusMs(now, account.cardReleaseDays * DAY_MS) }],
    },
  );
}

/**
 * Expires a payment at its instant and not before. An open charge may still be approved later, which `paidLate`
 * shows.
 */
export function decideExpire(
  payment: StoredCardPayment,
  { otherPayments, now }: { otherPayments: readonly PaymentState[]; now: Date },
): CardPaymentChange | null {
  if (payment.status !== 'pending' || payment.expiresAt > now) return null;
  return step(payment, { ...payment, keptPayment: keptPaymentOf(otherPayments) }, 'expired');
}

/**
 * Cancels a pending payment, which is `expired` from then on; null if it is canceled already.
 * @throws PreconditionError
 */
export function decideCancel(
  payment: StoredCardPayment,
  { otherPayments, now }: { otherPayments: readonly PaymentState[]; now: Date },
): CardPaymentChange | null {
  if (payment.canceledAt && payment.status !== 'paid') return null;
  if (payment.status !== 'pending') throw notCancelable(payment);
  return step(payment, { ...payment, canceledAt: now, keptPayment: keptPaymentOf(otherPayments) }, 'expired');
}

function notCancelable({ status, openChargeId }: StoredCardPayment): PreconditionError {
  const reason =
    status === 'expired' && openChargeId
      ? 'has expired while a card is being confirmed, and may still be paid'
      : NOT_CANCELABLE[status as keyof typeof NOT_CANCELABLE];
  return new PreconditionError('NOT_CANCELABLE', `This card payment ${reason}`);
}

/**
 * Releases a sale from `merchant_pending` to the balance, without the amounts that refunds have taken or
 * hold. The merchant's debt is paid first.
 */
export function decideRelease(
  payment: StoredCardPayment,
  balances: Balances,
  now: Date,
): CardPaymentChange | null {
  if (payment.status !== 'paid' || payment.releasedAt) return null;
  const amountCents = payment.amountCents - payment.refundedCents - payment.refundingCents;
  const transaction =
    amountCents === 0
      ? null
      : ledgerTransaction(
          `card_payment.released:${payment.orderCode}`,
          creditWithRecovery('merchant_pending', amountCents, balances),
          entryOf('card_release', 'card_payment', payment.orderCode),
        );
  return {
    previous: payment,
    payment: { ...payment, releasedAt: now },
    transaction,
    due: [],
    announced: false,
  };
}

export function step(
  previous: StoredCardPayment,
  next: StoredCardPayment,
  status: CardPaymentStatus,
  { transaction, due = [] }: { transaction?: LedgerTransaction; due?: CardPaymentChange['due'] } = {},
): CardPaymentChange {
  if (!NEXT[previous.status].includes(status))
    throw new RangeError(`a card payment never goes from ${previous.status} to ${status}`);
  return {
    previous,
    payment: { ...next, status, version: previous.version + 1 },
    transaction: transaction ?? null,
    due,
    announced: true,
  };
}
