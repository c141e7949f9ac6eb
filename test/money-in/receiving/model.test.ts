import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import { InsufficientFundsError, ValidationError } from '../../../server/src/kernel/errors.ts';
import { closesOrder } from '../../../server/src/kernel/orders.ts';
import {
  amountToRefund,
  beginDispute,
  beginRefund,
  causeOfReturn,
  completeRefund,
  endDispute,
  failRefund,
  fitsBalance,
  MAX_REFUNDS,
  type PaymentStatus,
  type Refundable,
  type RefundRules,
  refundableCents,
} from '../../../server/src/money-in/receiving/model.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';

// The rules of credits, refunds and disputes, which all methods of payment share.

const NOW = new Date('2026-03-02T12:00:00.000Z');
const RULES: RefundRules = { name: 'payment', days: 90, rail: 'pix_received' };
const PAID: Refundable = {
  status: 'paid',
  amountCents: 5000,
  canceledAt: null,
  paidAt: NOW,
  releasedAt: NOW,
  refundedCents: 0,
  refundingCents: 0,
  disputedCents: 0,
  refundCount: 0,
};
const REQUEST = { refundId: 'ref_1', amountCents: null, isAutomatic: false };

describe('the order of a payment', () => {
  const pending = { status: 'pending', paidAt: null, canceledAt: null };
  test.each<
    [string, typeof pending | { status: string; paidAt: Date | null; canceledAt: Date | null }, boolean]
  >([
    ['is pending', pending, false],
    ['was canceled unpaid', { ...pending, status: 'expired', canceledAt: NOW }, false],
    ['is paid', { ...pending, status: 'paid', paidAt: NOW }, true],
    ['was paid and refunded', { ...pending, status: 'refunded', paidAt: NOW }, true],
    ['was canceled and returned', { status: 'refunded', paidAt: NOW, canceledAt: NOW }, false],
    ['was canceled and is kept', { status: 'paid', paidAt: NOW, canceledAt: NOW }, true],
  ])('The order of a payment that %s is closed or open', (_, payment, isClosed) => {
    expect(closesOrder(payment)).toBe(isClosed);
  });
});

describe('a credit', () => {
  test.each<[PaymentStatus, amountCents: number, isOrderClosed: boolean, cause: string | null]>([
    ['pending', 5000, false, null],
    ['expired', 5000, false, null],
    ['pending', 4999, false, 'amount_mismatch'],
    ['expired', 5001, true, 'amount_mismatch'],
    ['pending', 5000, true, 'paid_elsewhere'],
    ['expired', 5000, true, 'paid_elsewhere'],
    ['paid', 5000, false, 'already_paid'],
    ['paid', 4999, true, 'already_paid'],
    ['refunded', 5000, false, 'already_paid'],
    ['failed', 5000, false, 'not_payable'],
    ['failed', 4999, true, 'paid_elsewhere'],
  ])('Of a payment that is %s, %i cents with a closed order: %s are accepted or returned: %s', (...row) => {
    const [status, amountCents, isOrderClosed, cause] = row;
    const payment = { status, amountCents: 5000, canceledAt: null };
    expect(causeOfReturn(payment, { amountCents, isOrderClosed })).toBe(cause);
  });

  test.each([
    ['expired', 5000, 'canceled'],
    ['expired', 4999, 'amount_mismatch'],
    ['failed', 5000, 'canceled'],
    ['paid', 5000, 'already_paid'],
  ] as const)('Of a canceled payment that is %s, %i cents are returned: %s', (status, amountCents, cause) => {
    for (const isOrderClosed of [false, true])
      expect(
        causeOfReturn({ status, amountCents: 5000, canceledAt: NOW }, { amountCents, isOrderClosed }),
      ).toBe(cause);
  });

  test('An amount fits where it and what is held are at most half of what a number can hold', () => {
    const most = Math.floor(Number.MAX_SAFE_INTEGER / 2);
    expect([fitsBalance(most, 0), fitsBalance(most + 1, 0)]).toEqual([true, false]);
    expect([fitsBalance(1, 1 - most), fitsBalance(2, 1 - most)]).toEqual([true, false]);
    expect([fitsBalance(1, most - 1), fitsBalance(2, most - 1)]).toEqual([true, false]);
  });
});

describe('what can be refunded', () => {
  const amounts = { status: 'paid', amountCents: 5000, refundedCents: 1000, refundingCents: 200 } as const;
  test('Of a paid payment it is the amount without refunds, done or under way, and without disputes', () => {
    expect(refundableCents(amounts)).toBe(3800);
    expect(refundableCents({ ...amounts, disputedCents: 30 })).toBe(3770);
  });

  test.each(['pending', 'expired', 'refunded', 'failed', 'unknown'] as const)(
    'Of a payment that is %s it is nothing',
    (status) => {
      expect(refundableCents({ ...amounts, status })).toBe(0);
    },
  );

  test('It is not known where the service does not report a part of it', () => {
    expect(refundableCents({ ...amounts, refundedCents: null })).toBeNull();
    expect(refundableCents({ ...amounts, refundingCents: null })).toBeNull();
    expect(refundableCents({ ...amounts, status: 'failed', refundingCents: null })).toBeNull();
  });
});

