import { dayOf, instantOf } from '../../kernel/sao-paulo.ts';
import { instructionDayOf, lastLookUpOf, lookUpAfter } from './calendar.ts';
import { failed } from './cycles.ts';
import { attemptIdOf, isLive, isOpen, type StoredCycle, type StoredSubscription } from './model.ts';
import { change, nextAttemptDay, type SubscriptionChange, unannounced } from './steps.ts';

// The instructions to the payer's bank.

/**
 * The attempt for which the bank gets an instruction; null if there is none, or if its day has passed and
 * `decidePlan` finds another. `isEarly`: also before the day of its instruction.
 */
export function attemptToSend(subscription: StoredSubscription, now: Date, { isEarly = false } = {}) {
  const { subscriptionId, status, cycle } = subscription;
  if (!isLive(status) || !cycle || !isOpen(cycle) || cycle.sent || cycle.nextAttemptAt === null) return null;
  if (cycle.nextAttemptAt < instantOf(dayOf(now))) return null;
  if (isTooEarly(cycle, now) && !isEarly) return null;
  const attempt = cycle.attempts + 1;
  return {
    number: cycle.number,
    attempt,
    amountCents: cycle.amountCents,
    dueAt: cycle.nextAttemptAt,
    id: attemptIdOf(subscriptionId, cycle.number, attempt),
  };
}

/** Whether a time lies before the day on which the instruction of a cycle's first attempt is sent. */
function isTooEarly({ attempts, dueAt }: StoredCycle, time: Date): boolean {
  return attempts === 0 && instantOf(instructionDayOf(dayOf(dueAt))) > time;
}

/**
 * Moves an attempt whose day has passed, because the service or the bank was down, to the next possible day,
 * or ends the cycle if there is none. Null if the attempt is in time. Its due day stays.
 */
export function decidePlan(subscription: StoredSubscription, now: Date): SubscriptionChange | null {
  const { status, cycle } = subscription;
  if (!isLive(status) || !cycle || !isOpen(cycle) || cycle.sent || cycle.nextAttemptAt === null) return null;
  const today = dayOf(now);
  if (cycle.nextAttemptAt >= instantOf(today)) return null;
  const day = nextAttemptDay(subscription, cycle.number, { made: cycle.attempts, earliest: today });
  if (day === null) {
    const ended: StoredCycle = {
      ...cycle,
      status: 'failed',
      nextAttemptAt: null,
      failureReason: cycle.failureReason ?? 'A cobrança não chegou ao banco a tempo',
    };
    return failed(subscription, ended, now, { wasAttempted: cycle.attempts > 0 });
  }
  const moved = { ...cycle, nextAttemptAt: instantOf(day) };
  return change(subscription, { cycle: moved }, { shown: moved, cycles: [moved] });
}

/** Records that the bank has an instruction. Null if the attempt has ended meanwhile, or was recorded. */
export function decideSent(
  subscription: StoredSubscription,
  { number, attempt }: { number: number; attempt: number },
): SubscriptionChange | null {
  const { cycle } = subscription;
  if (!cycle || !isOpen(cycle) || cycle.sent) return null;
  if (cycle.number !== number || cycle.attempts + 1 !== attempt) return null;
  const sent = { ...cycle, sent: true };
  const at = lookUpAfter(cycle.nextAttemptAt!);
  return unannounced(
    subscription,
    { cycle: sent },
    { cycles: [sent], tasks: [{ kind: 'subscription.look_up', at }] },
  );
}

/**
 * The next lookup of an attempt that the bank has not reported; null if none is expected. The attempt of a
 * canceled cycle may be at the bank too, if the answer to its instruction was lost.
 */
export function decideLookUpAgain(subscription: StoredSubscription, now: Date): SubscriptionChange | null {
  const { cycle, canceledAt } = subscription;
  if (!cycle) return null;
  const isAwaited = cycle.sent && isOpen(cycle);
  const mayBeSent = cycle.status === 'canceled' && !isTooEarly(cycle, canceledAt!);
  if (!isAwaited && !mayBeSent) return null;
  const first = lookUpAfter(cycle.nextAttemptAt ?? cycle.dueAt);
  const at = first > now ? first : lookUpAfter(now);
  if (mayBeSent && at > lastLookUpOf(dayOf(cycle.dueAt))) return null;
  return unannounced(subscription, {}, { tasks: [{ kind: 'subscription.look_up', at }] });
}
