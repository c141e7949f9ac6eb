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
import { change, type PixChange, type PixRules, step } from './decisions.ts';
import type { StoredPixResource } from './model.ts';

/** The days after its payment in which the bank sends a PIX back. */
export const REFUND_DAYS = 90;

/** A refund under way. */
interface BegunRefund {
  refundId: string;
  amountCents: Cents;
}

/** Creates the decisions about refunds of what is the owner's alone. */
export function pixRefunds<R extends StoredPixResource>({ name }: PixRules<R>) {
  const rules = refundRulesOf(name);
  return {
    /** Takes the amount of a refund from the balance. @throws UnavailableError, ValidationError, InsufficientFundsError */
    decideRefundBegin(
      resource: R,
      request: RefundRequest,
      state: { balances: Balances; now: Date },
    ): { change: PixChange<R>; amountCents: Cents } {
      const { amountCents, amounts, transaction } = beginRefund(
        refundableOf(resource),
        rules,
        request,
        state,
      );
      return {
        amountCents,
        change: change(resource, amounts, { transactions: [transaction] }),
      };
    },

    /** Puts the amount of a refused refund back into the balance. */
    decideRefundFailed(resource: R, refund: BegunRefund, balances: Balances): PixChange<R> {
      const { amounts, transaction } = failRefund(refundableOf(resource), refund, balances);
      return change(resource, amounts, { transactions: [transaction] });
    },

    /** Records that the payer has the amount; with the last of it the resource is `refunded`. */
    decideRefundCompleted(resource: R, refund: BegunRefund, now: Date): PixChange<R> {
      const { amounts, transaction } = completeRefund(refundableOf(resource), rules, refund);
      const transactions = [transaction];
      if (amounts.refundedCents < resource.amountCents) return change(resource, amounts, { transactions });
      return step(resource, { ...amounts, refundedAt: now }, 'refunded', {
        transactions,
      });
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
