import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CardPaymentClaim,
  type CardPaymentStatus,
  canFollow,
  mergeCardPayment,
  pollInterval,
  type ShownCardPayment,
} from '../../server/src/card-payments/model.ts';
import { cardPaymentEventFromWire, cardPaymentFromWire } from '../../server/src/card-payments/wire.ts';
import { plusMs } from '../../server/src/kernel/clock.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const STATUSES = ['pending', 'paid', 'expired', 'refunded', 'failed'] as const;

const claim = (rest: Partial<CardPaymentClaim> = {}): CardPaymentClaim => ({
  orderCode: 'PEDIDO1',
  status: 'pending',
  amountCents: 4990,
  ...rest,
});
const known = (rest: Partial<CardPaymentClaim> = {}) => mergeCardPayment(null, claim(rest), NOW)!.payment;
/** Pending at first, and then as told. */
const seenAs = (...statuses: (CardPaymentStatus | 'unknown')[]): ShownCardPayment =>
  statuses.reduce<ShownCardPayment>(
    (payment, status) => mergeCardPayment(payment, claim({ status }), NOW)?.payment ?? payment,
    known(),
  );

describe('what is known of a payment, held against what is said', () => {
  test.each([
    ['pending', ['paid', 'expired', 'refunded', 'failed']],
    ['expired', ['paid', 'refunded']],
    ['paid', ['refunded']],
    ['refunded', []],
    ['failed', []],
  ] as const)('from %s comes what the document lets follow, unseen steps included', (from, to) => {
    expect(STATUSES.filter((status) => canFollow(from, status))).toEqual(
      STATUSES.filter((status) => (to as readonly string[]).includes(status)),
    );
  });

  test('never goes back, whatever comes in whatever order, and keeps what is known', () => {
    const instant = fc.option(
      fc.integer({ min: 0, max: 100 }).map((minutes) => plusMs(NOW, minutes * 60_000)),
    );
    const text = fc.option(fc.constantFrom('one', 'other'));
    const claims = fc.array(
      fc
        .record({
          status: fc.option(fc.constantFrom(...STATUSES, 'unknown' as const)),
          amountCents: fc.option(fc.constantFrom(4990, 80)),
          ...{ description: text, callbackUrl: text, metadata: text, checkoutUrl: text, failureReason: text },
          ...{ createdAt: instant, expiresAt: instant, paidAt: instant, refundedAt: instant },
        })
        .map(claim),
      { maxLength: 12 },
    );
    const kept = ['description', 'callbackUrl', 'metadata', 'checkoutUrl', 'createdAt', 'paidAt'] as const;
    fc.assert(
      fc.property(claims, (all) => {
        let payment: ShownCardPayment | null = null;
        let last: CardPaymentStatus | null = null;
        for (const each of all) {
          const seen = mergeCardPayment(payment, each, NOW);
          if (!seen) continue;
          const { payment: now, changed } = seen;
          expect(changed === null).toBe(payment?.status === now.status);
          if (changed) expect(changed.from).toBe(payment?.status ?? null);
          expect(now.version).toBe((payment?.version ?? 0) + 1);
          if (payment) {
            expect(now.amountCents).toBe(payment.amountCents);
            for (const name of kept) if (payment[name] !== null) expect(now[name]).toEqual(payment[name]);
            if (!payment.expiryDerived) expect(now.expiresAt).toEqual(payment.expiresAt);
            if (payment.paidLate) expect(now.paidLate).toBe(true);
          }
          if (now.status !== 'unknown') {
            if (last) expect(now.status === last || canFollow(last, now.status)).toBe(true);
            last = now.status;
          }
          if (now.paidAt) expect(['paid', 'refunded', 'unknown']).toContain(now.status);
          // Said once more, it is nothing new.
          expect(mergeCardPayment(now, each, NOW)).toBeNull();
          payment = now;
        }
      }),
      { numRuns: 500 },
    );
  });

  test('is paid late after it has expired, or where it was confirmed after its expiry', () => {
    expect(seenAs('expired', 'paid')).toMatchObject({ status: 'paid', paidLate: true });
    expect(seenAs('expired', 'refunded')).toMatchObject({ status: 'refunded', paidLate: true });
    expect(seenAs('paid')).toMatchObject({ paidLate: false });
    const late = claim({ status: 'paid', paidAt: plusMs(NOW, 60_001) });
    expect(mergeCardPayment(known({ expiresAt: plusMs(NOW, 60_000) }), late, NOW)?.payment.paidLate).toBe(
      true,
    );
  });

  test('passes on a word that the document does not have, and goes on from where it was', () => {
    expect(seenAs('unknown')).toMatchObject({ status: 'unknown', lastStatus: 'pending' });
    expect(seenAs('paid', 'unknown', 'pending')).toMatchObject({ status: 'unknown', lastStatus: 'paid' });
    expect(seenAs('paid', 'unknown', 'refunded')).toMatchObject({ status: 'refunded' });
    expect(seenAs('failed', 'unknown')).toMatchObject({ status: 'failed' });
  });

  test('derives the expiry that nobody tells, until somebody does', () => {
    const first = known({ status: 'paid', paidAt: NOW });
    expect(first).toMatchObject({
      expiresAt: plusMs(NOW, 30 * 60_000),
      expiryDerived: true,
      createdAt: null,
    });
    const told = mergeCardPayment(first, claim({ expiresAt: plusMs(NOW, 60_000) }), NOW)!;
    expect(told.changed).toBeNull();
    expect(told.payment).toMatchObject({
      status: 'paid',
      version: 2,
      expiresAt: plusMs(NOW, 60_000),
      createdAt: plusMs(NOW, -29 * 60_000),
    });
    expect(told.payment.expiryDerived).toBeUndefined();
  });

  test('is nothing where the first that is heard has no amount', () => {
    expect(mergeCardPayment(null, claim({ amountCents: null }), NOW)).toBeNull();
  });
});

