import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { writesOfLtc } from '../../../server/src/money-in/ltc/collections.ts';
import {
  decideAddress,
  decideCreditUnmatched,
  decideExpire,
  decideReport,
  GRACE_MS,
  type LtcChange,
  type RecordedOutput,
  type Report,
  type ReportedOutput,
} from '../../../server/src/money-in/ltc/decisions.ts';
import { ltcPayments } from '../../../server/src/money-in/payments/collections.ts';
import { decideCreateLtc } from '../../../server/src/money-in/payments/decisions.ts';
import type { StoredPayment } from '../../../server/src/money-in/payments/model.ts';
import { NEXT } from '../../../server/src/money-in/pix/model.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { generated } from '../../support/scale.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const MINUTE = 60_000;
const ASKED = 10_000;

const txid = (which: number) => String(which).padStart(64, '0');
const keyOf = ({ txid: tx, vout }: { txid: string; vout: number }) => `${tx}:${vout}`;

/** A payment that is decided as the service decides it, its ledger, and a second model of both. */
function createPayment(amountCents = 5_000) {
  let now = NOW;
  let balances: Balances = NO_BALANCES;
  let keptPayment: string | null = null;
  const posted = new Set<string>();
  const recorded = new Map<string, RecordedOutput>();
  let payment!: StoredPayment;
  let announced = 0;

  function apply(change: LtcChange<StoredPayment> | null): boolean {
    if (!change) return false;
    const { previous, resource, transactions } = change;
    expect(previous).toBe(payment ?? null);
    if (previous && previous.status !== resource.status)
      expect(NEXT[previous.status]).toContain(resource.status);
    expect(resource.version).toBe((previous?.version ?? 0) + (change.announced || !previous ? 1 : 0));
    for (const { previousStatus } of writesOfLtc(ltcPayments, change, [...recorded.values()]).events ?? []) {
      expect(previousStatus).toBe(announced > 0 ? previous!.status : null);
      announced++;
    }
    payment = resource;
    for (const output of change.outputs) recorded.set(keyOf(output), output);
    for (const transaction of transactions) {
      expect(posted).not.toContain(transaction.id);
      posted.add(transaction.id);
      expect(transaction.lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(0);
      balances = applyToBalances(balances, transaction);
    }
    assertBooks();
    return true;
  }

  /** Asserts that each litoshi of a confirmed output is in one of the two accounts, and that no posting is in reais. */
  function assertBooks(): void {
    const sum = (state: RecordedOutput['state']) =>
      [...recorded.values()].reduce((total, each) => total + (each.state === state ? each.litoshi : 0), 0);
    expect(balances).toEqual({
      ...NO_BALANCES,
      merchant_ltc: sum('credited'),
      ltc_unmatched: sum('unmatched'),
      ltc_received: -sum('credited') - sum('unmatched') + 0,
    });
  }

  apply(
    decideCreateLtc(
      {},
      { amountCents, description: null },
      {
        paymentId: `psa_${'0'.repeat(32)}`,
        checkoutAttempt: null,
        environment: 'live',
        balances,
        now,
        litoshi: ASKED,
      },
    ),
  );
  apply(decideAddress(payment, 'rltc1'));

  return {
    payment: () => payment,
    balances: () => balances,
    recorded: () => [...recorded.values()],
    pass(ms: number) {
      now = plusMs(now, ms);
    },
    now: () => now,
    closeOrder() {
      keptPayment = 'psa_kept';
    },
    report: (report: Report) =>
      apply(decideReport(payment, report, { recorded: [...recorded.values()], keptPayment, now })),
    expire: () => apply(decideExpire(payment, { recorded: [...recorded.values()], keptPayment: null, now })),
    creditUnmatched: () => apply(decideCreditUnmatched(payment, [...recorded.values()])),
  };
}

const output = (which: number, litoshi: number, confirmations: number, at = NOW): ReportedOutput => ({
  txid: txid(which),
  vout: 0,
  litoshi,
  confirmations,
  seenAt: at,
});

// ── The table of the design, row by row ─────────────────────────────────────────────────────────

describe('a payment by LTC', () => {
  test('A payment with an unconfirmed output stays pending, and tells what has come', () => {
    const it = createPayment();
    expect(it.report({ revision: 1, outputs: [output(1, 4_000, 0)] })).toBe(true);
    expect(it.payment()).toMatchObject({
      status: 'pending',
      version: 3,
      ltc: { receivedLitoshi: 4_000, confirmations: 0, requiredConfirmations: 2 },
    });
    expect(it.balances()).toEqual(NO_BALANCES);
  });

  test('A payment is paid once its amount has its confirmations, with all that came', () => {
    const it = createPayment();
    it.report({ revision: 1, outputs: [output(1, ASKED + 7, 1)] });
    expect(it.payment()).toMatchObject({ status: 'pending', ltc: { confirmations: 1 } });
    it.report({ revision: 2, outputs: [output(1, ASKED + 7, 2)] });
    expect(it.payment()).toMatchObject({ status: 'paid', paidAt: NOW, paidLate: false, feeCents: 0 });
    expect(it.balances()).toMatchObject({ merchant_ltc: ASKED + 7, ltc_unmatched: 0 });
  });

  test.each([
    ['R$ 999,99', 99_999, 2],
    ['R$ 1.000,00', 100_000, 6],
  ])('A payment of %s needs its confirmations', (_, amountCents, required) => {
    const it = createPayment(amountCents);
    it.report({ revision: 1, outputs: [output(1, ASKED, required - 1)] });
    expect(it.payment().status).toBe('pending');
    it.report({ revision: 2, outputs: [output(1, ASKED, required)] });
    expect(it.payment().status).toBe('paid');
  });

  test('A payment is topped up until its expiry by outputs that add up', () => {
    const it = createPayment();
    it.report({ revision: 1, outputs: [output(1, 6_000, 2)] });
    expect(it.payment().status).toBe('pending');
    expect(it.balances()).toMatchObject({ merchant_ltc: 0, ltc_unmatched: 6_000 });
    it.report({ revision: 2, outputs: [output(1, 6_000, 3), output(2, 4_000, 2)] });
    expect(it.payment().status).toBe('paid');
    expect(it.balances()).toMatchObject({ merchant_ltc: ASKED, ltc_unmatched: 0 });
  });

  test('A payment that got a part of its amount fails at its expiry, and the operator credits the litoshi once', () => {
    const it = createPayment();
    it.report({ revision: 1, outputs: [output(1, 6_000, 2), output(2, 1, 0)] });
    expect(it.expire()).toBe(false);
    it.pass(30 * MINUTE);
    it.expire();
    expect(it.payment()).toMatchObject({ status: 'failed', failureReason: 'underpaid' });
    it.report({ revision: 2, outputs: [output(1, 6_000, 2), output(2, 1, 2), output(3, ASKED, 2)] });
    expect(it.payment().status).toBe('failed');
    expect(it.balances()).toMatchObject({ merchant_ltc: 0, ltc_unmatched: ASKED + 6_001 });
    expect([it.creditUnmatched(), it.creditUnmatched()]).toEqual([true, false]);
    expect(it.balances()).toMatchObject({ merchant_ltc: ASKED + 6_001, ltc_unmatched: 0 });
    it.report({ revision: 3, outputs: [] });
    expect(it.balances()).toMatchObject({ merchant_ltc: ASKED + 6_001, ltc_unmatched: 0 });
  });

  test('A payment that was seen in time has a day for its confirmations, and is not late', () => {
    const it = createPayment();
    it.report({ revision: 1, outputs: [output(1, ASKED, 0)] });
    it.pass(30 * MINUTE);
    it.expire();
    expect(it.payment().status).toBe('pending');
    it.pass(GRACE_MS - 1);
    expect(it.report({ revision: 2, outputs: [output(1, ASKED, 2)] })).toBe(true);
    expect(it.payment()).toMatchObject({ status: 'paid', paidLate: false });
  });

  test('A payment whose amount is not confirmed within a day expires, and is still paid later', () => {
    const it = createPayment();
    it.report({ revision: 1, outputs: [output(1, ASKED, 1)] });
    it.pass(30 * MINUTE);
    it.expire();
    it.pass(GRACE_MS);
    it.expire();
    expect(it.payment().status).toBe('expired');
    it.report({ revision: 2, outputs: [output(1, ASKED, 2)] });
    expect(it.payment()).toMatchObject({ status: 'paid', paidLate: false });
  });

  test('A payment to which nothing came expires, and LTC that come late pay it late', () => {
    const it = createPayment();
    it.pass(30 * MINUTE);
    it.expire();
    expect(it.payment().status).toBe('expired');
    it.report({ revision: 1, outputs: [output(1, 9_999, 2, it.now())] });
    expect(it.payment().status).toBe('expired');
    it.report({ revision: 2, outputs: [output(1, 9_999, 2, it.now()), output(2, 1, 2, NOW)] });
    expect(it.payment()).toMatchObject({ status: 'paid', paidLate: true });
    expect(it.balances()).toMatchObject({ merchant_ltc: ASKED, ltc_unmatched: 0 });
  });

  test('A part that the operator has credited is a part of the amount: the rest makes an expired payment paid', () => {
    const it = createPayment();
    it.pass(30 * MINUTE);
    it.expire();
    const part = output(1, 4_000, 2, it.now());
    it.report({ revision: 1, outputs: [part] });
    expect(it.creditUnmatched()).toBe(true);
    expect(it.payment().status).toBe('expired');
    it.report({ revision: 2, outputs: [part, output(2, 6_000, 2, it.now())] });
    expect(it.payment()).toMatchObject({ status: 'paid', paidLate: true });
    expect(it.balances()).toMatchObject({ merchant_ltc: ASKED, ltc_unmatched: 0 });
  });

  test('A part that was sent behind the end, and seen while the service was away, fails no payment', () => {
    const it = createPayment();
    it.pass(150 * MINUTE);
    const part = output(1, 6_000, 2, it.now());
    it.report({ revision: 1, outputs: [part] });
    it.expire();
    expect(it.payment()).toMatchObject({ status: 'expired', failureReason: null });
    it.report({ revision: 2, outputs: [part, output(2, 4_000, 2, it.now())] });
    expect(it.payment()).toMatchObject({ status: 'paid', paidLate: true });
  });

  test('A reorganisation before the payment takes an output back, which may come again', () => {
    const it = createPayment();
    it.report({ revision: 1, outputs: [output(1, 6_000, 2)] });
    it.report({ revision: 2, outputs: [] });
    expect(it.payment().ltc).toMatchObject({ receivedLitoshi: 0, confirmations: 0 });
    expect(it.balances()).toEqual({ ...NO_BALANCES, ltc_received: it.balances().ltc_received });
    it.report({ revision: 3, outputs: [output(1, 6_000, 2), output(2, 4_000, 2)] });
    expect(it.payment().status).toBe('paid');
    expect(it.balances().merchant_ltc).toBe(ASKED);
  });

  test('A reorganisation after the payment changes nothing, nor does an older report', () => {
    const it = createPayment();
    it.report({ revision: 2, outputs: [output(1, ASKED, 2)] });
    const paid = it.payment();
    it.report({ revision: 1, outputs: [] });
    expect(it.payment()).toBe(paid);
    it.report({ revision: 3, outputs: [] });
    expect(it.payment()).toEqual({ ...paid, ltc: { ...paid.ltc, revision: 3 } });
    expect(it.balances().merchant_ltc).toBe(ASKED);
  });

  test('LTC for a payment that is paid are credited as well, once confirmed', () => {
    const it = createPayment();
    it.report({ revision: 1, outputs: [output(1, ASKED, 2)] });
    it.report({ revision: 2, outputs: [output(1, ASKED, 3), output(2, 50, 1)] });
    expect(it.balances().merchant_ltc).toBe(ASKED);
    it.report({ revision: 3, outputs: [output(1, ASKED, 4), output(2, 50, 2)] });
    expect(it.balances().merchant_ltc).toBe(ASKED + 50);
    expect(it.payment()).toMatchObject({ status: 'paid', ltc: { receivedLitoshi: ASKED + 50 } });
  });

  test('LTC for an order that is paid elsewhere wait for the operator: they cannot be sent back', () => {
    const [pending, expired] = [createPayment(), createPayment()];
    expired.pass(30 * MINUTE);
    expired.expire();
    for (const it of [pending, expired]) {
      it.closeOrder();
      it.report({ revision: 1, outputs: [output(1, ASKED, 2)] });
      expect(it.balances()).toMatchObject({ merchant_ltc: 0, ltc_unmatched: ASKED });
    }
    for (const it of [pending, expired])
      expect(it.payment()).toMatchObject({ status: 'failed', failureReason: 'paid_elsewhere' });
  });

  test('A payment without an address expires, and an address that comes then is not used', () => {
    const change = decideCreateLtc(
      {},
      { amountCents: 5_000, description: null },
      {
        paymentId: `psa_${'1'.repeat(32)}`,
        checkoutAttempt: null,
        environment: 'live',
        balances: NO_BALANCES,
        now: NOW,
        litoshi: ASKED,
      },
    );
    expect(change.due.map(({ kind }) => kind)).toEqual(['ltc.expire', 'ltc.address']);
    const expired = decideExpire(change.resource, {
      ...{ recorded: [], keptPayment: null },
      now: plusMs(NOW, 30 * MINUTE),
    })!;
    expect(expired.resource.status).toBe('expired');
    expect(decideAddress(expired.resource, 'rltc1')).toBeNull();
  });

  test('A payment of less than the network carries is refused by the name of its amount or its product', () => {
    const create = (litoshi: number, productId?: string) => () =>
      decideCreateLtc(
        { productId },
        { amountCents: 3, description: null },
        {
          paymentId: `psa_${'3'.repeat(32)}`,
          checkoutAttempt: null,
          environment: 'live',
          balances: NO_BALANCES,
          now: NOW,
          litoshi,
        },
      );
    const naming = (path: string) =>
      expect.objectContaining({
        fields: [{ path, message: expect.stringContaining('R$ 0,03 is 0.00005459 LTC') }],
      });
    expect(create(5_459)).toThrow(naming('input.valueCents'));
    expect(create(5_459, '0'.repeat(24))).toThrow(naming('input.productId'));
    expect(create(5_460)).not.toThrow();
  });

  test('A payment beyond what the books can count is refused before anybody can pay it', () => {
    const create = (litoshi: number) => () =>
      decideCreateLtc(
        {},
        { amountCents: 5_000, description: null },
        {
          paymentId: `psa_${'2'.repeat(32)}`,
          checkoutAttempt: null,
          environment: 'live',
          balances: NO_BALANCES,
          now: NOW,
          litoshi,
        },
      );
    expect(create(Number.MAX_SAFE_INTEGER)).toThrow('as much as it can count');
    expect(create(ASKED)).not.toThrow();
  });
});

// ── Any history ─────────────────────────────────────────────────────────────────────────────────

/** One change of the chain: a new output, one more confirmation, or an output that is removed before it is confirmed. */
const chainStep = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('new'), fc.nat(9), fc.integer({ min: 1, max: ASKED })) },
  { weight: 6, arbitrary: fc.tuple(fc.constant('deeper'), fc.nat(9), fc.integer({ min: 1, max: 4 })) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('gone'), fc.nat(9), fc.constant(0)) },
);
type ChainStep = typeof chainStep extends fc.Arbitrary<infer Value> ? Value : never;

