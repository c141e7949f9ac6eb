import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import type { PaymentError } from '../../../server/src/kernel/errors.ts';
import type { Environment } from '../../../server/src/kernel/tenant.ts';
import {
  type CardPaymentChange,
  decideCreate as decideCardCreate,
  decideOutcome,
} from '../../../server/src/money-in/card-payments/decisions.ts';
import type { StoredCardPayment } from '../../../server/src/money-in/card-payments/model.ts';
import { keptPaymentOf } from '../../../server/src/money-in/checkout/model.ts';
import { pixPayments } from '../../../server/src/money-in/payments/collections.ts';
import { decideCreate, paymentRules } from '../../../server/src/money-in/payments/decisions.ts';
import type { StoredPayment } from '../../../server/src/money-in/payments/model.ts';
import { writesOfPix } from '../../../server/src/money-in/pix/collections.ts';
import { type RecordedCredit, returnIdOf } from '../../../server/src/money-in/pix/credit.ts';
import type { PixChange } from '../../../server/src/money-in/pix/decisions.ts';
import { NEXT, SHOWN_RETURNS } from '../../../server/src/money-in/pix/model.ts';
import { pixRefunds, REFUND_DAYS } from '../../../server/src/money-in/pix/refunding.ts';
import { MAX_REFUNDS } from '../../../server/src/money-in/receiving/model.ts';
import {
  applyToBalances,
  type Balances,
  type LedgerTransaction,
  NO_BALANCES,
} from '../../../server/src/state/ledger/postings.ts';
import { ledgerTransaction } from '../../support/ledger.ts';
import { generated } from '../../support/scale.ts';

type PaymentChange = PixChange<StoredPayment>;

const { decideCredit, decideExpire, decideRefused, decideRegisterAgain, decideRegistered, decideReturn } =
  pixPayments.decisions;
const { decideRefundBegin, decideRefundCompleted, decideRefundFailed } = pixRefunds(paymentRules);

const NOW = new Date('2026-03-02T12:00:00.000Z');
const CARD_ACCOUNT = { cardPaymentsEnabled: true, cardReleaseDays: 14 };
const MINUTE = 60_000;

// ── A tenant, and a second model of its books ───────────────────────────────────────────────────

interface Refund {
  paymentId: string;
  amountCents: number;
  status: 'processing' | 'completed' | 'failed';
}

