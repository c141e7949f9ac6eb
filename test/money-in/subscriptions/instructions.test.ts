import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import { decideCreate } from '../../../server/src/money-in/subscriptions/decisions.ts';
import {
  attemptToSend,
  decideLookUpAgain,
  decidePlan,
  decideSent,
} from '../../../server/src/money-in/subscriptions/instructions.ts';
import {
  attemptIdOf,
  type StoredCycle,
  type StoredSubscription,
} from '../../../server/src/money-in/subscriptions/model.ts';
import { NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';

// The instructions of a weekly subscription's second cycle, which is due on 9 March.

const HOUR_MS = 3_600_000;
const AUTHORISED = new Date('2026-03-02T15:00:00.000Z');
/** The second cycle's due day, at 00:00 in São Paulo. */
const DUE = new Date('2026-03-09T03:00:00.000Z');
const ID = `psa_sub_${'0'.repeat(32)}`;
const dayAfter = (days: number) => plusMs(DUE, days * DAY_MS);

const CREATED = decideCreate(
  { valueCents: 4_990, interval: 'weekly' },
  {
    subscriptionId: ID,
    environment: 'live',
    balances: NO_BALANCES,
    now: AUTHORISED,
    account: { pixEnabled: true, pixFeeCents: 0 },
  },
).resource;

const CYCLE: StoredCycle = {
  subscriptionId: ID,
  number: 2,
  dueAt: DUE,
  status: 'scheduled',
  amountCents: 4_990,
  attempts: 0,
  nextAttemptAt: DUE,
  paymentId: null,
  paidAt: null,
  failureReason: null,
  sent: false,
};

function active(
  cycle: Partial<StoredCycle> | null = {},
  members: Partial<StoredSubscription> = {},
): StoredSubscription {
  return {
    ...CREATED,
    status: 'active',
    authorisedAt: AUTHORISED,
    version: 3,
    ...members,
    cycle: cycle && { ...CYCLE, ...cycle },
  };
}

/** Subscriptions without an attempt to send. */
const IDLE: [string, StoredSubscription][] = [
  ['that is canceled', active({}, { status: 'canceled' })],
  ['that waits for its authorisation', active({}, { status: 'pending' })],
  ['without a cycle', active(null)],
  ['whose cycle is paid', active({ status: 'paid' })],
  ['whose attempt the bank has', active({ sent: true })],
  ['without a day', active({ nextAttemptAt: null })],
];

describe('the next attempt', () => {
  test('It is sent three days before its day, or earlier where that is asked for', () => {
    const attempt = { id: attemptIdOf(ID, 2, 1), number: 2, attempt: 1, amountCents: 4_990, dueAt: DUE };
    const first = dayAfter(-3);
    expect(attemptToSend(active(), first, { isEarly: false })).toEqual(attempt);
    expect(attemptToSend(active(), plusMs(first, -1), { isEarly: false })).toBeNull();
    expect(attemptToSend(active(), plusMs(first, -1), { isEarly: true })).toEqual(attempt);
  });

  test('A further one is sent at once, and none for a day that has passed', () => {
    const again = active({ status: 'retrying', attempts: 1, nextAttemptAt: dayAfter(1) });
    expect(attemptToSend(again, dayAfter(-9), { isEarly: false })).toMatchObject({
      id: attemptIdOf(ID, 2, 2),
      attempt: 2,
      dueAt: dayAfter(1),
    });
    expect(attemptToSend(again, plusMs(dayAfter(2), -1), { isEarly: false })).not.toBeNull();
    expect(attemptToSend(again, dayAfter(2), { isEarly: false })).toBeNull();
  });

  test.each(IDLE)('There is none for a subscription %s', (_, subscription) => {
    expect(attemptToSend(subscription, DUE, { isEarly: true })).toBeNull();
    expect(decidePlan(subscription, dayAfter(2))).toBeNull();
  });
});

describe('the plan of an attempt', () => {
  test('One of today or later stays, and a first one whose day has passed moves to today', () => {
    for (const now of [dayAfter(-1), DUE, plusMs(dayAfter(1), -1)])
      expect(decidePlan(active(), now)).toBeNull();
    const moved = decidePlan(active(), plusMs(dayAfter(2), HOUR_MS))!;
    const cycle = { ...CYCLE, nextAttemptAt: dayAfter(2) };
    expect(moved).toMatchObject({ cycles: [cycle], shown: cycle, announced: true, news: [], tasks: [] });
    expect(moved.resource.cycle).toEqual(cycle);
  });

  test('A cycle that nobody has attempted fails without counting as unpaid, and the next one begins', () => {
    const ended = decidePlan(active(), dayAfter(7))!;
    expect(ended).toMatchObject({
      resource: { status: 'past_due', failedInRow: 0, cycle: { number: 3, status: 'scheduled' } },
      cycles: [
        {
          number: 2,
          status: 'failed',
          nextAttemptAt: null,
          failureReason: 'A cobrança não chegou ao banco a tempo',
        },
        { number: 3 },
      ],
      news: ['payment_failed', 'past_due'],
    });
  });

  test('A monthly cycle is not debited later than seven days after its due day', () => {
    const monthly = active({}, { interval: 'monthly', authorisedAt: new Date('2026-02-09T15:00:00.000Z') });
    expect(decidePlan(monthly, dayAfter(7))!.resource.cycle!.nextAttemptAt).toEqual(dayAfter(7));
    expect(decidePlan(monthly, dayAfter(8))).toMatchObject({
      resource: { failedInRow: 0, cycle: { number: 3, status: 'scheduled' } },
      cycles: [{ number: 2, status: 'failed', attempts: 0 }, { number: 3 }],
    });
  });

  test('A cycle that was attempted counts as unpaid, with the reason of the bank', () => {
    const tried = { status: 'retrying', attempts: 1, nextAttemptAt: dayAfter(1) } as const;
    const ended = decidePlan(active({ ...tried, failureReason: 'Saldo insuficiente' }), dayAfter(7))!;
    expect(ended.resource.failedInRow).toBe(1);
    expect(ended.cycles[0]).toMatchObject({ status: 'failed', failureReason: 'Saldo insuficiente' });
  });
});

describe('the record of an instruction', () => {
  test('The bank has the attempt, which is looked up at 6:00 of the day after its own', () => {
    expect(decideSent(active(), { number: 2, attempt: 1 })).toMatchObject({
      resource: { version: 3, cycle: { ...CYCLE, sent: true } },
      cycles: [{ ...CYCLE, sent: true }],
      tasks: [{ kind: 'subscription.look_up', at: plusMs(dayAfter(1), 6 * HOUR_MS) }],
      announced: false,
    });
  });

  test.each([
    ['of a subscription without a cycle', active(null), { number: 2, attempt: 1 }],
    ['of a cycle that is paid', active({ status: 'paid' }), { number: 2, attempt: 1 }],
    ['that is recorded', active({ sent: true }), { number: 2, attempt: 1 }],
    ['of the cycle before', active(), { number: 1, attempt: 1 }],
    ['of an attempt that has ended', active({ attempts: 1 }), { number: 2, attempt: 1 }],
  ])('One %s changes nothing', (_, subscription, attempt) => {
    expect(decideSent(subscription, attempt)).toBeNull();
  });

  test('Without a report it is looked up at 6:00 of the next days', () => {
    const sent = active({ sent: true });
    const first = plusMs(dayAfter(1), 6 * HOUR_MS);
    for (const [now, at] of [
      [DUE, first],
      [plusMs(first, -1), first],
      [first, plusMs(first, DAY_MS)],
      [plusMs(first, 3 * DAY_MS), plusMs(first, 4 * DAY_MS)],
    ] as const)
      expect(decideLookUpAgain(sent, now)).toMatchObject({
        tasks: [{ kind: 'subscription.look_up', at }],
        cycles: [],
        announced: false,
        resource: { version: 3 },
      });
    // The lookup is repeated after a cancellation that came too late, too.
    expect(decideLookUpAgain({ ...sent, status: 'canceled' }, DUE)).not.toBeNull();
    for (const subscription of [active(), active(null), active({ sent: true, status: 'paid' })])
      expect(decideLookUpAgain(subscription, DUE)).toBeNull();
  });

  test('A canceled attempt that the bank may have is looked up daily, up to seven days after the last day of an attempt', () => {
    const canceled = (at: Date, cycle: Partial<StoredCycle> = {}) =>
      active({ status: 'canceled', nextAttemptAt: null, ...cycle }, { status: 'canceled', canceledAt: at });
    const first = plusMs(dayAfter(1), 6 * HOUR_MS);
    const last = plusMs(dayAfter(14), 6 * HOUR_MS);
    for (const [now, at] of [
      [dayAfter(-3), first],
      [first, plusMs(first, DAY_MS)],
      [plusMs(last, -DAY_MS), last],
    ] as const)
      expect(decideLookUpAgain(canceled(dayAfter(-3)), now)).toMatchObject({
        tasks: [{ kind: 'subscription.look_up', at }],
        announced: false,
      });
    expect(decideLookUpAgain(canceled(dayAfter(-3)), last)).toBeNull();
    expect(decideLookUpAgain(canceled(plusMs(dayAfter(-3), -1)), first)).toBeNull();
    expect(decideLookUpAgain(canceled(plusMs(dayAfter(-3), -1), { attempts: 1 }), first)).not.toBeNull();
  });
});
