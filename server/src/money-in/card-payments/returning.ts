import { DAY_MS, plusMs } from '../../kernel/clock.ts';
import { deterministicId } from '../../kernel/ids.ts';
import { entryOf } from '../../state/ledger/journal.ts';
import { type LedgerTransaction, ledgerTransaction } from '../../state/ledger/postings.ts';
import type { ReturnCause } from '../receiving/model.ts';
import { returnIdOf, type StoredReturn } from '../returns/model.ts';
import type { CardPaymentChange } from './decisions.ts';
import type { StoredCardPayment } from './model.ts';

/** Milliseconds after which a return without an answer is looked up at the acquirer. */
const LOOK_UP_AFTER_MS = 10_000;

/** The outcome of a return at the acquirer. */
export type ReturnOutcome =
  | { status: 'completed' }
  | { status: 'pending'; settlesAt: Date | null }
  | { status: 'failed' };

/**
 * A step of a return. `lookAt`: the instant of the next call to the acquirer; null if the return has ended.
 */
export interface ReturnChange {
  stored: StoredReturn;
  transaction: LedgerTransaction | null;
  lookAt: Date | null;
}

/** The return that begins with a step of its payment; null if none begins. */
export function returnOf({ previous, payment }: CardPaymentChange, now: Date): StoredReturn | null {
  if (!payment.returned || previous?.returned) return null;
  const { orderCode, externalId, amountCents, keptPayment, paidChargeId, failureReason } = payment;
  return {
    returnId: returnIdOf(paidChargeId!),
    resource: { type: 'card_payment', id: orderCode },
    externalId,
    amountCents,
    cause: failureReason as ReturnCause,
    keptPayment,
    endToEndId: null,
    receivedAt: now,
    returnedAt: null,
    railId: paidChargeId!,
    failedReturns: 0,
  };
}

/**
 * The acquirer's name of the current attempt to return the money: each refused attempt is followed by one
 * with a new name.
 */
export function railReturnIdOf({ returnId, railId, failedReturns }: StoredReturn): string {
  if (failedReturns === 0) return returnId;
  return `ret_${deterministicId(24, 'return', railId, String(failedReturns))}`;
}

/**
 * Records the outcome of a return; null if it has ended already. The payer must get the money, so a refused
 * return is retried each day.
 */
export function decideReturn(
  stored: StoredReturn,
  outcome: ReturnOutcome,
  { orderCode }: Pick<StoredCardPayment, 'orderCode'>,
  now: Date,
): ReturnChange | null {
  if (stored.returnedAt) return null;
  const { amountCents, failedReturns } = stored;
  switch (outcome.status) {
    case 'completed':
      return {
        stored: { ...stored, returnedAt: now },
        transaction: ledgerTransaction(
          `card_payment.sent_back:${orderCode}`,
          [{ from: 'refunds_in_transit', to: 'acquirer', amount: amountCents }],
          entryOf('return', 'card_payment', orderCode),
        ),
        lookAt: null,
      };
    case 'failed':
      return {
        stored: { ...stored, failedReturns: failedReturns + 1 },
        transaction: null,
        lookAt: plusMs(now, DAY_MS),
      };
    case 'pending': {
      // An instant that has passed without a decision is ignored.
      const { settlesAt } = outcome;
      const lookAt = settlesAt && settlesAt > now ? settlesAt : plusMs(now, LOOK_UP_AFTER_MS);
      return { stored, transaction: null, lookAt };
    }
  }
}
