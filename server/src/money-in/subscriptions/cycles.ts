import { plusMs } from '../../kernel/clock.ts';
import { dayOf, instantOf, plusDays } from '../../kernel/sao-paulo.ts';
import { entryOf } from '../../state/ledger/journal.ts';
import { creditWithRecovery, ledgerTransaction } from '../../state/ledger/postings.ts';
import { CHECKOUT_SESSION_MS } from '../checkout/model.ts';
import type { StoredPayment } from '../payments/model.ts';
import { creditOf } from '../pix/credit.ts';
import { beginReturn, type CreditState, newMembers } from '../pix/decisions.ts';
import { NOT_RETURNED } from '../receiving/model.ts';
import {
  attemptIdOf,
  cyclePaymentId,
  isLive,
  isOpen,
  type StoredCycle,
  type StoredSubscription,
} from './model.ts';
import { change, nextAttemptDay, ofCode, type Step, type SubscriptionChange, scheduled } from './steps.ts';

// The end of a cycle and of its attempts, and the cycle after it.

/** The number of failed cycles in a row after which a subscription ends. */
export const MAX_FAILED_IN_ROW = 3;

export type MoneyState = Pick<CreditState, 'environment' | 'balances' | 'now'>;

/** Records that a cycle was paid, with its payment, and begins the next. */
export function paid(
  subscription: StoredSubscription,
  open: StoredCycle,
  credit: { endToEndId: string; amountCents: number; at: Date; attempt: number },
  { environment, balances, now }: MoneyState,
  previous: StoredSubscription = subscription,
): SubscriptionChange {
  const { subscriptionId, amountCents, feeCents, status } = subscription;
  const { endToEndId, at, attempt } = credit;
  const paymentId = cyclePaymentId(subscriptionId, open.number);
  const payment: StoredPayment = {
    paymentId,
    subscriptionId,
    ...newMembers({
      amountCents,
      feeCents,
      environment,
      createdAt: now,
      expiresAt: plusMs(now, CHECKOUT_SESSION_MS),
    }),
    // The first version of the payment was never seen, as with any payment.
    version: 2,
    status: 'paid',
    method: 'pix',
    ltc: null,
    description: subscription.description,
    callbackUrl: null,
    customer: subscription.customer,
    metadata: subscription.metadata,
    externalId: null,
    productId: null,
    successUrl: subscription.successUrl,
    cancelUrl: subscription.cancelUrl,
    language: subscription.language,
    ...NOT_RETURNED,
    checkoutAttempt: null,
    orderStatus: null,
    paidAt: at,
    endToEndId,
  };
  const cycle: StoredCycle = {
    ...open,
    status: 'paid',
    attempts: Math.max(open.attempts, attempt),
    nextAttemptAt: null,
    paymentId,
    paidAt: at,
    // An earlier attempt may have left a reason.
    failureReason: null,
    sent: false,
  };
  // The bank had first reported the attempt as failed, but it was paid: the next attempt must not be debited.
  const nextAttempt = open.attempts + 1;
  const recalled =
    attempt < nextAttempt && open.sent ? attemptIdOf(subscriptionId, open.number, nextAttempt) : null;
  const effects: Step = {
    shown: cycle,
    payment,
    credit: creditOf(paymentId, credit, null),
    transactions: [
      ledgerTransaction(
        `payment.paid:${paymentId}`,
        [
          { from: 'pix_received', to: 'platform_fees', amount: feeCents },
          ...creditWithRecovery('pix_received', amountCents - feeCents, balances),
        ],
        entryOf('payment', 'payment', paymentId, feeCents),
      ),
    ],
    done: ['pix.register', 'pix.expire'],
  };
  const recall =
    recalled === null
      ? []
      : [{ kind: 'subscription.recall' as const, key: `${subscriptionId} ${recalled}`, at: now }];
  const activated = status === 'pending' ? (['activated'] as const) : [];
  if (status !== 'pending' && !isLive(status))
    // When the subscription ended, the attempt could no longer be recalled: a debited attempt is paid.
    return change(previous, { cycle }, { ...effects, cycles: [cycle], news: ['paid'], tasks: recall });
  if (open.number === subscription.endsAfterCycles)
    return change(
      previous,
      { authorisedAt: subscription.authorisedAt, status: 'completed', cycle, failedInRow: 0 },
      {
        ...effects,
        cycles: [cycle],
        news: [...activated, 'paid', 'completed'],
        tasks: [...recall, { kind: 'subscription.end', at: now }],
      },
    );
  const next = scheduled(subscription, open.number + 1, now);
  return change(
    previous,
    { authorisedAt: subscription.authorisedAt, status: 'active', cycle: next.cycle, failedInRow: 0 },
    {
      ...effects,
      cycles: [cycle, next.cycle],
      news: [...activated, 'paid'],
      tasks: [...recall, ...next.tasks],
    },
  );
}