describe('the amount of a refund', () => {
  const refund = (payment: Partial<Refundable>, request: Partial<typeof REQUEST> | object = {}, now = NOW) =>
    amountToRefund({ ...PAID, ...payment }, RULES, { ...REQUEST, ...request }, now);
  const refusal = (code: string, reason: RegExp) =>
    expect.objectContaining({ code, message: expect.stringMatching(reason) });

  test('It is what was asked for, and all that can be refunded where nothing was', () => {
    expect(refund({ refundedCents: 1000 }, { amountCents: 1 })).toBe(1);
    expect(refund({ refundedCents: 1000 }, { amountCents: 4000 })).toBe(4000);
    expect(refund({ refundedCents: 1000, disputedCents: 500 })).toBe(3500);
  });

  test.each<[string, Partial<Refundable>, RegExp]>([
    ['was never paid', { status: 'pending', paidAt: null }, /This payment has not been paid$/],
    ['was refunded', { status: 'refunded', refundedCents: 5000 }, /has been refunded already$/],
    ['has nothing left', { refundedCents: 5000 }, /has been refunded already$/],
    ['is held by a refund', { refundedCents: 4999, refundingCents: 1 }, /a refund is under way$/],
    ['has had twenty', { refundCount: MAX_REFUNDS }, /has had 20 refunds$/],
  ])('A payment that %s is not refunded, and the reason is named', (_, payment, reason) => {
    expect(() => refund(payment)).toThrow(refusal('NOT_REFUNDABLE', reason));
  });

  test('A merchant refunds up to the last instant of the last day, and nineteen times before', () => {
    expect(refund({ refundCount: MAX_REFUNDS - 1 }, {}, plusMs(NOW, 90 * DAY_MS))).toBe(5000);
    expect(() => refund({}, {}, plusMs(NOW, 90 * DAY_MS + 1))).toThrow(
      refusal('NOT_REFUNDABLE', /was paid more than 90 days ago$/),
    );
  });

  test('The service refunds at any time and however often', () => {
    const late = plusMs(NOW, 900 * DAY_MS);
    expect(refund({ refundCount: MAX_REFUNDS }, { isAutomatic: true }, late)).toBe(5000);
  });

  test('What is disputed is refunded by nobody: the payer would have it twice', () => {
    const disputed = { disputedCents: 2000 };
    expect(refund(disputed, { amountCents: 3000 })).toBe(3000);
    for (const amountCents of [3001, 5000])
      expect(() => refund(disputed, { amountCents })).toThrow(
        refusal(
          'DISPUTE_STATE',
          /^Of this payment R\$\s20,00 is disputed, and R\$\s30,00 can still be refunded$/,
        ),
      );
    expect(() => refund({ disputedCents: 5000 })).toThrow(refusal('DISPUTE_STATE', /R\$\s50,00/));
  });

  test('More than the payment has is refused by its field, also where a part of it is disputed', () => {
    for (const [payment, most, amountCents] of [
      [{}, 5000, 5001],
      [{ disputedCents: 2000 }, 3000, 5001],
      [{ refundedCents: 1000, refundingCents: 500 }, 3500, 3501],
    ] as const) {
      const refused = () => refund(payment, { amountCents });
      expect(refused).toThrow(ValidationError);
      expect(refused).toThrow(
        expect.objectContaining({
          fields: [{ path: 'input.amountCents', message: expect.stringContaining(`at most ${most} `) }],
        }),
      );
    }
  });
});

