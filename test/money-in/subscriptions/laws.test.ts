import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import { dayOf, daysBetween, instantOf, plusDays } from '../../../server/src/kernel/sao-paulo.ts';
import type { Environment } from '../../../server/src/kernel/tenant.ts';
import type { StoredPayment } from '../../../server/src/money-in/payments/model.ts';
import type { RecordedCredit } from '../../../server/src/money-in/pix/credit.ts';
import {
  dueDayOf,
  INTERVALS,
  type Interval,
  MAX_ATTEMPTS,
} from '../../../server/src/money-in/subscriptions/calendar.ts';
import { decideReport, MAX_FAILED_IN_ROW } from '../../../server/src/money-in/subscriptions/cycles.ts';
import {
  codeDecisions,
  decideCancel,
  decideCreate,
} from '../../../server/src/money-in/subscriptions/decisions.ts';
import {
  attemptToSend,
  decideLookUpAgain,
  decidePlan,
  decideSent,
} from '../../../server/src/money-in/subscriptions/instructions.ts';
import {
  isFinal,
  isLive,
  isOpen,
  NEXT,
  type StoredCycle,
  type StoredSubscription,
} from '../../../server/src/money-in/subscriptions/model.ts';
import type { SubscriptionChange } from '../../../server/src/money-in/subscriptions/steps.ts';
import {
  applyToBalances,
  type Balances,
  type LedgerTransaction,
  NO_BALANCES,
} from '../../../server/src/state/ledger/postings.ts';
import { generated } from '../../support/scale.ts';

const NOW = new Date('2026-01-30T15:00:00.000Z');
const HOUR_MS = 3_600_000;
const AMOUNT = 4_990;

/** An attempt that the bank knows: it is scheduled once, on the day that the bank heard first. */
interface BankAttempt {
  id: string;
  number: number;
  attempt: number;
  dueAt: Date;
}