describe('what the service writes', () => {
  test('is read by the names that the document shows', () => {
    const body = {
      ...{ orderCode: 'PSC-1', status: 'pending', amountCents: 820, currency: 'BRL' },
      ...{ checkoutUrl: 'https://pay.example/1', expiresAt: '2026-03-02T12:30:00.000Z', more: [1] },
    };
    expect(cardPaymentFromWire(body)).toMatchObject({
      ...{ orderCode: 'PSC-1', status: 'pending', amountCents: 820, checkoutUrl: 'https://pay.example/1' },
      expiresAt: plusMs(NOW, 30 * 60_000),
    });
  });

  test('is read by its shape where the document shows no name', () => {
    const record = {
      ...{ orderCode: 'PEDIDO1', status: 'paid', amount: 8.2, cliente: { name: 'Ana' } },
      ...{ criadoEm: '2026-03-02T12:00:00.000Z', confirmadoEm: '2026-03-02T12:01:00.000Z' },
    };
    expect(cardPaymentFromWire(record)).toMatchObject({
      ...{ amountCents: 820, customer: { name: 'Ana' }, createdAt: NOW, paidAt: plusMs(NOW, 60_000) },
    });
    const event = {
      ...{ tipo: 'card_payment.paid', orderCode: 'PEDIDO1', amount: 1.005, situacao: 'paid' },
      ...{ expiraEm: '2026-03-02T11:00:00.000Z', confirmadoEm: '2026-03-02T12:00:00.000Z' },
    };
    expect(cardPaymentEventFromWire(event)).toMatchObject({
      ...{ orderCode: 'PEDIDO1', status: 'paid', paidAt: NOW },
    });
  });

  test.each([
    [{ orderCode: 'P1', status: 'estornado', amount: 1 }, 'unknown'],
    [{ orderCode: 'P1', event: 'card_payment.chargeback' }, 'unknown'],
    [{ orderCode: 'P1' }, null],
  ])('of a status that nobody knows makes none', (body, status) => {
    expect(cardPaymentEventFromWire(body)?.status).toBe(status);
  });

  test.each([
    null,
    'paid',
    [],
    {},
    { orderCode: 7 },
    { orderCode: '../wallet' },
    { data: { orderCode: '' } },
  ])('is no card payment: %j', (body) => {
    expect(cardPaymentFromWire(body)).toBeNull();
    expect(cardPaymentEventFromWire(body)).toBeNull();
  });

  test('never breaks the reading', () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom('orderCode', 'status', 'amount', 'customer', 'x') }),
        (body) => {
          cardPaymentFromWire(body);
          cardPaymentEventFromWire({ ...body, orderCode: 'P1' });
        },
      ),
    );
  });
});

test('a payment is asked for seldomer the longer it waits, and not for ever', () => {
  const created = known({ expiresAt: plusMs(NOW, 30 * 60_000) });
  const minutes = (payment: ShownCardPayment, passed: number) =>
    pollInterval(payment, plusMs(NOW, passed * 60_000));
  expect([0, 0.5, 1, 5, 10, 29].map((passed) => minutes(created, passed))).toEqual([
    3_000, 3_000, 6_000, 30_000, 60_000, 60_000,
  ]);
  const expired: ShownCardPayment = { ...created, status: 'expired' };
  expect([30, 60, 130, 1_000].map((passed) => minutes(expired, passed))).toEqual([
    60_000, 180_000, 600_000, 600_000,
  ]);
  expect(minutes(expired, 30 + 24 * 60)).toBeNull();
  expect(minutes({ ...created, status: 'paid' }, 1)).toBeNull();
});