/** A tenant whose payments are decided as the service decides them, and a record of all its events. */
function createTenant(environment: Environment, pixFeeCents: number) {
  let now = NOW;
  let balances: Balances = NO_BALANCES;
  const posted = new Set<string>();
  const payments = new Map<string, StoredPayment>();
  const cards = new Map<string, StoredCardPayment>();
  const credits = new Map<string, RecordedCredit>();
  const refunds = new Map<string, Refund>();
  /** The ids by which the bank was asked to return a credit. */
  const returnIds = new Set<string>();
  const announced = new Set<string>();
  let paidOutCents = 0;
  let heldCents = 0;

  function post(transaction: LedgerTransaction | null): void {
    if (!transaction) return;
    expect(posted).not.toContain(transaction.id);
    posted.add(transaction.id);
    expect(transaction.lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
    balances = applyToBalances(balances, transaction);
  }

  /** Records a step: a status follows its transitions, and each version after the first is announced. */
  function apply(change: PaymentChange | null): PaymentChange | null {
    if (!change) return null;
    const { previous, resource: payment, credit, transactions } = change;
    expect(previous).toBe(payments.get(payment.paymentId) ?? null);
    if (previous && previous.status !== payment.status)
      expect(NEXT[previous.status]).toContain(payment.status);
    expect(payment.version).toBe((previous?.version ?? 0) + (change.announced || !previous ? 1 : 0));
    expect(change.announced).toBe(payment.version > 1 && previous !== payment);
    // A payment's first update has no status before it; each later one has.
    const { paymentId } = payment;
    for (const { resource, previousStatus } of writesOfPix(pixPayments, change).events ?? []) {
      if (resource !== 'payment') continue;
      expect(previousStatus).toBe(announced.has(paymentId) ? previous!.status : null);
      announced.add(paymentId);
    }
    if (credit) credits.set(credit.endToEndId, credit);
    payments.set(payment.paymentId, payment);
    for (const transaction of transactions) post(transaction);
    return change;
  }

  const otherPaymentsOf = ({ checkoutAttempt }: Pick<StoredPayment, 'checkoutAttempt'>, own: string) =>
    [...payments.values()]
      .map((payment) => ({ ...payment, id: payment.paymentId, canceledAt: null }))
      .concat([...cards.values()].map((card) => ({ ...card, id: card.orderCode })) as never)
      .filter((other) => other.checkoutAttempt === checkoutAttempt && other.id !== own);

  const nth = <Row>(rows: ReadonlyMap<string, Row>, which: number): Row | undefined =>
    [...rows.values()][which % Math.max(1, rows.size)];

  return {
    payments,
    cards,
    credits,
    refunds,
    balances: () => balances,
    pass(ms: number) {
      now = plusMs(now, ms);
    },
    create(amountCents: number, order: number): string {
      const paymentId = `psa_${String(payments.size).padStart(32, '0')}`;
      apply(
        decideCreate(
          {},
          { amountCents, description: null },
          {
            paymentId,
            checkoutAttempt: `attempt-${order}`,
            environment,
            balances,
            now,
            account: { pixEnabled: true, pixFeeCents },
          },
        ),
      );
      return paymentId;
    },
    code(which: number, outcome: 'registered' | 'refused' | 'pending') {
      const payment = nth(payments, which);
      if (!payment) return;
      if (outcome === 'registered') apply(decideRegistered(payment, 'código'));
      else if (outcome === 'refused') apply(decideRefused(payment, 'Não', environment));
      else apply(decideRegisterAgain(payment, now));
    },
    expire(which: number) {
      const payment = nth(payments, which);
      if (payment) apply(decideExpire(payment, { environment, keptPayment: null, now }));
    },
    credit(which: number, endToEndId: string, more: number, earlierMs = 0) {
      const payment = nth(payments, which);
      if (!payment) return;
      const name = `${payment.paymentId} ${endToEndId}`;
      const known = credits.get(name) ?? null;
      // The bank reports the same amount of a credit each time.
      const amountCents = known?.amountCents ?? Math.max(1, payment.amountCents + more);
      const change = apply(
        decideCredit(
          payment,
          { endToEndId: name, amountCents, at: plusMs(now, -earlierMs) },
          {
            isKnown: known !== null,
            environment,
            balances,
            now,
            keptPayment: keptPaymentOf(otherPaymentsOf(payment, payment.paymentId)),
          },
        ),
      );
      expect(change === null).toBe(known !== null);
    },
    returned(which: number, status: 'completed' | 'pending' | 'failed') {
      const credit = nth(credits, which);
      if (!credit) return;
      const before = credit.returnedAt;
      const id = returnIdOf(credit);
      const outcome = status === 'pending' ? { status, settlesAt: null } : { status };
      const change = apply(decideReturn(payments.get(credit.resourceId)!, credit, outcome, now));
      expect(change === null).toBe(credit.cause === null || before !== null);
      // The bank has not refused a return under the id that it gets next.
      if (change && status === 'failed') {
        expect(returnIds).not.toContain(id);
        returnIds.add(id);
        expect(returnIdOf(credits.get(credit.endToEndId)!)).not.toBe(id);
      }
    },
    payByCard(order: number, isCanceled: boolean) {
      const orderCode = `PSC-${cards.size}`;
      const checkoutAttempt = `attempt-${order}`;
      const { payment } = decideCardCreate({ valueCents: 500 }, { orderCode, checkoutAttempt, now });
      const open = { ...payment, openChargeId: 'chg', canceledAt: isCanceled ? now : null };
      const change = decideOutcome(
        { ...open, status: isCanceled ? 'expired' : 'pending' },
        {
          chargeId: 'chg',
          outcome: { status: 'approved' },
          account: CARD_ACCOUNT,
          now,
          otherPayments: otherPaymentsOf(payment, orderCode),
        },
      ) as CardPaymentChange;
      cards.set(orderCode, change.payment);
      post(change.transaction);
    },
    /** Refunds as the merchant. The refund begins exactly when the naive rule permits it, and never creates a debt. */
    refund(which: number, amountCents: number | null) {
      const payment = nth(payments, which);
      if (!payment) return;
      const own = [...refunds.values()].filter(({ paymentId }) => paymentId === payment.paymentId);
      const gone = own.reduce((sum, each) => sum + (each.status === 'failed' ? 0 : each.amountCents), 0);
      const left = payment.status === 'paid' ? payment.amountCents - gone : 0;
      const counted = own.filter(({ status }) => status !== 'failed').length;
      const expected =
        left === 0 || now > plusMs(payment.paidAt!, REFUND_DAYS * DAY_MS) || counted >= MAX_REFUNDS
          ? 'NOT_REFUNDABLE'
          : (amountCents ?? left) > left
            ? 'BAD_USER_INPUT'
            : (amountCents ?? left) > Math.max(0, balances.merchant_balance - heldCents)
              ? 'INSUFFICIENT_FUNDS'
              : 'begun';
      const refundId = `ref_${refunds.size}`;
      const owed = balances.merchant_receivable;
      try {
        const begun = decideRefundBegin(
          payment,
          { refundId, amountCents, isAutomatic: false },
          { balances, now, balanceOf: () => 0 },
        );
        expect('begun').toBe(expected);
        apply(begun.change);
        refunds.set(refundId, {
          paymentId: payment.paymentId,
          status: 'processing',
          amountCents: begun.amountCents,
        });
      } catch (error) {
        if ((error as PaymentError).code === undefined) throw error;
        expect((error as PaymentError).code).toBe(expected);
      }
      expect(balances.merchant_receivable).toBe(owed);
    },
    endRefund(which: number, status: 'completed' | 'failed') {
      const open = [...refunds].filter(([, each]) => each.status === 'processing');
      const [refundId, refund] = open[which % Math.max(1, open.length)] ?? [];
      if (!refundId || !refund) return;
      const payment = payments.get(refund.paymentId)!;
      const named = { refundId, amountCents: refund.amountCents, isAutomatic: false };
      apply(
        status === 'completed'
          ? decideRefundCompleted(payment, named, now)
          : decideRefundFailed(payment, named, balances),
      );
      refund.status = status;
    },
    /** Takes money from the balance in another way, or holds it there. */
    payOut(amountCents: number) {
      const amount = Math.min(amountCents, balances.merchant_balance);
      if (amount === 0) return;
      paidOutCents += amount;
      post(
        ledgerTransaction(`payout.completed:${posted.size}`, [
          { from: 'merchant_balance', to: 'paid_out', amount },
        ]),
      );
    },
    hold(amount: number) {
      heldCents += amount;
      post(
        ledgerTransaction(`dispute.opened:${posted.size}`, [
          { from: 'dispute_claims', to: 'dispute_hold', amount },
        ]),
      );
    },

    /** The balances that follow from the recorded events alone. */
    expected(): Balances {
      const sum = <Row>(rows: Iterable<Row>, of: (row: Row) => number) =>
        [...rows].reduce((total, row) => total + of(row), 0);
      const all = [...payments.values()];
      const accepted = [...credits.values()].filter(({ cause }) => cause === null);
      const rejected = [...credits.values()].filter(({ cause }) => cause !== null);
      const sentBack = rejected.filter(({ returnedAt }) => returnedAt !== null);
      const pending = environment === 'sandbox' ? all.filter(({ status }) => status === 'pending') : [];
      const fees = sum(accepted, ({ amountCents }) =>
        environment === 'sandbox' ? 0 : Math.min(pixFeeCents, amountCents),
      );
      const begun = [...refunds.values()].filter(({ status }) => status !== 'failed');
      const done = begun.filter(({ status }) => status === 'completed');
      const kept = [...cards.values()].filter((card) => isKept(card));
      const cents = ({ amountCents }: { amountCents: number }) => amountCents;
      const own = sum(accepted, cents) - fees - sum(begun, cents) - paidOutCents;
      return {
        ...NO_BALANCES,
        merchant_balance: own,
        merchant_pending: sum(pending, cents) + sum(kept, cents),
        refunds_in_transit:
          sum(rejected, cents) -
          sum(sentBack, cents) +
          sum(begun, cents) -
          sum(done, cents) +
          sum(cards.values(), cents) -
          sum(kept, cents),
        platform_fees: fees,
        paid_out: paidOutCents,
        acquirer: 0 - sum(cards.values(), cents),
        pix_received:
          0 - sum(credits.values(), cents) + sum(sentBack, cents) + sum(done, cents) - sum(pending, cents),
        dispute_hold: heldCents,
        dispute_claims: 0 - heldCents,
      };
    },
    isKept,
  };

  /** Whether the money of a card payment stays with the merchant. */
  function isKept({ orderCode }: StoredCardPayment): boolean {
    return posted.has(`card_payment.paid:${orderCode}`);
  }
}

type Tenant = ReturnType<typeof createTenant>;

/** The laws that hold after each step. */
function expectLaws(tenant: Tenant): void {
  expect(tenant.balances()).toEqual(tenant.expected());
  const credits = [...tenant.credits.values()];
  const keptOf = new Map<string, number>();
  const keep = (order: string | null) => keptOf.set(order!, (keptOf.get(order!) ?? 0) + 1);
  for (const payment of tenant.payments.values()) {
    const accepted = credits.filter(
      ({ resourceId, cause }) => resourceId === payment.paymentId && cause === null,
    );
    const isPaid = payment.status === 'paid' || payment.status === 'refunded';
    expect(accepted.map(({ amountCents, endToEndId }) => [amountCents, endToEndId])).toEqual(
      isPaid ? [[payment.amountCents, payment.endToEndId]] : [],
    );
    if (isPaid) keep(payment.checkoutAttempt);
    const refunds = [...tenant.refunds.values()].filter(({ paymentId }) => paymentId === payment.paymentId);
    const of = (status: Refund['status']) =>
      refunds.filter((each) => each.status === status).reduce((sum, each) => sum + each.amountCents, 0);
    expect(payment.refundedCents).toBe(of('completed'));
    expect(payment.refundingCents).toBe(of('processing'));
    expect(payment.refundedCents + payment.refundingCents).toBeLessThanOrEqual(payment.amountCents);
    expect(payment.status === 'refunded').toBe(of('completed') === payment.amountCents);
    const returned = credits.filter(
      ({ resourceId, cause }) => resourceId === payment.paymentId && cause !== null,
    );
    expect(payment.returnedCredits).toEqual(
      returned.slice(-SHOWN_RETURNS).map(({ endToEndId, amountCents, cause, receivedAt, returnedAt }) => ({
        endToEndId,
        amountCents,
        cause,
        receivedAt,
        returnedAt,
      })),
    );
  }
  for (const card of tenant.cards.values()) if (tenant.isKept(card)) keep(card.checkoutAttempt);
  for (const [order, kept] of keptOf) expect([order, kept]).toEqual([order, 1]);
}

// ── Random histories ────────────────────────────────────────────────────────────────────────────

const which = fc.nat({ max: 5 });
const order = fc.nat({ max: 2 });
const cents = fc.integer({ min: 1, max: 900 });
const step = fc.oneof(
  fc.tuple(fc.constant('create' as const), cents, order),
  fc.tuple(fc.constant('code' as const), which, fc.constantFrom('registered', 'refused', 'pending')),
  fc.tuple(fc.constant('expire' as const), which, fc.nat()),
  fc.tuple(
    fc.constant('credit' as const),
    which,
    fc.record({ name: fc.nat({ max: 3 }), more: fc.constantFrom(0, 0, 0, 1, -1, 400) }),
  ),
  fc.tuple(fc.constant('return' as const), which, fc.constantFrom('completed', 'pending', 'failed')),
  fc.tuple(fc.constant('card' as const), order, fc.boolean()),
  fc.tuple(fc.constant('refund' as const), which, fc.option(cents)),
  fc.tuple(fc.constant('endRefund' as const), which, fc.constantFrom('completed', 'failed')),
  fc.tuple(fc.constant('payOut' as const), cents, fc.nat()),
  fc.tuple(fc.constant('hold' as const), cents, fc.nat()),
  fc.tuple(
    fc.constant('pass' as const),
    fc.constantFrom(1, MINUTE, 29 * MINUTE, 30 * MINUTE, DAY_MS, 90 * DAY_MS),
    fc.nat(),
  ),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function take(tenant: Tenant, step: Step): unknown {
  switch (step[0]) {
    case 'create':
      return tenant.create(step[1], step[2]);
    case 'code':
      return tenant.code(step[1], step[2] as 'registered');
    case 'expire':
      return tenant.expire(step[1]);
    case 'credit':
      return tenant.credit(step[1], `E${step[2].name}`, step[2].more);
    case 'return':
      return tenant.returned(step[1], step[2] as 'completed');
    case 'card':
      return tenant.payByCard(step[1], step[2]);
    case 'refund':
      return tenant.refund(step[1], step[2]);
    case 'endRefund':
      return tenant.endRefund(step[1], step[2] as 'completed');
    case 'payOut':
      return tenant.payOut(step[1]);
    case 'hold':
      return tenant.hold(step[1]);
    case 'pass':
      return tenant.pass(step[1]);
  }
}

const environments = fc.constantFrom<Environment>('live', 'live', 'sandbox');
const fees = fc.constantFrom(0, 25, 300);

describe('the laws of payments by PIX, in any history', () => {
  test('After each step the books are those of a second model, and every law of payments holds', () => {
    fc.assert(
      fc.property(
        environments,
        fees,
        fc.array(step, { minLength: 8, maxLength: 40 }),
        (environment, fee, steps) => {
          const tenant = createTenant(environment, fee);
          tenant.create(500, 0);
          tenant.create(700, 0);
          for (const each of steps) {
            // The acquirer has no sandbox.
            if (each[0] === 'card' && environment === 'sandbox') continue;
            take(tenant, each);
            expectLaws(tenant);
          }
        },
      ),
      { numRuns: generated(2_000, 20) },
    );
  });

  test('The credits of one payment, in any order and however often, give the same books', () => {
    const credit = fc.record({ name: fc.nat({ max: 4 }), more: fc.constantFrom(0, 0, 1, -1) });
    const histories = fc
      .uniqueArray(credit, { minLength: 1, maxLength: 5, selector: ({ name }) => name })
      .chain((credits) =>
        fc.tuple(
          fc.constant(credits),
          fc.shuffledSubarray([...credits, ...credits, ...credits], { minLength: 3 * credits.length }),
        ),
      );
    fc.assert(
      fc.property(
        environments,
        fees,
        histories,
        fc.option(fc.nat({ max: 15 })),
        (environment, fee, [credits, repeated], expiresAfter) => {
          const play = (received: typeof credits, expiry: number | null) => {
            const tenant = createTenant(environment, fee);
            tenant.create(500, 0);
            for (const [index, { name, more }] of received.entries()) {
              if (index === expiry) {
                tenant.pass(30 * MINUTE);
                tenant.expire(0);
              }
              tenant.credit(0, `E${name}`, more);
            }
            expectLaws(tenant);
            const open = tenant.balances();
            for (const index of [...tenant.credits.keys()].keys()) tenant.returned(index, 'completed');
            expectLaws(tenant);
            return { ending: tenant.balances(), open };
          };
          const isAnyRight = credits.some(({ more }) => more === 0);
          const [first, second] = [play(credits, null), play(repeated, isAnyRight ? expiresAfter : null)];
          expect(second).toEqual(first);
        },
      ),
      { numRuns: generated(1_000, 20) },
    );
  });
});