/** One subscription, whose steps are decided as the service decides them, and a naive record of its events. */
function createHistory({
  environment,
  feeCents,
  interval,
  endsAfterCycles,
}: {
  environment: Environment;
  feeCents: number;
  interval: Interval;
  endsAfterCycles: number | null;
}) {
  let now = NOW;
  let balances: Balances = NO_BALANCES;
  const posted = new Set<string>();
  const cycles = new Map<number, StoredCycle>();
  const credits = new Map<string, RecordedCredit>();
  const payments = new Map<string, StoredPayment>();
  const atBank = new Map<string, BankAttempt>();
  /** All credits that the bank has sent, by their end-to-end ids, also those that were reported twice. */
  const sent = new Map<string, number>();
  let subscription!: StoredSubscription;

  function post(transaction: LedgerTransaction): void {
    expect(posted).not.toContain(transaction.id);
    posted.add(transaction.id);
    expect(transaction.lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
    balances = applyToBalances(balances, transaction);
  }

  function apply(change: SubscriptionChange | null): boolean {
    if (!change) return false;
    const before = change.previous;
    expect(before).toBe(subscription ?? null);
    const { resource } = change;
    if (before && before.status !== resource.status) expect(NEXT[before.status]).toContain(resource.status);
    expect(resource.version).toBe(
      (before?.version ?? 0) + (change.announced ? Math.max(1, change.news.length) : before ? 0 : 1),
    );
    expect(new Set(change.news).size).toBe(change.news.length);
    // A changed status is an event, and a new resource's event has its status.
    if (before && before.status !== resource.status && resource.status !== 'active')
      expect(change.news).toContain(resource.status);
    for (const cycle of change.cycles) {
      const known = cycles.get(cycle.number);
      expect(known === undefined || isOpen(known)).toBe(true);
      if (known) expect(cycle.dueAt).toEqual(known.dueAt);
      else expect(cycle.number).toBe(cycles.size + 1);
      cycles.set(cycle.number, cycle);
    }
    if (change.credit) credits.set(change.credit.endToEndId, change.credit);
    if (change.payment) {
      expect(payments.has(change.payment.paymentId)).toBe(false);
      payments.set(change.payment.paymentId, change.payment);
    }
    for (const transaction of change.transactions) post(transaction);
    subscription = resource;
    return true;
  }

  const stateOf = (endToEndId: string) => ({
    environment,
    balances,
    now,
    keptPayment: null,
    isKnown: credits.has(endToEndId),
  });

  return {
    subscription: () => subscription,
    cycles,
    credits,
    payments,
    atBank,
    sent,
    balances: () => balances,
    now: () => now,
    pass(ms: number) {
      now = plusMs(now, ms);
    },
    create() {
      apply(
        decideCreate(
          { valueCents: AMOUNT, interval, endsAfterCycles },
          {
            subscriptionId: `psa_sub_${'0'.repeat(32)}`,
            environment,
            balances,
            now,
            account: { pixEnabled: true, pixFeeCents: feeCents },
          },
        ),
      );
    },
    register: () => apply(codeDecisions.decideRegistered(subscription, 'código') as SubscriptionChange),
    refuse: () => apply(codeDecisions.decideRefused(subscription, 'Não', environment) as SubscriptionChange),
    expire: () =>
      apply(
        codeDecisions.decideExpire(subscription, {
          environment,
          keptPayment: null,
          now,
        }) as SubscriptionChange,
      ),
    cancel: (by: 'merchant' | 'payer') => apply(decideCancel(subscription, by, now)),
    credit(name: string, more: number, earlierMs: number) {
      const known = credits.get(`E${name}`);
      const amountCents = known?.amountCents ?? AMOUNT + more;
      sent.set(`E${name}`, amountCents);
      const credit = { endToEndId: `E${name}`, amountCents, at: plusMs(now, -earlierMs) };
      const change = codeDecisions.decideCredit(subscription, credit, stateOf(credit.endToEndId));
      expect(change === null).toBe(known !== undefined);
      return apply(change as SubscriptionChange);
    },
    /** Plans and sends what is due; a crash loses the record of it, and the bank keeps the instruction. */
    instruct(crashes: boolean) {
      apply(decidePlan(subscription, now));
      const attempt = attemptToSend(subscription, now);
      if (!attempt) return;
      expect(isLive(subscription.status)).toBe(true);
      // The day of the attempt has not passed.
      expect(attempt.dueAt.getTime()).toBeGreaterThanOrEqual(instantOf(dayOf(now)).getTime());
      if (!atBank.has(attempt.id)) atBank.set(attempt.id, attempt);
      if (!crashes) {
        apply(decideSent(subscription, attempt));
        expect(decideSent(subscription, attempt)).toBe(null);
        expect(attemptToSend(subscription, now)).toBe(null);
      }
    },
    lookUpAgain: () => apply(decideLookUpAgain(subscription, now)),
    /** Reports the outcome of an attempt that the bank knows. */
    report(which: number, outcome: 'paid' | 'failed', name: string, more: number) {
      const attempt = [...atBank.values()][which % Math.max(1, atBank.size)];
      if (!attempt) return;
      const { number } = attempt;
      const endToEndId = `D${attempt.id} ${name}`;
      const amountCents = sent.get(endToEndId) ?? AMOUNT + more;
      if (outcome === 'paid') sent.set(endToEndId, amountCents);
      const before = subscription;
      const isKnown = credits.has(endToEndId);
      const change = decideReport(
        subscription,
        outcome === 'paid'
          ? { ...attempt, status: 'paid', endToEndId, amountCents, at: now }
          : { ...attempt, status: 'failed', reason: 'Saldo insuficiente' },
        { ...stateOf(endToEndId), cycle: cycles.get(number) ?? null },
      );
      if (outcome === 'paid') expect(change === null).toBe(isKnown);
      apply(change);
      if (outcome === 'failed' && !isOpen(cycles.get(number)!)) return;
      // The same report again changes nothing.
      if (outcome === 'failed' && subscription !== before)
        expect(
          decideReport(
            subscription,
            { ...attempt, status: 'failed', reason: 'Saldo insuficiente' },
            { ...stateOf(''), cycle: cycles.get(number)! },
          ),
        ).toBe(null);
    },
  };
}

type History = ReturnType<typeof createHistory>;

/** The laws that hold after each step. */
function expectLaws(history: History, { feeCents, interval, endsAfterCycles, environment }: Settings): void {
  const subscription = history.subscription();
  const cycles = [...history.cycles.values()];
  const credits = [...history.credits.values()];
  const accepted = credits.filter(({ cause }) => cause === null);
  const rejected = credits.filter(({ cause }) => cause !== null);
  const sum = (rows: readonly { amountCents: number }[]) =>
    rows.reduce((total, { amountCents }) => total + amountCents, 0);

  // Each PIX is accepted or returned, once.
  expect(credits.map(({ endToEndId, amountCents }) => [endToEndId, amountCents])).toEqual(
    expect.arrayContaining([...history.sent].filter(([id]) => history.credits.has(id))),
  );
  expect(history.sent.size).toBe(credits.length);

  // A cycle is paid at most once, with exactly its amount, and has its own payment.
  const paid = cycles.filter(({ status }) => status === 'paid');
  expect(accepted.map(({ resourceId }) => resourceId).sort()).toEqual(
    paid.map(({ paymentId }) => paymentId!).sort(),
  );
  expect([...history.payments.keys()].sort()).toEqual(paid.map(({ paymentId }) => paymentId!).sort());
  for (const credit of accepted) {
    const payment = history.payments.get(credit.resourceId)!;
    expect([payment.amountCents, payment.endToEndId, payment.subscriptionId]).toEqual([
      ...[AMOUNT, credit.endToEndId, subscription.subscriptionId],
    ]);
    expect(credit.amountCents).toBe(AMOUNT);
  }

  // The ledger has exactly these balances.
  const fee = environment === 'sandbox' ? 0 : Math.min(feeCents, AMOUNT);
  expect(history.balances()).toEqual({
    ...NO_BALANCES,
    merchant_balance: accepted.length * (AMOUNT - fee),
    platform_fees: accepted.length * fee,
    refunds_in_transit: sum(rejected),
    pix_received: 0 - sum(credits),
  });

  // Due days never drift; at most one cycle is open, and it is the newest.
  expect(cycles.filter(isOpen).length).toBeLessThanOrEqual(1);
  if (cycles.length > 0) expect(subscription.cycle).toEqual(cycles.at(-1));
  for (const cycle of cycles) {
    const due = dueDayOf(dayOf(subscription.authorisedAt!), interval, cycle.number);
    expect(cycle.dueAt).toEqual(instantOf(due));
    expect(isOpen(cycle)).toBe(cycle.nextAttemptAt !== null);
    expect(cycle.attempts).toBeLessThanOrEqual(MAX_ATTEMPTS);
    // The bank knows at most four attempts, on different days, from the due day on and before the next one.
    const own = [...history.atBank.values()].filter(({ number }) => number === cycle.number);
    const days = own.map(({ dueAt }) => daysBetween(due, dayOf(dueAt)));
    const nextDue = dueDayOf(dayOf(subscription.authorisedAt!), interval, cycle.number + 1);
    expect(own.length).toBeLessThanOrEqual(MAX_ATTEMPTS);
    expect(new Set(days).size).toBe(days.length);
    for (const day of days) {
      expect(day).toBeGreaterThanOrEqual(0);
      expect(day).toBeLessThan(daysBetween(due, nextDue));
    }
  }
  if (endsAfterCycles !== null) expect(cycles.length).toBeLessThanOrEqual(endsAfterCycles);

  // An ended subscription debits nothing more, except an attempt that could not be recalled.
  if (isFinal(subscription.status)) {
    expect(subscription.nextDueAt).toBe(null);
    for (const cycle of cycles.filter(isOpen)) {
      expect(subscription.status).toBe('canceled');
      const recall = instantOf(plusDays(dayOf(cycle.nextAttemptAt!), -1), 22);
      expect(subscription.canceledAt!.getTime()).toBeGreaterThanOrEqual(recall.getTime());
      expect(cycle.sent).toBe(true);
    }
  }
  expect(subscription.failedInRow).toBeLessThanOrEqual(MAX_FAILED_IN_ROW);
  if (subscription.failedInRow === MAX_FAILED_IN_ROW) expect(isLive(subscription.status)).toBe(false);
  expect(subscription.canceledAt !== null).toBe(subscription.status === 'canceled');
  expect(subscription.cancelReason !== null).toBe(subscription.status === 'canceled');
}

// ── Random histories ────────────────────────────────────────────────────────────────────────────

interface Settings {
  environment: Environment;
  feeCents: number;
  interval: Interval;
  endsAfterCycles: number | null;
}

const settings = fc.record<Settings>({
  environment: fc.constantFrom<Environment[]>('live', 'sandbox'),
  feeCents: fc.constantFrom(0, 99, 10_000),
  interval: fc.constantFrom<Interval[]>(...INTERVALS, 'weekly', 'monthly'),
  endsAfterCycles: fc.constantFrom<(number | null)[]>(null, null, 1, 3),
});

type Command = (history: History) => unknown;

const name = fc.constantFrom('1', '2', '3');
const more = fc.constantFrom(0, 0, 0, 0, 0, 1, -1);
const which = fc.nat({ max: 40 });
const pass: fc.Arbitrary<Command> = fc
  .oneof(
    fc.integer({ min: 1, max: 30 }).map((hours) => hours * HOUR_MS),
    fc.integer({ min: 1, max: 12 }).map((days) => days * DAY_MS),
    fc.constant(100 * DAY_MS),
  )
  .map((ms) => (history) => history.pass(ms));
const instruct: fc.Arbitrary<Command> = fc
  .constantFrom(false, false, false, true)
  .map((crashes) => (history) => history.instruct(crashes));
const failed: fc.Arbitrary<Command> = which.map((nth) => (history) => history.report(nth, 'failed', '', 0));
/** The bank decides the newest attempt, which is the usual case. */
const newest: fc.Arbitrary<Command> = fc
  .constantFrom<('paid' | 'failed')[]>('paid', 'failed', 'failed')
  .map((outcome) => (history) => history.report(history.atBank.size - 1, outcome, '1', 0));
/** The bank refuses the next attempt on its day. A cycle fails only after several of these in a row. */
const refused: fc.Arbitrary<Command> = fc.constant((history) => {
  const { cycle } = history.subscription();
  if (!cycle?.nextAttemptAt) return;
  history.pass(Math.max(0, cycle.nextAttemptAt.getTime() - history.now().getTime()));
  history.instruct(false);
  history.report(history.atBank.size - 1, 'failed', '', 0);
});
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: refused },
  { weight: 5, arbitrary: pass },
  { weight: 6, arbitrary: instruct },
  { weight: 5, arbitrary: newest },
  { weight: 2, arbitrary: failed },
  {
    weight: 2,
    arbitrary: fc.tuple(which, name, more).map(
      ([nth, each, added]) =>
        (history: History) =>
          history.report(nth, 'paid', each, added),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(name, more, fc.constantFrom(0, 0, HOUR_MS, 30 * HOUR_MS)).map(
      ([each, added, earlier]) =>
        (history: History) =>
          history.credit(each, added, earlier),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Command[]>(
      (history) => history.expire(),
      (history) => history.register(),
      (history) => history.lookUpAgain(),
      (history) => history.refuse(),
    ),
  },
);
const ending: fc.Arbitrary<Command> = fc
  .constantFrom<('merchant' | 'payer')[]>('merchant', 'payer')
  .map((by) => (history) => history.cancel(by));

function play(
  chosen: Settings,
  commands: readonly Command[],
  authorised: boolean,
  observe: (history: History) => void = () => undefined,
): History {
  const history = createHistory(chosen);
  history.create();
  if (authorised) {
    history.register();
    history.credit('1', 0, 0);
  }
  expectLaws(history, chosen);
  for (const each of commands) {
    each(history);
    expectLaws(history, chosen);
    observe(history);
  }
  return history;
}

describe('the laws of subscriptions', () => {
  test('hold after each step of any history, whatever the bank reports and however often', () => {
    fc.assert(
      fc.property(
        settings,
        fc.array(fc.oneof({ weight: 30, arbitrary: command }, { weight: 1, arbitrary: ending }), {
          maxLength: 60,
          size: 'max',
        }),
        fc.constantFrom(true, true, true, false),
        (chosen, commands, authorised) => {
          play(chosen, commands, authorised);
        },
      ),
      { numRuns: generated(600, 20) },
    );
  });

  test('hold for an attempt that the bank reports in every order and many times', () => {
    fc.assert(
      fc.property(
        settings,
        fc.array(fc.constantFrom<('paid' | 'failed')[]>('paid', 'failed'), { minLength: 2, maxLength: 6 }),
        (chosen, outcomes) => {
          const history = play(chosen, [], true);
          if (!isLive(history.subscription().status)) return;
          history.pass(history.subscription().nextDueAt!.getTime() - history.now().getTime());
          history.instruct(false);
          for (const outcome of outcomes) {
            history.report(0, outcome, '1', 0);
            expectLaws(history, chosen);
          }
          // Money is accepted whenever the bank reports it, unless the cycle had ended before.
          expect(history.payments.size).toBe(outcomes.includes('paid') ? 2 : 1);
        },
      ),
      { numRuns: generated(300, 20) },
    );
  });

  test('random histories reach each status, each end of a cycle, and each way to end', () => {
    const seen = new Set<string>();
    const reached = [
      ...['active', 'past_due', 'canceled', 'completed'],
      ...['merchant', 'payer', 'unpaid'].map((reason) => `because ${reason}`),
      ...['scheduled', 'retrying', 'paid', 'failed', 'canceled'].map((status) => `cycle ${status}`),
      ...[null, 'already_paid', 'not_payable', 'amount_mismatch'].map((cause) => `credit ${cause}`),
    ];
    const commands = fc.array(
      fc.oneof({ weight: 30, arbitrary: command }, { weight: 1, arbitrary: ending }),
      {
        maxLength: 80,
        size: 'max',
      },
    );
    // The seeds are fixed: the reached states must not depend on luck.
    for (let seed = 7; seed < 22 && reached.some((each) => !seen.has(each)); seed += 1)
      for (const [chosen, history] of fc.sample(fc.tuple(settings, commands), { numRuns: 10, seed }))
        play(chosen, history, true, (played) => {
          const { status, cancelReason, cycle } = played.subscription();
          seen.add(status).add(`because ${cancelReason}`).add(`cycle ${cycle?.status}`);
          for (const each of played.cycles.values()) seen.add(`cycle ${each.status}`);
          for (const { cause } of played.credits.values()) seen.add(`credit ${cause}`);
        });
    expect([...seen]).toEqual(expect.arrayContaining(reached));
  });
});