describe('the steps of a refund', () => {
  const held: Balances = { ...NO_BALANCES, pix_received: -5000, merchant_balance: 5000 };
  const begun = { refundId: 'ref_1', ref: 'psa_1', amountCents: 2000, ownCents: 1500, isAutomatic: false };

  test('The owner gives its part, and the payment holds the whole of the refund', () => {
    const payment = { ...PAID, refundedCents: 10, refundingCents: 20, refundCount: 3 };
    const { amounts, transaction } = beginRefund(payment, begun, held);
    expect(amounts).toEqual({ refundedCents: 10, refundingCents: 2020, refundCount: 4 });
    expect(transaction!.id).toBe('refund.begun:ref_1');
    expect(applyToBalances(held, transaction!)).toEqual({
      ...held,
      merchant_balance: 3500,
      refunds_in_transit: 1500,
    });
  });

  test('A refund that others give as a whole moves nothing of the owner', () => {
    const whole = { ...begun, ownCents: 0 };
    expect(beginRefund(PAID, whole, NO_BALANCES).transaction).toBeNull();
    expect(failRefund({ ...PAID, refundingCents: 2000, refundCount: 1 }, whole, NO_BALANCES)).toEqual({
      amounts: { refundedCents: 0, refundingCents: 0, refundCount: 0 },
      transaction: null,
    });
  });

  test('The balance must cover a merchant’s refund of released money, and no other', () => {
    const poor = { ...held, merchant_balance: 1499, paid_out: 3501 };
    expect(() => beginRefund(PAID, begun, poor)).toThrow(InsufficientFundsError);
    const { transaction, amounts } = beginRefund(PAID, { ...begun, isAutomatic: true }, poor);
    expect(amounts.refundCount).toBe(0);
    expect(applyToBalances(poor, transaction!)).toEqual({
      ...poor,
      merchant_balance: 0,
      merchant_receivable: -1,
      refunds_in_transit: 1500,
    });
    const pending = { ...NO_BALANCES, acquirer: -5000, merchant_pending: 5000 };
    const ofSale = beginRefund({ ...PAID, releasedAt: null }, begun, pending).transaction!;
    expect(applyToBalances(pending, ofSale)).toMatchObject({
      merchant_pending: 3500,
      refunds_in_transit: 1500,
    });
  });

  test('A completed refund is the payer’s, with the parts of all', () => {
    const payment = { ...PAID, refundedCents: 10, refundingCents: 2020, refundCount: 4 };
    const { amounts, transaction } = completeRefund(payment, RULES, begun);
    expect(amounts).toEqual({ refundedCents: 2010, refundingCents: 20, refundCount: 4 });
    expect(transaction.id).toBe('refund.completed:ref_1');
    const before = { ...NO_BALANCES, pix_received: -5000, refunds_in_transit: 2000, merchant_balance: 3000 };
    expect(applyToBalances(before, transaction)).toEqual({
      ...before,
      pix_received: -3000,
      refunds_in_transit: 0,
    });
  });

  test('A failed refund goes back to where the money is, and pays the debt of the merchant first', () => {
    const payment = { ...PAID, refundedCents: 10, refundingCents: 2020, refundCount: 4 };
    const before = {
      ...NO_BALANCES,
      refunds_in_transit: 1500,
      merchant_receivable: -400,
      pix_received: -1100,
    };
    const { amounts, transaction } = failRefund(payment, begun, before);
    // A failed refund does not count as one of the twenty, and an automatic one never does.
    expect(amounts).toEqual({ refundedCents: 10, refundingCents: 20, refundCount: 3 });
    expect(failRefund(payment, { ...begun, isAutomatic: true }, before).amounts.refundCount).toBe(4);
    expect(transaction!.id).toBe('refund.failed:ref_1');
    expect(applyToBalances(before, transaction!)).toEqual({
      ...before,
      refunds_in_transit: 0,
      merchant_receivable: 0,
      merchant_balance: 1100,
    });
    const ofSale = failRefund({ ...payment, releasedAt: null }, begun, before).transaction!;
    expect(applyToBalances(before, ofSale)).toEqual({
      ...before,
      refunds_in_transit: 0,
      merchant_pending: 1500,
    });
  });
});

describe('the amount of a dispute', () => {
  const claim = (payment: Partial<Refundable>, claimedCents: number, days: number | null = 80, now = NOW) =>
    beginDispute({ ...PAID, ...payment }, { claimedCents, days }, now);

  test.each<[string, Partial<Refundable>, number, [amount: number, missing: number, disputed: number]]>([
    ['a part', {}, 100, [100, 0, 100]],
    ['all', {}, 5000, [5000, 0, 5000]],
    ['more than there is', {}, 9999, [5000, 0, 5000]],
    ['what refunds have left', { refundedCents: 4000 }, 5000, [1000, 0, 1000]],
    ['what refunds hold for now', { refundingCents: 4000 }, 5000, [1000, 4000, 1000]],
    ['what a refund holds as a whole', { refundingCents: 5000 }, 300, [0, 300, 0]],
    ['no more of it than is claimed', { refundingCents: 4000 }, 1500, [1000, 500, 1000]],
    ['what an earlier dispute has left', { disputedCents: 4900 }, 5000, [100, 0, 5000]],
  ])('A claim takes %s', (_, payment, claimedCents, [amountCents, missingCents, disputedCents]) => {
    expect(claim(payment, claimedCents)).toEqual({ amountCents, missingCents, amounts: { disputedCents } });
  });

  test.each<[string, Partial<Refundable>]>([
    ['not paid', { status: 'expired' }],
    ['refunded', { refundedCents: 5000 }],
    ['disputed as a whole', { disputedCents: 5000 }],
  ])('Nothing is taken of a payment that is %s', (_, payment) => {
    expect(claim(payment, 100)).toBeNull();
  });

  test('A claim is in time up to the last instant of its last day, and always where there is none', () => {
    const last = plusMs(NOW, 80 * DAY_MS);
    expect(claim({}, 100, 80, last)).toMatchObject({ amountCents: 100 });
    expect(claim({}, 100, 80, plusMs(last, 1))).toBeNull();
    expect(claim({}, 100, null, plusMs(last, 1))).toMatchObject({ amountCents: 100 });
    expect(claim({ paidAt: null }, 100, 80, plusMs(last, 1))).toMatchObject({ amountCents: 100 });
  });

  test('A won dispute gives its amount back, and never more than is disputed', () => {
    expect(endDispute({ disputedCents: 500 }, 200)).toEqual({ disputedCents: 300 });
    expect(endDispute({ disputedCents: 500 }, 501)).toEqual({ disputedCents: 0 });
  });
});