/**
 * Ends a cycle that was not paid, and begins the next. A cycle that was never attempted does not count as
 * unpaid, because the service was down.
 */
export function failed(
  subscription: StoredSubscription,
  cycle: StoredCycle,
  now: Date,
  { wasAttempted }: { wasAttempted: boolean },
): SubscriptionChange {
  const { status, endsAfterCycles } = subscription;
  const failedInRow = subscription.failedInRow + (wasAttempted ? 1 : 0);
  const effects = { shown: cycle, doneTasks: ['subscription.instruct'] as const };
  if (!isLive(status))
    return change(subscription, { cycle }, { ...effects, cycles: [cycle], news: ['payment_failed'] });
  const end = { kind: 'subscription.end' as const, at: now };
  if (cycle.number === endsAfterCycles)
    return change(
      subscription,
      { status: 'completed', cycle, failedInRow },
      { ...effects, cycles: [cycle], news: ['payment_failed', 'completed'], tasks: [end] },
    );
  if (failedInRow >= MAX_FAILED_IN_ROW)
    return change(
      subscription,
      { status: 'canceled', cancelReason: 'unpaid', canceledAt: now, cycle, failedInRow },
      { ...effects, cycles: [cycle], news: ['payment_failed', 'canceled'], tasks: [end] },
    );
  const next = scheduled(subscription, cycle.number + 1, now);
  return change(
    subscription,
    { status: 'past_due', cycle: next.cycle, failedInRow },
    {
      ...effects,
      doneTasks: [],
      cycles: [cycle, next.cycle],
      news: status === 'past_due' ? ['payment_failed'] : ['payment_failed', 'past_due'],
      tasks: next.tasks,
    },
  );
}

/** Records that an attempt has failed, and schedules the next one. */
function attemptFailed(
  subscription: StoredSubscription,
  open: StoredCycle,
  reason: string,
  now: Date,
): SubscriptionChange {
  const attempts = open.attempts + 1;
  const made = { ...open, attempts, sent: false, failureReason: reason };
  // Each attempt has a day of its own: not that of the attempt before, and not today, which the bank has
  // finished.
  const last = dayOf(open.nextAttemptAt!);
  const today = dayOf(now);
  const earliest = plusDays(instantOf(today) > instantOf(last) ? today : last, 1);
  const day = isLive(subscription.status)
    ? nextAttemptDay(subscription, open.number, { made: attempts, earliest })
    : null;
  if (day === null)
    return failed(subscription, { ...made, status: 'failed', nextAttemptAt: null }, now, {
      wasAttempted: true,
    });
  const cycle: StoredCycle = { ...made, status: 'retrying', nextAttemptAt: instantOf(day) };
  return change(
    subscription,
    { status: 'past_due', cycle },
    {
      shown: cycle,
      cycles: [cycle],
      news: subscription.status === 'past_due' ? ['payment_failed'] : ['payment_failed', 'past_due'],
      tasks: [{ kind: 'subscription.instruct', at: now }],
    },
  );
}

/** The outcome of one attempt, as the bank reports it: once, twice, late, or in another order. */
export type AttemptReport = { number: number; attempt: number } & (
  | { status: 'paid'; endToEndId: string; amountCents: number; at: Date }
  | { status: 'failed'; reason: string }
);

/**
 * Records the outcome of an attempt; null if it changes nothing. Money pays its cycle while that is open,
 * whichever attempt has brought it. Otherwise it is sent back.
 */
export function decideReport(
  subscription: StoredSubscription,
  report: AttemptReport,
  state: MoneyState & {
    isKnown: boolean;
    /** The cycle of the report; null if there is none. */
    cycle: StoredCycle | null;
  },
): SubscriptionChange | null {
  const { cycle } = state;
  const isOpenNow = cycle !== null && isOpen(cycle) && cycle.number === subscription.cycle?.number;
  const isNext = isOpenNow && report.attempt === cycle.attempts + 1;
  if (report.status === 'failed')
    return isNext ? attemptFailed(subscription, cycle, report.reason, state.now) : null;
  if (state.isKnown) return null;
  const isAmount = report.amountCents === subscription.amountCents;
  if (isOpenNow && isAmount) return paid(subscription, cycle, report, state);
  const cause = isOpenNow ? 'amount_mismatch' : cycle?.status === 'paid' ? 'already_paid' : 'not_payable';
  const back = beginReturn(subscription, creditOf(subscription.subscriptionId, report, cause), state.now);
  if (!isNext) return ofCode(back);
  // The attempt is over, and has not brought the amount.
  const { resource, ...step } = attemptFailed(subscription, cycle, 'O banco enviou outro valor', state.now);
  return {
    ...step,
    resource: { ...resource, returnedCredits: back.resource.returnedCredits },
    credit: back.credit,
    transactions: [...step.transactions, ...back.transactions],
    due: [...step.due, ...back.due],
  };
}
