import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import { InsufficientFundsError, ValidationError } from '../../../server/src/kernel/errors.ts';
import {
  decideCreate,
  decideOutcome,
  decideRelease,
} from '../../../server/src/money-in/card-payments/decisions.ts';
import type { StoredCardPayment } from '../../../server/src/money-in/card-payments/model.ts';
import {
  decideRefundBegin,
  decideRefundCompleted,
  decideRefundFailed,
  REFUND_DAYS,
} from '../../../server/src/money-in/card-payments/refunding.ts';
import { MAX_REFUNDS, refundableCents } from '../../../server/src/money-in/receiving/model.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { generated } from '../../support/scale.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const PENDING = decideCreate(
  { valueCents: 5000 },
  { orderCode: 'PSC-ONE', checkoutAttempt: null, now: NOW },
).payment;
const SALE = decideOutcome(
  { ...PENDING, openChargeId: 'chg' },
  {
    chargeId: 'chg',
    outcome: { status: 'approved' },
    otherPayments: [],
    account: { cardPaymentsEnabled: true, cardReleaseDays: 14 },
    now: NOW,
  },
)!.payment;
const RELEASED = { ...SALE, releasedAt: NOW };
const SOLD: Balances = { ...NO_BALANCES, acquirer: -5000, merchant_pending: 5000 };
const IN_BALANCE: Balances = { ...NO_BALANCES, acquirer: -5000, merchant_balance: 5000 };

describe('a refund begins', () => {
  test.each<[string, StoredCardPayment, Balances, Partial<Balances>]>([
    ['what waits for its release', SALE, SOLD, { merchant_pending: 3000, refunds_in_transit: 2000 }],
    [
      'the balance after the release',
      RELEASED,
      IN_BALANCE,
      { merchant_balance: 3000, refunds_in_transit: 2000 },
    ],
  ])('A part is taken from %s', (_, payment, balances, after) => {
    const { change, amountCents } = begin(payment, { amountCents: 2000 }, balances);
    expect(amountCents).toBe(2000);
    expect(applyToBalances(balances, change.transaction!)).toMatchObject(after);
    expect(change).toMatchObject({ announced: true, due: [] });
    expect(change.payment).toMatchObject({
      status: 'paid',
      refundingCents: 2000,
      refundCount: 1,
      version: payment.version + 1,
    });
    expect(refundableCents(change.payment)).toBe(3000);
  });

  test('All that is refundable is taken where no amount is given', () => {
    const first = begin(SALE, { amountCents: 1 }, SOLD).change.payment;
    expect(begin(first, {}, SOLD).amountCents).toBe(4999);
  });

  test('More than is refundable is refused, and the message names the limit', () => {
    expect(() => begin(SALE, { amountCents: 5001 }, SOLD)).toThrow(ValidationError);
    expect(() => begin(SALE, { amountCents: 5001 }, SOLD)).toThrow(
      /input\.amountCents: must be at most 5000/,
    );
    const rest = begin(SALE, { amountCents: 4000 }, SOLD).change.payment;
    expect(() => begin(rest, { amountCents: 1001 }, SOLD)).toThrow(/must be at most 1000/);
  });

  test.each<[string, StoredCardPayment, Date]>([
    ['not paid', PENDING, NOW],
    ['expired', { ...PENDING, status: 'expired' }, NOW],
    ['refunded already', { ...SALE, status: 'refunded' }, NOW],
    ['held by another refund', { ...SALE, refundingCents: 5000 }, NOW],
    ['too old', SALE, plusMs(NOW, REFUND_DAYS * DAY_MS + 1)],
    ['refunded too often', { ...SALE, refundCount: MAX_REFUNDS }, NOW],
  ])('A payment that is %s is not refundable', (_, payment, now) => {
    expect(() => begin(payment, {}, SOLD, now)).toThrow(expect.objectContaining({ code: 'NOT_REFUNDABLE' }));
  });

  test('A payment is refundable until the end of its last day', () => {
    expect(begin(SALE, {}, SOLD, plusMs(NOW, REFUND_DAYS * DAY_MS)).amountCents).toBe(5000);
  });

  test('A merchant refunds a released sale out of what can be withdrawn', () => {
    const blocked = { ...IN_BALANCE, dispute_hold: 1000, dispute_claims: -1000 };
    expect(begin(RELEASED, { amountCents: 4000 }, blocked).amountCents).toBe(4000);
    expect(() => begin(RELEASED, { amountCents: 4001 }, blocked)).toThrow(InsufficientFundsError);
    // The amount that waits for its release belongs to the sale.
    expect(begin(SALE, {}, { ...SOLD, dispute_hold: 9000, dispute_claims: -9000 }).amountCents).toBe(5000);
  });

  test.each<[string, Partial<Balances>, Partial<Balances>]>([
    ['the balance', { merchant_balance: 6000 }, { merchant_balance: 1000, merchant_receivable: 0 }],
    [
      'what is left and a debt',
      { merchant_balance: 2000 },
      { merchant_balance: 0, merchant_receivable: -3000 },
    ],
    ['a debt alone', {}, { merchant_balance: 0, merchant_receivable: -5000 }],
  ])('The service refunds a released sale out of %s', (_, before, after) => {
    const balances = { ...NO_BALANCES, acquirer: -5000, ...before };
    const { change } = begin({ ...RELEASED, refundCount: MAX_REFUNDS }, { isAutomatic: true }, balances);
    expect(applyToBalances(balances, change.transaction!)).toMatchObject({
      ...after,
      refunds_in_transit: 5000,
    });
    expect(change.payment.refundCount).toBe(MAX_REFUNDS);
  });
});

