import {
  type Balances,
  creditWithRecovery,
  type LedgerTransaction,
  ledgerTransaction,
} from '../ledger/postings.ts';
import {
  type AccountSettings,
  type CardPaymentStatus,
  CHECKOUT_SESSION_MS,
  type ChargeRefusal,
  type CreateCardPaymentInput,
  customerOf,
  MAX_DECLINED_CHARGES,
  NEXT,
  type StoredCardPayment,
} from './model.ts';

/** One payment's step, with the money and the deadlines that go with it. Null money: no money moved. */
export interface CardPaymentChange {
  readonly previous: StoredCardPayment | null;
  readonly payment: StoredCardPayment;
  readonly transaction: LedgerTransaction | null;
  readonly due: readonly { kind: CardPaymentTask; at: Date }[];
  /** Whether subscribers are told: a step inside `pending` or `paid` that no status shows is not. */
  readonly announced: boolean;
}

/** Work that waits for an instant. */
export type CardPaymentTask =
  | 'card_payment.expire'
  | 'card_payment.resolve'
  | 'card_payment.release'
  | 'card_payment.refund';

export function decideCreate(
  input: Omit<CreateCardPaymentInput, 'idempotencyKey'>,
  { orderCode, checkoutAttempt, now }: { orderCode: string; checkoutAttempt: string | null; now: Date },
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
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    checkoutAttempt,
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
    failureReason: null,
  };
  return {
    previous: null,
    payment,
    transaction: null,
    due: [{ kind: 'card_payment.expire', at: expiresAt }],
    announced: true,
  };
}

/** A charge without an answer for so long is looked up at the acquirer. */
export const RESOLVE_AFTER_MS = 10_000;

/** Given back since or not: what came of the attempt was settled by it, and no other payment of it takes money again. */
const wasPaid = ({ paidAt }: StoredCardPayment): boolean => paidAt !== null;

/**
 * Before the acquirer is asked: the charge is recorded, so that no crash forgets it.
 * A refusal where the payment cannot be paid (any more), another charge is open, or its attempt is paid.
 */
export function decideCharge(
  payment: StoredCardPayment,
  { chargeId, siblings, now }: { chargeId: string; siblings: readonly StoredCardPayment[]; now: Date },
): CardPaymentChange | ChargeRefusal {
  if (payment.status !== 'pending' || payment.expiresAt <= now) return 'not_payable';
  if (payment.openChargeId) return 'in_progress';
  if (siblings.some(wasPaid)) return 'paid_elsewhere';
  return {
    previous: payment,
    payment: { ...payment, openChargeId: chargeId },
    transaction: null,
    due: [{ kind: 'card_payment.resolve', at: new Date(now.getTime() + RESOLVE_AFTER_MS) }],
    announced: false,
  };
}

/**
 * Whether a charge's money can be recorded once it is taken: asked before, for afterwards it is too late. Half of what
 * a balance can hold is left to the charges under way.
 */
export function fitsBalances({ amountCents }: StoredCardPayment, balances: Balances): boolean {
  return amountCents - balances.acquirer <= Number.MAX_SAFE_INTEGER / 2;
}

/** What the acquirer said of a charge. `pending`: it has not decided; `void`: it never got it, and never will take it. */
export type ChargeOutcome =
  | { status: 'approved' }
  | { status: 'declined'; reason: string; final: boolean }
  | { status: 'pending'; settlesAt: Date | null }
  | { status: 'void' };

/**
 * What an outcome of the open charge makes of the payment; null where it changes nothing. A repeated or late
 * answer about a charge that is no longer open changes nothing.
 */
export function decideOutcome(
  payment: StoredCardPayment,
  {
    chargeId,
    outcome,
    siblings,
    account,
    now,
  }: {
    chargeId: string;
    outcome: ChargeOutcome;
    siblings: readonly StoredCardPayment[];
    account: AccountSettings;
    now: Date;
  },
): CardPaymentChange | null {
  if (payment.openChargeId !== chargeId) return null;
  if (outcome.status === 'pending') {
    const { settlesAt } = outcome;
    // An instant that has passed without a decision is as good as none.
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
  if (outcome.status === 'approved') return paid(payment, settled, { siblings, account, now });

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

function paid(
  payment: StoredCardPayment,
  settled: StoredCardPayment,
  { siblings, account, now }: { siblings: readonly StoredCardPayment[]; account: AccountSettings; now: Date },
): CardPaymentChange {
  const releaseAt = new Date(now.getTime() + account.cardReleaseDays * 86_400_000);
  const doublyPaid = siblings.some(wasPaid);
  return step(
    payment,
    { ...settled, paidChargeId: payment.openChargeId, paidAt: now, paidLate: now >= payment.expiresAt },
    'paid',
    {
      transaction: ledgerTransaction(`card_payment.paid:${payment.orderCode}`, [
        { from: 'acquirer', to: 'merchant_pending', amount: payment.amountCents },
      ]),
      due: [
        { kind: 'card_payment.release', at: releaseAt },
        // Two payments of one attempt: the payer gets the second back at once.
        ...(doublyPaid ? [{ kind: 'card_payment.refund' as const, at: now }] : []),
      ],
    },
  );
}

/** At its instant, and not before: an open charge may still be approved later, which `paidLate` tells. */
export function decideExpire(payment: StoredCardPayment, now: Date): CardPaymentChange | null {
  if (payment.status !== 'pending' || payment.expiresAt > now) return null;
  return step(payment, payment, 'expired');
}

/** The sale goes from `merchant_pending` to the balance; what the merchant owes is settled first. */
export function decideRelease(
  payment: StoredCardPayment,
  balances: Balances,
  now: Date,
): CardPaymentChange | null {
  if (payment.status !== 'paid' || payment.releasedAt) return null;
  const transaction = ledgerTransaction(
    `card_payment.released:${payment.orderCode}`,
    creditWithRecovery('merchant_pending', payment.amountCents, balances),
  );
  return {
    previous: payment,
    payment: { ...payment, releasedAt: now },
    transaction,
    due: [],
    announced: false,
  };
}

/** From where the sale lies; what the balance no longer covers, the merchant owes. */
export function decideRefund(
  payment: StoredCardPayment,
  balances: Balances,
  now: Date,
): CardPaymentChange | null {
  if (payment.status !== 'paid') return null;
  const fromBalance = Math.min(payment.amountCents, balances.merchant_balance);
  const transaction = ledgerTransaction(
    `card_payment.refunded:${payment.orderCode}`,
    payment.releasedAt
      ? [
          { from: 'merchant_balance', to: 'acquirer', amount: fromBalance },
          { from: 'merchant_receivable', to: 'acquirer', amount: payment.amountCents - fromBalance },
        ]
      : [{ from: 'merchant_pending', to: 'acquirer', amount: payment.amountCents }],
  );
  return step(payment, { ...payment, refundedAt: now }, 'refunded', { transaction });
}

function step(
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
