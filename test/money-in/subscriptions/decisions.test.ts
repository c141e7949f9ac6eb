import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import type { Environment } from '../../../server/src/kernel/tenant.ts';
import type { CreditState } from '../../../server/src/money-in/pix/decisions.ts';
import {
  decideReport,
  failed,
  MAX_FAILED_IN_ROW,
} from '../../../server/src/money-in/subscriptions/cycles.ts';
import {
  codeDecisions,
  decideCancel,
  decideCreate,
} from '../../../server/src/money-in/subscriptions/decisions.ts';
import {
  attemptIdOf,
  cyclePaymentId,
  type StoredCycle,
  type StoredSubscription,
} from '../../../server/src/money-in/subscriptions/model.ts';
import type { SubscriptionChange } from '../../../server/src/money-in/subscriptions/steps.ts';
import { type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';

// Each step of a subscription: its cycles, its events, its tasks at the bank and its postings. laws.test.ts has whole
// histories.

/** 9:00 in São Paulo. */
const NOW = new Date('2026-03-02T12:00:00.000Z');
const LATER = plusMs(NOW, 60_000);
const ID = `psa_sub_${'0'.repeat(32)}`;
/** The days on which the second cycle and the third are due, at 00:00 in São Paulo. */
const SECOND_DAY = new Date('2026-03-09T03:00:00.000Z');
const THIRD_DAY = new Date('2026-03-16T03:00:00.000Z');
/** Three days before the second cycle is due. */
const INSTRUCTED = new Date('2026-03-06T03:00:00.000Z');

function create(environment: Environment = 'live', more: object = {}, balances: Balances = NO_BALANCES) {
  return decideCreate(
    { valueCents: 700, interval: 'weekly', ...more },
    { subscriptionId: ID, environment, account: { pixEnabled: true, pixFeeCents: 30 }, balances, now: NOW },
  );
}
const NEW = create().resource;
const state: CreditState = {
  isKnown: false,
  keptPayment: null,
  environment: 'live',
  balances: NO_BALANCES,
  now: LATER,
};
const CREDIT = { endToEndId: 'E1', amountCents: 700, at: NOW };
const credited = (subscription: StoredSubscription, credit = CREDIT, more: CreditState = state) =>
  codeDecisions.decideCredit(subscription, credit, more) as SubscriptionChange;
const ACTIVE = credited({ ...NEW, brCode: '000201' }).resource;
const SECOND = ACTIVE.cycle!;
const SENT: StoredCycle = { ...SECOND, sent: true };

/** The members of a step without effects. */
const NOTHING = {
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
};
const stepOf = (previous: StoredSubscription, changed: Partial<StoredSubscription>, step: object = {}) => ({
  ...NOTHING,
  announced: true,
  previous,
  ...step,
  resource: {
    ...previous,
    ...changed,
    version: previous.version + Math.max(1, (step as { news?: string[] }).news?.length ?? 0),
  },
});
const END = { kind: 'subscription.end', at: LATER };

describe('a new subscription', () => {
  test('A new subscription waits for its code, and a day for its authorisation', () => {
    const given = {
      description: 'Clube',
      customer: { name: 'Ana' },
      metadata: '{}',
      endsAfterCycles: 12,
      successUrl: 'https://a.example',
      cancelUrl: 'https://b.example',
      language: 'en' as const,
    };
    const { resource, ...change } = create('live', given);
    expect(resource).toMatchObject({
      ...given,
      customer: { name: 'Ana' },
      subscriptionId: ID,
      version: 1,
      status: 'pending',
      amountCents: 700,
      feeCents: 30,
      interval: 'weekly',
      brCode: null,
      nextDueAt: null,
      cancelReason: null,
      canceledAt: null,
      createdAt: NOW,
      expiresAt: plusMs(NOW, DAY_MS),
      authorisedAt: null,
      failedInRow: 0,
      cycle: null,
      returnedCredits: [],
    });
    expect(change).toEqual({
      ...NOTHING,
      previous: null,
      announced: false,
      due: [
        { kind: 'pix.expire', at: plusMs(NOW, DAY_MS) },
        { kind: 'pix.register', at: plusMs(NOW, 10_000) },
      ],
    });
    expect(NEW).toMatchObject({
      description: null,
      customer: null,
      metadata: null,
      endsAfterCycles: null,
      successUrl: null,
      cancelUrl: null,
      language: null,
    });
  });

  test('A fee is at most the amount of a cycle, and in sandbox there is none', () => {
    expect(create('live', { valueCents: 20 }).resource.feeCents).toBe(20);
    expect(create('sandbox').resource.feeCents).toBe(0);
  });

  test('An account that holds as much as it can count gets none', () => {
    const balances = { ...NO_BALANCES, pix_received: -Math.floor(Number.MAX_SAFE_INTEGER / 2) };
    expect(() => create('live', {}, balances)).toThrow(expect.objectContaining({ code: 'LIMIT_REACHED' }));
  });
});

describe('the code of a subscription', () => {
  test('A code is recorded once, and only while it is pending', () => {
    expect(codeDecisions.decideRegistered(NEW, '000201')).toEqual(
      stepOf(NEW, { brCode: '000201' }, { done: ['pix.register'] }),
    );
    for (const other of [{ brCode: '000201' }, { status: 'canceled' as const }]) {
      expect(codeDecisions.decideRegistered({ ...NEW, ...other }, '000202')).toBeNull();
      expect(codeDecisions.decideRefused({ ...NEW, ...other }, 'Não', 'live')).toBeNull();
      expect(codeDecisions.decideRegisterAgain({ ...NEW, ...other }, LATER)).toBeNull();
    }
  });

  test('A code that is refused ends the subscription, and one that has not come is asked for again', () => {
    expect(codeDecisions.decideRefused(NEW, 'Não', 'live')).toEqual(
      stepOf(NEW, { status: 'expired' }, { news: ['expired'], done: ['pix.register', 'pix.expire'] }),
    );
    expect(codeDecisions.decideRegisterAgain(NEW, LATER)).toMatchObject({
      resource: NEW,
      announced: false,
      tasks: [],
      news: [],
      due: [{ kind: 'pix.register', at: plusMs(LATER, 10_000) }],
    });
  });

  test('An authorisation expires at its instant, and the recurrence ends at the bank', () => {
    const expire = (now: Date, subscription = NEW) =>
      codeDecisions.decideExpire(subscription, { environment: 'live', keptPayment: null, now });
    const end = NEW.expiresAt;
    expect(expire(plusMs(end, -1))).toBeNull();
    expect(expire(end, ACTIVE)).toBeNull();
    expect(expire(end)).toEqual(
      stepOf(
        NEW,
        { status: 'expired' },
        {
          news: ['expired'],
          done: ['pix.register', 'pix.expire'],
          tasks: [{ kind: 'subscription.end', at: end }],
        },
      ),
    );
  });
});

describe('the money of an authorisation', () => {
  const first = (paymentId = cyclePaymentId(ID, 1)) => ({
    subscriptionId: ID,
    number: 1,
    dueAt: new Date('2026-03-02T03:00:00.000Z'),
    status: 'paid',
    amountCents: 700,
    attempts: 1,
    nextAttemptAt: null,
    paymentId,
    paidAt: NOW,
    failureReason: null,
    sent: false,
  });

  test('An authorisation pays the first cycle, makes its payment, and begins the second', () => {
    const change = credited(NEW);
    const cycle = {
      subscriptionId: ID,
      number: 2,
      dueAt: SECOND_DAY,
      status: 'scheduled',
      amountCents: 700,
      attempts: 0,
      nextAttemptAt: SECOND_DAY,
      paymentId: null,
      paidAt: null,
      failureReason: null,
      sent: false,
    };
    const paymentId = cyclePaymentId(ID, 1);
    expect(change).toMatchObject({
      resource: {
        status: 'active',
        authorisedAt: NOW,
        cycle,
        nextDueAt: SECOND_DAY,
        failedInRow: 0,
        version: 3,
      },
      previous: NEW,
      announced: true,
      shown: first(),
      cycles: [first(), cycle],
      news: ['activated', 'paid'],
      done: ['pix.register', 'pix.expire'],
      due: [],
      doneTasks: [],
      tasks: [{ kind: 'subscription.instruct', at: INSTRUCTED }],
      credit: { endToEndId: 'E1', resourceId: paymentId, cause: null, receivedAt: NOW, returnedAt: null },
      payment: {
        paymentId,
        subscriptionId: ID,
        status: 'paid',
        method: 'pix',
        version: 2,
        amountCents: 700,
        feeCents: 30,
        paidAt: NOW,
        endToEndId: 'E1',
        createdAt: LATER,
        expiresAt: plusMs(LATER, 1_800_000),
        ltc: null,
        callbackUrl: null,
        externalId: null,
        productId: null,
        checkoutAttempt: null,
        description: null,
        metadata: null,
        customer: null,
        successUrl: null,
        cancelUrl: null,
        language: null,
      },
      transactions: [
        {
          id: `payment.paid:${paymentId}`,
          lines: [
            { account: 'pix_received', amount: -700 },
            { account: 'platform_fees', amount: 30 },
            { account: 'merchant_balance', amount: 670 },
          ],
        },
      ],
    });
    expect(credited(NEW, CREDIT, { ...state, isKnown: true })).toBeNull();
  });

  test('The only cycle completes a subscription, and the recurrence ends at the bank', () => {
    const once = { ...NEW, endsAfterCycles: 1 };
    expect(credited(once)).toMatchObject({
      resource: { status: 'completed', authorisedAt: NOW, nextDueAt: null, cycle: first(), version: 4 },
      cycles: [first()],
      news: ['activated', 'paid', 'completed'],
      tasks: [END],
    });
  });

  test.each<[string, Partial<StoredSubscription>, Partial<typeof CREDIT>, cause: string, ends: boolean]>([
    ['another amount', {}, { amountCents: 701 }, 'amount_mismatch', false],
    ['one that comes at the end of its time', {}, { at: NEW.expiresAt }, 'not_payable', true],
    ['one of an ended subscription', { status: 'canceled' }, {}, 'not_payable', true],
    ['one of another amount behind the time', {}, { amountCents: 1, at: NEW.expiresAt }, 'not_payable', true],
    ['a second one', { status: 'active', authorisedAt: NOW }, {}, 'already_paid', false],
  ])('The money is sent back of %s', (_, members, credit, cause, ends) => {
    const subscription = { ...NEW, ...members };
    const given = { ...CREDIT, ...credit };
    const shown = {
      endToEndId: 'E1',
      amountCents: given.amountCents,
      cause,
      receivedAt: given.at,
      returnedAt: null,
    };
    expect(credited(subscription, given)).toMatchObject({
      resource: { status: subscription.status, returnedCredits: [shown] },
      credit: { resourceId: ID, cause },
      due: [{ kind: 'pix.return', key: 'E1', at: LATER }],
      transactions: [{ id: 'pix_credit.returned:E1' }],
      payment: null,
      cycles: [],
      news: [],
      tasks: ends ? [END] : [],
    });
  });

  test('Money is in time up to the last millisecond', () => {
    const at = plusMs(NEW.expiresAt, -1);
    expect(credited(NEW, { ...CREDIT, at }).resource).toMatchObject({ status: 'active', authorisedAt: at });
  });

  test('The end of a return is recorded as that of any PIX', () => {
    const { resource, credit } = credited(NEW, { ...CREDIT, amountCents: 1 });
    const back = codeDecisions.decideReturn(resource, credit!, { status: 'completed' }, LATER);
    expect(back).toMatchObject({
      credit: { returnedAt: LATER },
      transactions: [{ id: 'pix_credit.sent_back:E1' }],
      tasks: [],
      news: [],
      resource: { returnedCredits: [{ returnedAt: LATER }] },
    });
    expect(codeDecisions.decideReturn(resource, back!.credit!, { status: 'completed' }, LATER)).toBeNull();
  });
});

describe('a cancellation', () => {
  const canceled = { status: 'canceled', cancelReason: 'merchant', canceledAt: LATER } as const;

  test('A pending subscription is canceled, and ends at the bank', () => {
    expect(decideCancel(NEW, 'merchant', LATER)).toEqual(
      stepOf(NEW, canceled, { news: ['canceled'], done: ['pix.register', 'pix.expire'], tasks: [END] }),
    );
  });

  test.each(['canceled', 'completed', 'expired'] as const)('What is %s is not canceled', (status) => {
    expect(decideCancel({ ...ACTIVE, status }, 'payer', LATER)).toBeNull();
  });

  const lookUp = { kind: 'subscription.look_up', at: new Date('2026-03-10T09:00:00.000Z') };
  test('The open cycle is canceled with it, and what the bank debits all the same is looked up', () => {
    const cycle: StoredCycle = { ...SECOND, status: 'canceled', nextAttemptAt: null };
    expect(decideCancel(ACTIVE, 'payer', LATER)).toEqual(
      stepOf(
        ACTIVE,
        { ...canceled, cancelReason: 'payer', cycle, nextDueAt: null },
        {
          cycles: [cycle],
          shown: cycle,
          news: ['canceled'],
          tasks: [END, lookUp],
          doneTasks: ['subscription.instruct'],
        },
      ),
    );
  });

  test('From 22:00 of the evening before, the bank recalls no attempt that it has', () => {
    const evening = new Date('2026-03-09T01:00:00.000Z');
    const cancel = (cycle: StoredCycle, now: Date) => decideCancel({ ...ACTIVE, cycle }, 'merchant', now)!;
    expect(cancel(SENT, plusMs(evening, -1)).resource.cycle).toMatchObject({
      status: 'canceled',
      sent: false,
    });
    const kept = cancel(SENT, evening);
    expect([kept.resource.cycle, kept.cycles, kept.shown]).toEqual([SENT, [], null]);
    expect(kept.tasks).toEqual([{ ...END, at: evening }, lookUp]);
    // The bank already knew of the cancellation, and has recalled the attempt.
    const learnt = decideCancel({ ...ACTIVE, cycle: SENT }, 'payer', evening, plusMs(evening, -1))!;
    expect(learnt.resource).toMatchObject({
      canceledAt: evening,
      cycle: { status: 'canceled', sent: false },
    });
    // An attempt that was never sent ends, however late it is.
    expect(cancel(SECOND, evening).resource.cycle).toMatchObject({ status: 'canceled' });
  });

  test('A subscription without an open cycle has nothing to look up', () => {
    const cycle: StoredCycle = { ...SECOND, status: 'failed', nextAttemptAt: null };
    const change = decideCancel({ ...ACTIVE, cycle }, 'merchant', LATER)!;
    expect([change.resource.cycle, change.cycles, change.tasks]).toEqual([cycle, [], [END]]);
  });
});

describe('the report of an attempt', () => {
  const due = plusMs(SECOND_DAY, 36_000_000);
  const paidReport = {
    number: 2,
    attempt: 1,
    status: 'paid',
    endToEndId: 'E2',
    amountCents: 700,
    at: due,
  } as const;
  const failedReport = { number: 2, attempt: 1, status: 'failed', reason: 'Saldo insuficiente' } as const;
  const at = { environment: 'live', balances: NO_BALANCES, now: due, isKnown: false } as const;
  const sent: StoredSubscription = { ...ACTIVE, cycle: SENT };
  const report = (
    subscription: StoredSubscription,
    said: typeof paidReport | typeof failedReport | object,
    more: object = {},
  ) => decideReport(subscription, said as typeof paidReport, { ...at, cycle: subscription.cycle, ...more });

  test('A paid attempt pays its cycle and begins the next', () => {
    expect(report(sent, paidReport)).toMatchObject({
      resource: {
        status: 'active',
        cycle: { number: 3, dueAt: THIRD_DAY },
        nextDueAt: THIRD_DAY,
        failedInRow: 0,
      },
      shown: { number: 2, status: 'paid', attempts: 1, nextAttemptAt: null, paidAt: due, sent: false },
      cycles: [{ number: 2 }, { number: 3 }],
      news: ['paid'],
      payment: { endToEndId: 'E2' },
      tasks: [{ kind: 'subscription.instruct', at: new Date('2026-03-13T03:00:00.000Z') }],
    });
    expect(report(sent, paidReport, { isKnown: true })).toBeNull();
  });

  test('A cycle that is paid by an earlier attempt recalls the one that the bank has', () => {
    const retrying = { ...SENT, status: 'retrying', attempts: 1 } as const;
    const change = report({ ...sent, status: 'past_due', failedInRow: 1, cycle: retrying }, paidReport)!;
    expect(change.tasks[0]).toEqual({
      kind: 'subscription.recall',
      key: `${ID} ${attemptIdOf(ID, 2, 2)}`,
      at: due,
    });
    expect(change.resource).toMatchObject({ status: 'active', failedInRow: 0 });
    expect(change.shown).toMatchObject({ attempts: 1 });
    const unsent = { ...sent, status: 'past_due', cycle: { ...retrying, sent: false } } as const;
    expect(report(unsent, paidReport)!.tasks).toHaveLength(1);
    const own = report({ ...sent, status: 'past_due', cycle: retrying }, { ...paidReport, attempt: 2 })!;
    expect([own.tasks.length, own.shown!.attempts]).toEqual([1, 2]);
  });

  test('The last cycle completes a subscription, also where it was past due', () => {
    const last = { ...sent, status: 'past_due', endsAfterCycles: 2 } as const;
    expect(report(last, paidReport)).toMatchObject({
      resource: { status: 'completed', cycle: { number: 2, status: 'paid' }, nextDueAt: null },
      news: ['paid', 'completed'],
      tasks: [{ kind: 'subscription.end', at: due }],
    });
  });

  test('An attempt that was past its recall is paid behind the end, and begins nothing', () => {
    const ended = { ...sent, status: 'canceled', cancelReason: 'merchant', canceledAt: NOW } as const;
    expect(report(ended, paidReport)).toMatchObject({
      resource: { status: 'canceled', cycle: { number: 2, status: 'paid' } },
      news: ['paid'],
      tasks: [],
      cycles: [{ number: 2, status: 'paid' }],
    });
    expect(report(ended, failedReport)).toMatchObject({
      resource: { status: 'canceled', cycle: { number: 2, status: 'failed', attempts: 1 } },
      news: ['payment_failed'],
      tasks: [],
      doneTasks: ['subscription.instruct'],
    });
  });

  test('A failed attempt is repeated a day later, and the subscription is past due from then on', () => {
    const next = new Date('2026-03-10T03:00:00.000Z');
    const cycle = {
      number: 2,
      status: 'retrying',
      attempts: 1,
      nextAttemptAt: next,
      sent: false,
      failureReason: 'Saldo insuficiente',
    };
    expect(report(sent, failedReport)).toMatchObject({
      resource: { status: 'past_due', cycle, nextDueAt: THIRD_DAY, failedInRow: 0 },
      shown: cycle,
      cycles: [cycle],
      news: ['payment_failed', 'past_due'],
      payment: null,
      tasks: [{ kind: 'subscription.instruct', at: due }],
    });
    const pastDue = report({ ...sent, status: 'past_due' }, failedReport)!;
    expect(pastDue.news).toEqual(['payment_failed']);
    for (const attempt of [0, 2]) expect(report(sent, { ...failedReport, attempt })).toBeNull();
    // The next attempt is never today: the bank is done with this day.
    const late = report(sent, failedReport, { now: new Date('2026-03-11T12:00:00.000Z') })!;
    expect(late.resource.cycle!.nextAttemptAt).toEqual(new Date('2026-03-12T03:00:00.000Z'));
  });

  test('The last attempt that fails ends its cycle, and begins the next', () => {
    const third = {
      ...SENT,
      status: 'retrying',
      attempts: 2,
      nextAttemptAt: new Date('2026-03-12T03:00:00.000Z'),
    } as const;
    const change = report(
      { ...sent, status: 'past_due', cycle: third },
      { ...failedReport, attempt: 3 },
      { now: new Date('2026-03-12T12:00:00.000Z') },
    )!;
    expect(change).toMatchObject({
      resource: { status: 'past_due', failedInRow: 1, cycle: { number: 3, status: 'scheduled' } },
      shown: { number: 2, status: 'failed', attempts: 3, nextAttemptAt: null },
      news: ['payment_failed'],
      doneTasks: [],
      cycles: [{ number: 2 }, { number: 3 }],
    });
  });

  test('Another amount is sent back, and is a failed attempt', () => {
    const change = report(sent, { ...paidReport, amountCents: 699 })!;
    expect(change).toMatchObject({
      resource: {
        status: 'past_due',
        returnedCredits: [{ endToEndId: 'E2', cause: 'amount_mismatch' }],
        cycle: { status: 'retrying', attempts: 1, failureReason: 'O banco enviou outro valor' },
      },
      credit: { resourceId: ID, cause: 'amount_mismatch', amountCents: 699 },
      transactions: [{ id: 'pix_credit.returned:E2' }],
      payment: null,
      due: [{ kind: 'pix.return', key: 'E2', at: due }],
      news: ['payment_failed', 'past_due'],
    });
    // A report of an ended attempt ends nothing.
    const older = report(sent, { ...paidReport, amountCents: 699, attempt: 0 })!;
    expect(older).toMatchObject({ news: [], resource: { status: 'active', cycle: SENT }, cycles: [] });
  });

  test.each<[string, StoredCycle | null, cause: string]>([
    ['is paid', { ...SENT, status: 'paid', nextAttemptAt: null }, 'already_paid'],
    ['has failed', { ...SENT, status: 'failed', nextAttemptAt: null }, 'not_payable'],
    ['is not there', null, 'not_payable'],
    ['is open and is not the newest', { ...SENT, number: 1 }, 'not_payable'],
  ])('Money for a cycle that %s is sent back', (_, cycle, cause) => {
    const subscription = { ...sent, cycle: cycle?.number === 1 ? SENT : cycle };
    expect(report(subscription, paidReport, { cycle })).toMatchObject({
      credit: { cause },
      payment: null,
      news: [],
      tasks: [],
      resource: { status: 'active', returnedCredits: [{ cause }] },
    });
    expect(report(subscription, failedReport, { cycle })).toBeNull();
  });
});

describe('a cycle that was not paid', () => {
  const ended: StoredCycle = { ...SECOND, status: 'failed', nextAttemptAt: null };
  const end = (members: Partial<StoredSubscription>, wasAttempted = true) =>
    failed({ ...ACTIVE, ...members }, ended, LATER, { wasAttempted });

  test('The third in a row ends the subscription as unpaid', () => {
    expect(end({ status: 'past_due', failedInRow: MAX_FAILED_IN_ROW - 1 })).toMatchObject({
      resource: {
        status: 'canceled',
        cancelReason: 'unpaid',
        canceledAt: LATER,
        failedInRow: 3,
        cycle: ended,
      },
      news: ['payment_failed', 'canceled'],
      tasks: [END],
      cycles: [ended],
      shown: ended,
      doneTasks: ['subscription.instruct'],
    });
    expect(end({ failedInRow: MAX_FAILED_IN_ROW - 2 }).resource).toMatchObject({
      status: 'past_due',
      failedInRow: 2,
      cycle: { number: 3 },
    });
  });

  test('One without an attempt neither adds to the row nor ends it', () => {
    expect(end({ failedInRow: 2 }, false)).toMatchObject({
      resource: { status: 'past_due', failedInRow: 2 },
      news: ['payment_failed', 'past_due'],
    });
  });

  test('The last cycle completes the subscription, paid or not', () => {
    expect(end({ endsAfterCycles: 2, failedInRow: 2 })).toMatchObject({
      resource: { status: 'completed', failedInRow: 3, cancelReason: null, cycle: ended, nextDueAt: null },
      news: ['payment_failed', 'completed'],
      tasks: [END],
      doneTasks: ['subscription.instruct'],
    });
  });
});
