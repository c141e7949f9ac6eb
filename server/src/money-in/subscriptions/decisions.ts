import { plusMs } from '../../kernel/clock.ts';
import { PreconditionError } from '../../kernel/errors.ts';
import { dayOf, instantOf, plusDays } from '../../kernel/sao-paulo.ts';
import type { Environment } from '../../kernel/tenant.ts';
import type { Balances } from '../../state/ledger/postings.ts';
import { type ArrivedCredit, creditOf, wasSentBack } from '../pix/credit.ts';
import { beginReturn, type CodeDecisions, decideRegisterAgain, decideReturn } from '../pix/decisions.ts';
import type { AccountSettings } from '../pix/model.ts';
import { fitsBalance, type ReturnCause } from '../receiving/model.ts';
import { lookUpAfter, RECALL_HOUR } from './calendar.ts';
import { paid } from './cycles.ts';
import {
  AUTHORISATION_MS,
  type CancelReason,
  type CreateSubscriptionInput,
  detailsOf,
  isLive,
  isOpen,
  type StoredCycle,
  type StoredSubscription,
} from './model.ts';
import { change, NO_EFFECTS, ofCode, type SubscriptionChange, scheduled } from './steps.ts';

// ── The authorization ───────────────────────────────────────────────────────────────────────────

/** A new subscription, before the bank is asked for its code. @throws PreconditionError (LIMIT_REACHED) */
export function decideCreate(
  input: Omit<CreateSubscriptionInput, 'idempotencyKey'>,
  {
    subscriptionId,
    environment,
    account,
    balances,
    now,
  }: {
    subscriptionId: string;
    environment: Environment;
    account: AccountSettings;
    balances: Balances;
    now: Date;
  },
): SubscriptionChange {
  const amountCents = input.valueCents;
  if (!fitsBalance(amountCents, balances.pix_received))
    throw new PreconditionError('LIMIT_REACHED', 'The account holds as much as it can count');
  const expiresAt = plusMs(now, AUTHORISATION_MS);
  const resource: StoredSubscription = {
    subscriptionId,
    version: 1,
    status: 'pending',
    amountCents,
    feeCents: environment === 'sandbox' ? 0 : Math.min(account.pixFeeCents, amountCents),
    interval: input.interval,
    ...detailsOf(input),
    brCode: null,
    nextDueAt: null,
    cancelReason: null,
    canceledAt: null,
    createdAt: now,
    expiresAt,
    authorisedAt: null,
    failedInRow: 0,
    cycle: null,
    returnedCredits: [],
  };
  return {
    ...NO_EFFECTS,
    previous: null,
    resource,
    due: [
      { kind: 'pix.expire', at: expiresAt },
      { kind: 'pix.register', at: plusMs(now, 10_000) },
    ],
    announced: false,
  };
}

/**
 * Ends a pending subscription. The payer's bank may have begun the authorization, so the recurrence ends
 * there too.
 */
function endPending(
  subscription: StoredSubscription,
  changed: Partial<StoredSubscription> & { status: 'canceled' | 'expired' },
  now: Date,
): SubscriptionChange {
  return change(subscription, changed, {
    news: [changed.status],
    done: ['pix.register', 'pix.expire'],
    tasks: [{ kind: 'subscription.end', at: now }],
  });
}

/** The reason for sending back the money of an authorization; null if it is accepted. */
function causeAgainst(
  { status, amountCents, expiresAt, authorisedAt }: StoredSubscription,
  credit: ArrivedCredit,
): ReturnCause | null {
  if (status !== 'pending') return authorisedAt ? 'already_paid' : 'not_payable';
  // A lasting obligation must not begin late.
  if (credit.at >= expiresAt) return 'not_payable';
  if (credit.amountCents !== amountCents) return 'amount_mismatch';
  return wasSentBack(credit) ? 'not_payable' : null;
}