describe('a refund ends', () => {
  test('A part that was given back leaves the payment paid, and the rest refundable', () => {
    const { payment, balances } = refunded(SALE, SOLD, 2000, 'completed');
    expect(payment).toMatchObject({
      status: 'paid',
      refundedCents: 2000,
      refundingCents: 0,
      refundedAt: null,
    });
    expect(balances).toMatchObject({ acquirer: -3000, merchant_pending: 3000, refunds_in_transit: 0 });
  });

  test('With its last part a payment is refunded, once', () => {
    const part = refunded(SALE, SOLD, 2000, 'completed');
    const whole = refunded(part.payment, part.balances, 3000, 'completed');
    expect(whole.payment).toMatchObject({
      status: 'refunded',
      refundedCents: 5000,
      refundedAt: NOW,
      version: SALE.version + 4,
    });
    expect(whole.announced).toBe(true);
    expect(whole.balances).toEqual(NO_BALANCES);
    expect(decideRelease(whole.payment, whole.balances, NOW)).toBeNull();
  });

  test('A refused refund goes back to where the sale is by then', () => {
    const { payment, announced, balances: after } = refunded(SALE, SOLD, 2000, 'failed');
    expect([after, announced]).toEqual([SOLD, true]);
    expect(payment).toMatchObject({ refundCount: 0, version: SALE.version + 2 });
    expect(refunded(RELEASED, IN_BALANCE, 2000, 'failed').balances).toEqual(IN_BALANCE);
    const { change } = begin(SALE, { amountCents: 2000 }, SOLD);
    let balances = applyToBalances(SOLD, change.transaction!);
    const released = decideRelease(change.payment, balances, NOW)!;
    balances = applyToBalances(balances, released.transaction!);
    expect(balances).toMatchObject({ merchant_balance: 3000, refunds_in_transit: 2000 });
    const refund = { refundId: 'ref_1', amountCents: 2000, isAutomatic: false };
    const failed = decideRefundFailed(released.payment, refund, balances);
    expect(applyToBalances(balances, failed.transaction!)).toEqual(IN_BALANCE);
  });

  test('A sale that refunds hold whole is released without a posting', () => {
    const { change } = begin(SALE, {}, SOLD);
    expect(decideRelease(change.payment, SOLD, NOW)).toMatchObject({
      transaction: null,
      payment: { releasedAt: NOW },
    });
  });
});

test('Whatever refunds end how, the payer gets at most the amount, and the merchant has the rest', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('begin' as const),
      amountCents: fc.option(fc.integer({ min: 1, max: 6000 })),
    }),
    fc.record({ kind: fc.constantFrom('completed' as const, 'failed' as const), which: fc.nat({ max: 3 }) }),
    fc.record({ kind: fc.constant('release' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let [payment, balances]: [StoredCardPayment, Balances] = [SALE, SOLD];
      const open: { refundId: string; amountCents: number }[] = [];
      let given = 0;
      for (const [index, each] of steps.entries()) {
        let change = null;
        try {
          if (each.kind === 'begin') {
            const begun = begin(payment, { ...each, refundId: `ref_${index}` }, balances);
            open.push({ refundId: `ref_${index}`, amountCents: begun.amountCents });
            change = begun.change;
          } else if (each.kind === 'release') change = decideRelease(payment, balances, NOW);
          else if (open[each.which]) {
            const [refund] = open.splice(each.which, 1);
            if (each.kind === 'completed') given += refund!.amountCents;
            change =
              each.kind === 'completed'
                ? decideRefundCompleted(payment, refund!, NOW)
                : decideRefundFailed(payment, { ...refund!, isAutomatic: false }, balances);
          }
        } catch (error) {
          if (!('code' in (error as object))) throw error;
        }
        if (!change) continue;
        payment = change.payment;
        if (change.transaction) balances = applyToBalances(balances, change.transaction);
        const held = open.reduce((sum, { amountCents }) => sum + amountCents, 0);
        expect(payment).toMatchObject({ refundedCents: given, refundingCents: held });
        expect(payment.status).toBe(given === 5000 ? 'refunded' : 'paid');
        expect(balances).toMatchObject({
          refunds_in_transit: held,
          acquirer: given - 5000,
          merchant_receivable: 0,
        });
        expect(balances.merchant_pending + balances.merchant_balance).toBe(5000 - given - held);
      }
    }),
    { numRuns: generated(500) },
  );
});

function begin(
  payment: StoredCardPayment,
  request: { amountCents?: number | null; isAutomatic?: boolean; refundId?: string },
  balances: Balances,
  now = NOW,
) {
  const { amountCents = null, isAutomatic = false, refundId = 'ref_1' } = request;
  return decideRefundBegin(payment, { refundId, amountCents, isAutomatic }, { balances, now });
}

/** The payment and the balances after a refund that began and ended. */
function refunded(
  payment: StoredCardPayment,
  before: Balances,
  amountCents: number,
  end: 'completed' | 'failed',
) {
  const { change } = begin(payment, { amountCents }, before);
  const balances = applyToBalances(before, change.transaction!);
  const refund = { refundId: 'ref_1', amountCents, isAutomatic: false };
  const ended =
    end === 'completed'
      ? decideRefundCompleted(change.payment, refund, NOW)
      : decideRefundFailed(change.payment, refund, balances);
  return {
    payment: ended.payment,
    announced: ended.announced,
    balances: applyToBalances(balances, ended.transaction!),
  };
}