/** The reports of a node that sees these changes. With `isDeep`, a reorganisation removes confirmed outputs, too. */
function reportsOf(steps: readonly ChainStep[], { isDeep }: { isDeep: boolean }): Report[] {
  const chain = new Map<number, ReportedOutput>();
  /** An output that returns after a reorganisation has the same amount: its transaction names it. */
  const litoshiOf = new Map<number, number>();
  return steps.map(([kind, which, value], index) => {
    const known = chain.get(which);
    if (kind === 'new' && !known) {
      litoshiOf.set(which, litoshiOf.get(which) ?? value);
      chain.set(which, output(which, litoshiOf.get(which)!, 0, plusMs(NOW, index)));
    }
    if (kind === 'deeper' && known)
      chain.set(which, { ...known, confirmations: known.confirmations + value });
    if (kind === 'gone' && known && (isDeep || known.confirmations < 2)) chain.delete(which);
    return { revision: index + 1, outputs: [...chain.values()] };
  });
}

const historyStep = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.constant('report'), fc.nat()) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('pass'), fc.integer({ min: MINUTE, max: 20 * MINUTE })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('pass'), fc.constant(GRACE_MS)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('expire'), fc.constant(0)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('credit'), fc.constant(0)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('close'), fc.constant(0)) },
);

describe('the laws of payments by LTC, in any history', () => {
  test('Each litoshi that is confirmed is credited or unmatched, each output counts once, and no status goes back', () => {
    fc.assert(
      fc.property(
        fc.array(chainStep, { maxLength: 30 }),
        fc.array(historyStep, { maxLength: 40 }),
        (steps, history) => {
          const reports = reportsOf(steps, { isDeep: true });
          const it = createPayment();
          for (const [kind, value] of history) {
            const before = it.payment();
            if (kind === 'report' && reports.length > 0) it.report(reports[value % reports.length]!);
            if (kind === 'pass') it.pass(value);
            if (kind === 'expire') it.expire();
            if (kind === 'credit') it.creditUnmatched();
            if (kind === 'close') it.closeOrder();
            const after = it.payment();
            // A paid payment has received at least the amount, and all of it is the merchant's.
            if (after.status === 'paid') {
              expect(it.balances().merchant_ltc).toBeGreaterThanOrEqual(ASKED);
              expect(it.balances().ltc_unmatched).toBe(0);
            }
            if (before.status === 'paid') expect(after.status).toBe('paid');
          }
          // A repetition of all reports changes nothing.
          const { revision } = it.payment().ltc!;
          const [books, paid] = [it.balances(), it.payment()];
          for (const report of reports) if (report.revision <= revision) it.report(report);
          expect(it.balances()).toEqual(books);
          expect(it.payment()).toBe(paid);
        },
      ),
      { numRuns: generated(300) },
    );
  });

  test('The reports of a chain without deep reorganisations give the same books in any order', () => {
    fc.assert(
      fc.property(
        fc.array(chainStep, { minLength: 1, maxLength: 20 }).chain((steps) => {
          const reports = reportsOf(steps, { isDeep: false });
          return fc.tuple(
            fc.constant(reports),
            fc.shuffledSubarray(reports, { minLength: reports.length }),
            fc.array(fc.nat(reports.length - 1), { maxLength: 10 }),
          );
        }),
        ([inOrder, shuffled, repeated]) => {
          const [first, second] = [createPayment(), createPayment()];
          for (const report of inOrder) first.report(report);
          for (const report of shuffled) second.report(report);
          for (const which of repeated) second.report(inOrder[which]!);
          expect(second.balances()).toEqual(first.balances());
          expect(second.payment().status).toBe(first.payment().status);
          expect(second.payment().ltc).toEqual(first.payment().ltc);
          expect(second.payment().paidLate).toBe(first.payment().paidLate);
        },
      ),
      { numRuns: generated(300) },
    );
  });
});