/** The decisions about the code of a subscription, and its money. */
export const codeDecisions: CodeDecisions<StoredSubscription> = {
  decideRegistered(subscription, brCode) {
    if (subscription.status !== 'pending' || subscription.brCode !== null) return null;
    return change(subscription, { brCode }, { done: ['pix.register'] });
  },
  decideRefused(subscription) {
    if (subscription.status !== 'pending' || subscription.brCode !== null) return null;
    return change(
      subscription,
      { status: 'expired' },
      { news: ['expired'], done: ['pix.register', 'pix.expire'] },
    );
  },
  decideRegisterAgain: (subscription, now) => ofCode(decideRegisterAgain(subscription, now)),
  decideExpire(subscription, { now }) {
    const { status, expiresAt } = subscription;
    if (status !== 'pending' || expiresAt > now) return null;
    return endPending(subscription, { status: 'expired', expiresAt }, now);
  },
  decideCredit(subscription, credit, state) {
    if (state.isKnown) return null;
    const cause = causeAgainst(subscription, credit);
    if (cause !== null) {
      const refused = creditOf(subscription.subscriptionId, credit, cause);
      const back = ofCode(beginReturn(subscription, refused, state.now))!;
      // At the bank this payer has authorized the debits. The recurrence ends there, so that none is made.
      const mustEnd = cause === 'not_payable' && subscription.authorisedAt === null;
      return mustEnd ? { ...back, tasks: [{ kind: 'subscription.end', at: state.now }] } : back;
    }
    const authorised = { ...subscription, authorisedAt: credit.at };
    const { cycle: first } = scheduled(authorised, 1, state.now);
    return paid(authorised, first, { ...credit, attempt: 1 }, state, subscription);
  },
  decideReturn: (subscription, credit, outcome, now) =>
    ofCode(decideReturn(subscription, credit, outcome, now)),
};

// ── Cancellation ────────────────────────────────────────────────────────────────────────────────

/**
 * Cancels a subscription; null if it has ended. Its open cycle ends too, unless the bank can no longer recall
 * the attempt: that attempt may still be paid. `endedAt` is the time at which the bank learned of the
 * cancellation, which may lie before `now`.
 */
export function decideCancel(
  subscription: StoredSubscription,
  cancelReason: Exclude<CancelReason, 'unpaid'>,
  now: Date,
  endedAt: Date = now,
): SubscriptionChange | null {
  const { status, cycle: open } = subscription;
  const canceled = { status: 'canceled', cancelReason, canceledAt: now } as const;
  if (status === 'pending') return endPending(subscription, canceled, now);
  if (!isLive(status)) return null;
  const cycle: StoredCycle | null =
    open && isOpen(open) && !isPastRecall(open, endedAt)
      ? { ...open, status: 'canceled', nextAttemptAt: null, sent: false }
      : open;
  const hasChanged = cycle !== null && cycle !== open;
  // The bank may have an instruction whose answer was lost: a debit by it is looked up once its day has
  // passed.
  const lookUp: SubscriptionChange['tasks'] =
    open && isOpen(open) && open.nextAttemptAt !== null
      ? [{ kind: 'subscription.look_up', at: lookUpAfter(open.nextAttemptAt) }]
      : [];
  return change(
    subscription,
    { ...canceled, cycle },
    {
      ...(hasChanged && { cycles: [cycle], shown: cycle }),
      news: ['canceled'],
      tasks: [{ kind: 'subscription.end', at: now }, ...lookUp],
      doneTasks: ['subscription.instruct'],
    },
  );
}

/** Whether the payer's bank can no longer recall an attempt: from 22:00 of the evening before. */
function isPastRecall({ sent, nextAttemptAt }: StoredCycle, now: Date): boolean {
  if (!sent || nextAttemptAt === null) return false;
  return now >= instantOf(plusDays(dayOf(nextAttemptAt), -1), RECALL_HOUR);
}
