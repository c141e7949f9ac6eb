import { type CivilDay, dayOf, instantOf } from '../../kernel/sao-paulo.ts';
import type { StoredPayment } from '../payments/model.ts';
import type { PixChange, PixRules } from '../pix/decisions.ts';
import { attemptDayOf, dueDayOf, instructionDayOf } from './calendar.ts';
import { isLive, NEXT, type StoredCycle, type StoredSubscription, type SubscriptionNews } from './model.ts';

// The parts from which all decisions about subscriptions are built.

/** The kinds of a subscription's own tasks. The key is its id. */
export type SubscriptionTask =
  /** Sends the instruction of the open cycle's next attempt. */
  | 'subscription.instruct'
  /** Reads what the bank has reported. */
  | 'subscription.look_up'
  /** Ends the recurrence at the bank. */
  | 'subscription.end'
  /** Recalls an attempt of a cycle that an earlier attempt has paid. The key also has the attempt's id. */
  | 'subscription.recall';

/** A step of a subscription, with its cycles and the payment that one of them has made. */
export interface SubscriptionChange extends PixChange<StoredSubscription> {
  /** The cycles that have changed, or are new. */
  readonly cycles: readonly StoredCycle[];
  /** The cycle that the events show. */
  readonly shown: StoredCycle | null;
  /** The events of the step that webhooks announce, in their order. */
  readonly news: readonly SubscriptionNews[];
  readonly payment: StoredPayment | null;
  readonly tasks: readonly { kind: SubscriptionTask; key?: string; at: Date }[];
  readonly doneTasks: readonly SubscriptionTask[];
}

export const subscriptionRules: PixRules<StoredSubscription> = {
  name: 'subscription',
  idOf: ({ subscriptionId }) => subscriptionId,
  sharesOf: () => [],
};

export type Step = Partial<Omit<SubscriptionChange, 'previous' | 'resource' | 'announced'>>;

export const NO_EFFECTS = {
  credit: null,
  transactions: [],
  moves: [],
  due: [],
  done: [],
  cycles: [],
  shown: null,
  news: [],
  payment: null,
  tasks: [],
  doneTasks: [],
} as const;

/** A step that readers can see. Its version grows by the number of its events, at least one. */
export function change(
  previous: StoredSubscription,
  changed: Partial<StoredSubscription>,
  step: Step = {},
): SubscriptionChange {
  const { status = previous.status } = changed;
  if (status !== previous.status && !NEXT[previous.status].includes(status))
    throw new RangeError(`a subscription never goes from ${previous.status} to ${status}`);
  const next = { ...previous, ...changed };
  return {
    ...NO_EFFECTS,
    ...step,
    previous,
    resource: {
      ...next,
      nextDueAt: nextDueAtOf(next),
      version: previous.version + Math.max(1, step.news?.length ?? 0),
    },
    announced: true,
  };
}

/** A step without an update: no member that readers see changes. */
export function unannounced(
  previous: StoredSubscription,
  changed: Partial<Pick<StoredSubscription, 'cycle'>>,
  step: Step = {},
): SubscriptionChange {
  return { ...NO_EFFECTS, ...step, previous, resource: { ...previous, ...changed }, announced: false };
}

/** Adds the members of subscriptions to a step of the code. */
export function ofCode(step: PixChange<StoredSubscription> | null): SubscriptionChange | null {
  return step && { ...NO_EFFECTS, ...step };
}

/**
 * The due day of the open cycle; once an attempt of it has failed, that of the next cycle. Null if there is
 * no such cycle.
 */
function nextDueAtOf(subscription: StoredSubscription): Date | null {
  const { status, cycle, endsAfterCycles } = subscription;
  if (!isLive(status) || !cycle) return null;
  if (cycle.status === 'scheduled') return cycle.dueAt;
  return cycle.number === endsAfterCycles ? null : instantOf(dueDay(subscription, cycle.number + 1));
}

function dueDay({ authorisedAt, interval }: StoredSubscription, number: number): CivilDay {
  return dueDayOf(dayOf(authorisedAt!), interval, number);
}

/** The day of a cycle's next attempt; null if there is none before the next cycle is due. */
export function nextAttemptDay(
  subscription: StoredSubscription,
  number: number,
  attempts: { made: number; earliest: CivilDay },
): CivilDay | null {
  const days = { dueDay: dueDay(subscription, number), nextDueDay: dueDay(subscription, number + 1) };
  return attemptDayOf(days, attempts);
}

/** The next cycle, with the task that sends its instruction. */
export function scheduled(subscription: StoredSubscription, number: number, now: Date) {
  const day = dueDay(subscription, number);
  const dueAt = instantOf(day);
  const cycle: StoredCycle = {
    subscriptionId: subscription.subscriptionId,
    number,
    dueAt,
    status: 'scheduled',
    amountCents: subscription.amountCents,
    attempts: 0,
    nextAttemptAt: dueAt,
    paymentId: null,
    paidAt: null,
    failureReason: null,
    sent: false,
  };
  const at = instantOf(instructionDayOf(day));
  return { cycle, tasks: [{ kind: 'subscription.instruct' as const, at: at > now ? at : now }] };
}
