import type { Cents } from '../../kernel/money.ts';
import { type Balances, ledgerTransaction, type Move } from '../../state/ledger/postings.ts';
import {
  amountToRefund,
  beginRefund,
  completeRefund,
  entryOfRefund,
  failRefund,
  type Refundable,
  type RefundRequest,
  type RefundRules,
} from '../receiving/model.ts';
import type { Share, ShareMove } from './credit.ts';
import { change, type PixChange, type PixRules, step } from './decisions.ts';
import type { StoredPixResource } from './model.ts';

/** The days after the payment in which the bank returns a PIX. */
export const REFUND_DAYS = 90;

/** A refund under way. */
interface UnderWay {
  refundId: string;
  amountCents: Cents;
}

/**
 * The effect of a refund on subaccounts. `parts`: the amount that each gives, or gets back. `changed`: the
 * members of the resource that record it.
 */
interface PartsChange<R> {
  readonly changed: Partial<R>;
  readonly parts: readonly Share[];
}

/** The rules by which a refund is divided between the subaccounts that have a share and the owner. */
export interface RefundParts<R extends StoredPixResource> {
  /** Computes the part of each subaccount in a new refund, at most its balance. The owner gives the rest. */
  begin(resource: R, refund: UnderWay, balanceOf: (subaccountId: string) => Cents): PartsChange<R>;
  /**
   * Finds the part that each subaccount has given to a refund that ends. If the refund has failed, each gets
   * exactly this back.
   */
  end(resource: R, refundId: string, outcome: 'completed' | 'failed'): PartsChange<R>;
}

/** The rules of a family without shares: the owner gives all of a refund. */
const OWNERS_ALONE: RefundParts<StoredPixResource> = {
  begin: () => ({ changed: {}, parts: [] }),
  end: () => ({ changed: {}, parts: [] }),
};

/** Creates the decisions about refunds. */
export function pixRefunds<R extends StoredPixResource>(
  { name, idOf }: PixRules<R>,
  partRules: RefundParts<R> = OWNERS_ALONE as unknown as RefundParts<R>,
) {
  const rules = refundRulesOf(name);
  return {
    /** Takes the amount of a refund from the balances. @throws PreconditionError, ValidationError, InsufficientFundsError */
    decideRefundBegin(
      resource: R,
      request: RefundRequest,
      { balances, now, balanceOf }: { balances: Balances; now: Date; balanceOf(subaccountId: string): Cents },
    ): { change: PixChange<R>; amountCents: Cents } {
      const { refundId, isAutomatic } = request;
      const amountCents = amountToRefund(refundableOf(resource), rules, request, now);
      const { changed, parts } = partRules.begin(resource, { refundId, amountCents }, balanceOf);
      const ref = idOf(resource);
      const begun = { refundId, ref, amountCents, ownCents: amountCents - sumOf(parts), isAutomatic };
      const { amounts, transaction } = beginRefund(refundableOf(resource), begun, balances);
      return {
        amountCents,
        change: change(
          resource,
          { ...changed, ...amounts },
          {
            transactions: transaction ? [transaction] : [],
            moves: movesOf(parts, { refundId, ref }, 'taken'),
          },
        ),
      };
    },

    /** Puts the amount of a refused refund back into the balances that it was taken from. */
    decideRefundFailed(
      resource: R,
      refund: UnderWay & Pick<RefundRequest, 'isAutomatic'>,
      balances: Balances,
    ): PixChange<R> {
      const { changed, parts } = partRules.end(resource, refund.refundId, 'failed');
      const ref = idOf(resource);
      const { amounts, transaction } = failRefund(
        refundableOf(resource),
        { ...refund, ref, ownCents: refund.amountCents - sumOf(parts) },
        balances,
      );
      return change(
        resource,
        { ...changed, ...amounts },
        {
          transactions: transaction ? [transaction] : [],
          moves: movesOf(parts, { refundId: refund.refundId, ref }, 'given back'),
        },
      );
    },

    /**
     * Records that the payer has received the amount; with the last part of it the resource is `refunded`.
     */
    decideRefundCompleted(resource: R, refund: UnderWay, now: Date): PixChange<R> {
      const { changed } = partRules.end(resource, refund.refundId, 'completed');
      const { amounts, transaction } = completeRefund(refundableOf(resource), rules, {
        ...refund,
        ref: idOf(resource),
      });
      const transactions = [transaction];
      if (amounts.refundedCents < resource.amountCents)
        return change(resource, { ...changed, ...amounts }, { transactions });
      return step(resource, { ...changed, ...amounts, refundedAt: now }, 'refunded', { transactions });
    },
  };
}

function refundRulesOf(name: string): RefundRules {
  return { name, days: REFUND_DAYS, rail: 'pix_received' };
}

/** PIX has no release: its money is in the balances from the moment of the payment. */
function refundableOf(resource: StoredPixResource): Refundable {
  return { ...resource, releasedAt: resource.paidAt };
}

function sumOf(parts: readonly Share[]): Cents {
  return parts.reduce((sum, { amountCents }) => sum + amountCents, 0);
}

/** The lines on the statements of the subaccounts. */
function movesOf(
  parts: readonly Share[],
  refund: { refundId: string; ref: string },
  direction: 'taken' | 'given back',
): ShareMove[] {
  const { refundId } = refund;
  const isTaken = direction === 'taken';
  return parts
    .filter(({ amountCents }) => amountCents > 0)
    .map(({ subaccountId, amountCents: amount }) => {
      const moved: Move = isTaken
        ? { from: 'merchant_subaccounts', to: 'refunds_in_transit', amount }
        : { from: 'refunds_in_transit', to: 'merchant_subaccounts', amount };
      const id = `refund.${isTaken ? 'begun' : 'failed'}:${refundId}:${subaccountId}`;
      return {
        kind: isTaken ? 'split_reversal' : 'split_in',
        subaccountId,
        refId: refundId,
        amountCents: isTaken ? -amount : amount,
        transaction: ledgerTransaction(
          id,
          [moved],
          entryOfRefund(refund, isTaken ? 'refund' : 'refund_failure'),
          subaccountId,
        ),
      };
    });
}
