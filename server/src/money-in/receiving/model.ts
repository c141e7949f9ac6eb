import { DAY_MS, plusMs } from '../../kernel/clock.ts';
import { PreconditionError, ValidationError } from '../../kernel/errors.ts';
import { type Cents, reaisText } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { assertWithdrawable } from '../../state/ledger/funds.ts';
import { entryOf, type JournalEntry } from '../../state/ledger/journal.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerAccountName,
  type LedgerTransaction,
  ledgerTransaction,
  type Move,
  takeOrOwe,
} from '../../state/ledger/postings.ts';

// The rules that all methods of payment share: the effects of credits and refunds on a payment.

/** The statuses of a payment (the document's section 3.2), whichever method pays it. */
export const PAYMENT_STATUSES = ['pending', 'paid', 'expired', 'refunded', 'failed'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** The members of a payment that a credit is compared with. */
export interface Payable {
  status: PaymentStatus;
  amountCents: Cents;
  /** The instant at which the merchant canceled it; null if it was not canceled. */
  canceledAt: Date | null;
}

// ── Credits ─────────────────────────────────────────────────────────────────────────────────────

/** The reasons for which a credit is sent back. */
export const RETURN_CAUSES = [
  'already_paid',
  'amount_mismatch',
  'canceled',
  'not_payable',
  'paid_elsewhere',
] as const;
export type ReturnCause = (typeof RETURN_CAUSES)[number];

/** The members of a payment that show that its order did not keep it. */
export interface Returned {
  /** Whether its money arrived and is returned to its payer: then it has failed, and was never paid. */
  returned: boolean;
  /** The payment that the order keeps, if it was paid before this one ended; else null. */
  keptPayment: string | null;
}

export const NOT_RETURNED = { returned: false, keptPayment: null } as const;

/**
 * Decides about money that the bank or the acquirer holds for a payment: null if the payment accepts it, else
 * the cause for which it is returned. An expired payment accepts it, because the bank holds the money, whatever
 * the clock says. A canceled one does not.
 */
export function causeOfReturn(
  payment: Payable,
  { amountCents, isOrderClosed }: { amountCents: Cents; isOrderClosed: boolean },
): ReturnCause | null {
  if (payment.status === 'paid' || payment.status === 'refunded') return 'already_paid';
  const closed = payment.canceledAt ? 'canceled' : isOrderClosed ? 'paid_elsewhere' : null;
  if (payment.status === 'failed') return closed ?? 'not_payable';
  return amountCents !== payment.amountCents ? 'amount_mismatch' : closed;
}

/**
 * Whether the ledger can record an amount in addition to the sum that an account holds. It is checked before
 * the money is taken; afterwards would be too late. Half of the largest possible balance is reserved for
 * payments under way.
 */
export function fitsBalance(amountCents: Cents, held: number): boolean {
  return amountCents + Math.abs(held) <= Number.MAX_SAFE_INTEGER / 2;
}

// ── Cancellation ────────────────────────────────────────────────────────────────────────────────

/**
 * Asserts that a payment can be canceled; false if it is canceled already. `name`: the resource in an error,
 * such as `charge`.
 * @throws PreconditionError (NOT_CANCELABLE)
 */
export function isCancelable(name: string, { status, canceledAt }: Omit<Payable, 'amountCents'>): boolean {
  if (canceledAt && status === 'expired') return false;
  if (status === 'pending') return true;
  throw new PreconditionError('NOT_CANCELABLE', `This ${name} ${NOT_CANCELABLE[status]}`);
}

/** The reasons why a payment with a status cannot be canceled. */
export const NOT_CANCELABLE: Record<Exclude<PaymentStatus, 'pending'>, string> = {
  paid: 'has been paid: refund it',
  refunded: 'has been refunded',
  expired: 'has expired',
  failed: 'has failed',
};

// ── Refunds ─────────────────────────────────────────────────────────────────────────────────────

/** The number of refunds that a merchant can request of one payment, without those that have failed. */
export const MAX_REFUNDS = 20;

/** The members of a payment that a refund reads and changes. */
export interface Refundable extends Payable {
  paidAt: Date | null;
  /** The time at which its money reached the balance; null while it waits in `merchant_pending`. */
  releasedAt: Date | null;
  /** The amount that completed refunds have returned to the payer. */
  refundedCents: Cents;
  /** The amount that unfinished refunds have taken from the balances. */
  refundingCents: Cents;
  /** The amount that the payer's bank claims, without disputes that were won. */
  disputedCents: Cents;
  /** The number of refunds that the merchant has requested, without those that have failed. */
  refundCount: number;
}

/** The differences between the refunds of two methods. */
export interface RefundRules {
  /** The resource in the words of an error, as `card payment`. */
  name: string;
  /** The days after its payment in which a merchant can refund it. */
  days: number;
  /** The contra account of the rail that sends the money back. */
  rail: LedgerAccountName;
}

/** A refund to begin. */
export interface RefundRequest {
  refundId: string;
  /** The amount; null means all that is refundable. */
  amountCents: Cents | null;
  /**
   * Whether the service begins it and not the merchant: then at any time, however often, and with a debt of
   * the merchant if the balance no longer covers it.
   */
  isAutomatic: boolean;
}

/** The changes that a step of a refund makes to its payment, with the posting of the owner's part. */
export interface RefundStep {
  amounts: Pick<Refundable, 'refundedCents' | 'refundingCents' | 'refundCount'>;
  /** The posting; null if the owner gives nothing of the amount. */
  transaction: LedgerTransaction | null;
}

/** A refund that is under way. */
export interface BegunRefund {
  refundId: string;
  /** The id of the refunded payment. */
  ref: string;
  amountCents: Cents;
  /** The owner's part of the amount. */
  ownCents: Cents;
}

/**
 * The amount that a refund may still take, without refunds under way or done, and without disputes that were
 * not won; 0 for an unpaid payment. Null if the service does not report it.
 */
export function refundableCents({
  status,
  amountCents,
  refundedCents,
  refundingCents,
  disputedCents = 0,
}: {
  status: PaymentStatus | 'unknown';
  amountCents: Cents;
  refundedCents: Cents | null;
  refundingCents: Cents | null;
  /** Omitted in a snapshot of a version without disputes of payments, and in remote mode. */
  disputedCents?: Cents | undefined;
}): Cents | null {
  if (refundedCents === null || refundingCents === null) return null;
  return status === 'paid' ? amountCents - refundedCents - refundingCents - disputedCents : 0;
}

/**
 * Decides whether a payment can be refunded, and returns the amount.
 * @throws PreconditionError, ValidationError
 */
export function amountToRefund(
  payment: Refundable,
  { name, days }: RefundRules,
  { amountCents: requested, isAutomatic }: RefundRequest,
  now: Date,
): Cents {
  const notRefundable = (reason: string) => new PreconditionError('NOT_REFUNDABLE', `This ${name} ${reason}`);
  const refundable = refundableCents(payment)!;
  const { disputedCents } = payment;
  if (payment.status !== 'paid' || refundable + disputedCents === 0)
    throw notRefundable(reasonAgainst(payment));
  if (!isAutomatic) {
    if (now > plusMs(payment.paidAt!, days * DAY_MS))
      throw notRefundable(`was paid more than ${days} days ago`);
    if (payment.refundCount >= MAX_REFUNDS) throw notRefundable(`has had ${MAX_REFUNDS} refunds`);
  }
  const amountCents = requested ?? refundable;
  // The payer is never paid twice, once by its bank and once by a refund.
  if (amountCents === 0 || (amountCents > refundable && amountCents <= refundable + disputedCents))
    throw new PreconditionError(
      'DISPUTE_STATE',
      `Of this ${name} ${reaisText(disputedCents)} is disputed, and ${reaisText(refundable)} can still be refunded`,
    );
  if (amountCents > refundable)
    throw new ValidationError([
      {
        path: 'input.amountCents',
        message: `must be at most ${refundable} (${reaisText(refundable)}), which is what can still be refunded`,
      },
    ]);
  return amountCents;
}

/**
 * Takes the owner's part of a refund from the account that holds the money: `merchant_pending` before its release, the
 * balance after it.
 * @throws InsufficientFundsError
 */
export function beginRefund(
  payment: Refundable,
  { refundId, ref, amountCents, ownCents, isAutomatic }: BegunRefund & Pick<RefundRequest, 'isAutomatic'>,
  balances: Balances,
): RefundStep {
  if (payment.releasedAt && !isAutomatic) assertWithdrawable(balances, ownCents);
  return {
    amounts: {
      refundedCents: payment.refundedCents,
      refundingCents: payment.refundingCents + amountCents,
      refundCount: payment.refundCount + (isAutomatic ? 0 : 1),
    },
    transaction:
      ownCents === 0
        ? null
        : ledgerTransaction(
            `refund.begun:${refundId}`,
            takeFrom(payment, ownCents, balances),
            entryOfRefund({ refundId, ref }),
          ),
  };
}

/** Records that the payer has the amount of a refund. */
export function completeRefund(
  { refundedCents, refundingCents, refundCount }: Refundable,
  { rail }: RefundRules,
  { refundId, ref, amountCents }: Pick<BegunRefund, 'refundId' | 'ref' | 'amountCents'>,
): RefundStep & { transaction: LedgerTransaction } {
  return {
    amounts: {
      refundedCents: refundedCents + amountCents,
      refundingCents: refundingCents - amountCents,
      refundCount,
    },
    transaction: ledgerTransaction(
      `refund.completed:${refundId}`,
      [{ from: 'refunds_in_transit', to: rail, amount: amountCents }],
      entryOfRefund({ refundId, ref }),
    ),
  };
}

/** Returns the owner's part of a refused refund to the account where the money is now. */
export function failRefund(
  { refundedCents, refundingCents, refundCount, releasedAt }: Refundable,
  { refundId, ref, amountCents, ownCents, isAutomatic }: BegunRefund & Pick<RefundRequest, 'isAutomatic'>,
  balances: Balances,
): RefundStep {
  return {
    amounts: {
      refundedCents,
      refundingCents: refundingCents - amountCents,
      refundCount: refundCount - (isAutomatic ? 0 : 1),
    },
    transaction:
      ownCents === 0
        ? null
        : ledgerTransaction(
            `refund.failed:${refundId}`,
            releasedAt
              ? creditWithRecovery('refunds_in_transit', ownCents, balances)
              : [{ from: 'refunds_in_transit', to: 'merchant_pending', amount: ownCents }],
            entryOfRefund({ refundId, ref }, 'refund_failure'),
          ),
  };
}

export function entryOfRefund(
  { refundId, ref }: Pick<BegunRefund, 'refundId' | 'ref'>,
  kind: JournalEntry['kind'] = 'refund',
): JournalEntry {
  return { ...entryOf(kind, 'refund', refundId), ref };
}

/** The moves that take a refund; beyond the balance it becomes a debt of the merchant. */
function takeFrom({ releasedAt }: Refundable, amount: Cents, balances: Balances): Move[] {
  if (!releasedAt) return [{ from: 'merchant_pending', to: 'refunds_in_transit', amount }];
  return takeOrOwe('refunds_in_transit', amount, balances);
}

function reasonAgainst({ paidAt, refundingCents }: Refundable): string {
  if (!paidAt) return 'has not been paid';
  return refundingCents > 0
    ? 'has nothing left to refund: a refund is under way'
    : 'has been refunded already';
}

// ── Disputes ────────────────────────────────────────────────────────────────────────────────────

/** The members of a payment that a dispute reads. */
type Disputable = Omit<Refundable, 'releasedAt' | 'refundCount'>;

/** The amounts of a claim. */
export interface ClaimedAmounts {
  /** The amount that is taken now. */
  amountCents: Cents;
  /** The part that refunds under way hold, which is taken if they fail. */
  missingCents: Cents;
}

/**
 * Subtracts the amount of a dispute from the refundable amount. A bank may claim more, but a refunded amount
 * is not returned twice. Null if nothing is left to claim, now or later, or the time for it is over.
 */
export function beginDispute(
  payment: Disputable,
  { claimedCents, days }: { claimedCents: Cents; days: number | null },
  now: Date,
): (ClaimedAmounts & { amounts: Pick<Refundable, 'disputedCents'> }) | null {
  if (payment.status !== 'paid') return null;
  if (days !== null && payment.paidAt && now > plusMs(payment.paidAt, days * DAY_MS)) return null;
  const amountCents = Math.min(claimedCents, refundableCents(payment)!);
  const missingCents = Math.min(claimedCents - amountCents, payment.refundingCents);
  if (amountCents + missingCents === 0) return null;
  const amounts = { disputedCents: payment.disputedCents + amountCents };
  return { amountCents, missingCents, amounts };
}

/** Adds the amount of a won dispute to the refundable amount again. */
export function endDispute(
  { disputedCents }: Pick<Refundable, 'disputedCents'>,
  amountCents: Cents,
): Pick<Refundable, 'disputedCents'> {
  // A dispute of an earlier version may have claimed more than its payment.
  return { disputedCents: Math.max(0, disputedCents - amountCents) };
}

// ── Content of a product ────────────────────────────────────────────────────────────────────────

/** The kinds of content that a product's payers are given. */
export const CONTENT_KINDS = ['text', 'link', 'codes'] as const;
export type ContentKind = (typeof CONTENT_KINDS)[number];

/** Pending: out of stock, delivered once there is more. Revoked: the payment was refunded in full. */
export const DELIVERED_STATUSES = ['pending', 'delivered', 'revoked'] as const;
export type DeliveredStatus = (typeof DELIVERED_STATUSES)[number];

/** Content of a product, as delivered to the payer of one payment. */
export interface DeliveredContent {
  kind: ContentKind;
  status: DeliveredStatus;
  /** Null unless delivered. */
  content: string | null;
  deliveredAt: Date | null;
}

// ── Data of other slices in a payment ───────────────────────────────────────────────────────────

/** A refund as its payment shows it. */
export interface ShownRefund {
  refundId: string;
  amountCents: Cents;
  status: string;
}

/**
 * The part of the port of refunds for the routes of payments and charges, which do not import that slice. It
 * reads the refunds in the order of the ids; null if the service does not report them.
 */
export interface RefundsOfPayments {
  ofResources(
    tenant: Tenant,
    type: 'payment' | 'charge',
    ids: readonly string[],
  ): Promise<(readonly ShownRefund[] | null)[]>;
}

/**
 * The part of the port of deliveries for the routes of payments, which do not import that slice. It reads the
 * delivered content in the order of the ids; null if there is none.
 */
export interface ContentOfPayments {
  deliveredTo(
    tenant: Tenant,
    type: 'payment',
    ids: readonly string[],
  ): Promise<(readonly DeliveredContent[] | null)[]>;
}

/** The part of a payment's status that rests on webhooks alone. */
export interface Doubt {
  /**
   * The instant since which only a webhook says that the payment has ended, or was paid. Omitted if the
   * service itself has said it.
   */
  claimedAt?: Date;
  /** Set if a webhook says that the payment was paid, but the service does not, or names no amount. */
  unresolved?: true;
}
