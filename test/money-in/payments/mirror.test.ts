import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brCode, crc16 } from '../../../server/src/kernel/br-code.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { Payment } from '../../../server/src/money-in/payments/model.ts';
import {
  mergeUpstreamPayment,
  type UpstreamPayment,
} from '../../../server/src/money-in/payments/upstream-payment.ts';
import {
  paymentEventFromWire,
  paymentFromWire,
  paymentWebhook,
} from '../../../server/src/money-in/payments/wire.ts';
import { canFollow } from '../../../server/src/money-in/pix/model.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../server/src/money-in/receiving/model.ts';
import { refundWebhook } from '../../../server/src/money-in/refunds/wire.ts';
import { generated } from '../../support/scale.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const LATER = plusMs(NOW, 60_000);
const ID = `psa_${'0123456789abcdef'.repeat(2)}`;
const E2E = 'E1234567820260302120000000000001';
const codeOf = (amountCents: number) =>
  brCode({ url: 'pix.example.com/v2/1', amountCents, merchantName: 'Padaria', merchantCity: 'Recife' });
const CODE = codeOf(4990);
/** A code without an amount: the charge at its address has it. */
const openCode = (account: string) => {
  const field = (id: string, value: string) => `${id}${String(value.length).padStart(2, '0')}${value}`;
  const text = `000201${field('26', `0014br.gov.bcb.pix${account}`)}5204000053039865802BR5903Ana6008BRASILIA6304`;
  return text + crc16(text);
};
const OPEN_DYNAMIC = openCode('2520pix.example.com/v2/1');
const OPEN_STATIC = openCode('0119ana@padaria.example');

const claim = (rest: Partial<UpstreamPayment> = {}): UpstreamPayment => ({
  paymentId: ID,
  status: 'pending',
  amountCents: 4990,
  ...rest,
});
const known = (rest: Partial<UpstreamPayment> = {}) => mergeUpstreamPayment(null, claim(rest), NOW)!.resource;
const credit = (returnedAt: Date | null) =>
  ({ endToEndId: E2E, amountCents: 1, cause: 'amount_mismatch', receivedAt: NOW, returnedAt }) as const;

describe('what is known of a PIX payment, held against what is said', () => {
  test('An order that the service shows as paid is announced once, and stays so', () => {
    const shown = (rest: object) =>
      paymentFromWire({ paymentId: ID, status: 'pending', amountCents: 4990, ...rest })!;
    const paid = mergeUpstreamPayment(known(), shown({ orderPaid: true, orderRefunded: false }), NOW)!;
    expect(paid).toMatchObject({
      resource: { status: 'pending', orderStatus: 'paid' },
      changed: { from: 'pending' },
    });
    expect(mergeUpstreamPayment(paid.resource, shown({}), NOW)).toBeNull();
    const refunded = mergeUpstreamPayment(
      paid.resource,
      shown({ orderPaid: true, orderRefunded: true }),
      NOW,
    )!;
    expect(refunded).toMatchObject({ resource: { orderStatus: 'refunded' }, changed: { from: 'pending' } });
    expect(mergeUpstreamPayment(refunded.resource, shown({ orderPaid: true }), NOW)).toBeNull();
  });

  test('A payment never goes back, whatever claims arrive in whatever order, and a repeated claim changes nothing', () => {
    const instant = fc.option(
      fc.integer({ min: 0, max: 100 }).map((minutes) => plusMs(NOW, minutes * 60_000)),
    );
    const cents = fc.option(fc.constantFrom(0, 80, 4990, 5000));
    const claims = fc.array(
      fc
        .record({
          status: fc.option(fc.constantFrom(...PAYMENT_STATUSES, 'unknown' as const)),
          amountCents: fc.option(fc.constantFrom(4990, 80)),
          createdAt: instant,
          expiresAt: instant,
          paidAt: instant,
          refundedAt: instant,
          refundedCents: cents,
          refundableCents: cents,
          feeCents: cents,
          method: fc.option(fc.constantFrom('pix' as const, 'ltc' as const)),
          brCode: fc.option(fc.constantFrom(CODE, codeOf(80))),
          returnedCredits: fc.option(fc.constantFrom([], [credit(null)], [credit(LATER)])),
        })
        .map(claim),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(claims, (all) => {
        let payment: Payment | null = null;
        let last: PaymentStatus | null = null;
        for (const each of all) {
          const merged = mergeUpstreamPayment(payment, each, NOW);
          if (!merged) continue;
          const { resource: now, changed } = merged;
          expect(now.version).toBe((payment?.version ?? 0) + 1);
          if (changed) expect(changed.from).toBe(payment?.status ?? null);
          if (now.status !== payment?.status) expect(changed).not.toBeNull();
          if (payment) {
            expect(now.amountCents).toBe(payment.amountCents);
            expect(now.refundedCents ?? 0).toBeGreaterThanOrEqual(payment.refundedCents ?? 0);
            if (payment.paidAt) expect(now.paidAt).toEqual(payment.paidAt);
          }
          expect((now.refundedCents ?? 0) + (now.refundingCents ?? 0)).toBeLessThanOrEqual(now.amountCents);
          if (now.status !== 'unknown') {
            if (last) expect(now.status === last || canFollow(last, now.status)).toBe(true);
            last = now.status;
          }
          expect(mergeUpstreamPayment(now, each, NOW)).toBeNull();
          payment = now;
        }
      }),
      { numRuns: generated(500) },
    );
  });

  test('A payment is not paid by another amount, which is stored and shown until its own arrives', () => {
    const other = mergeUpstreamPayment(
      known(),
      claim({ status: 'paid', amountCents: 80, endToEndId: E2E }),
      NOW,
    )!;
    expect(other).toMatchObject({
      resource: { status: 'pending', amountCents: 4990, otherPaidCents: 80, paidAt: null, endToEndId: null },
      changed: { from: 'pending' },
    });
    const paid = mergeUpstreamPayment(
      other.resource,
      claim({ status: 'paid', endToEndId: E2E }),
      NOW,
    )!.resource;
    expect(paid).toMatchObject({ status: 'paid', endToEndId: E2E });
    expect(paid.otherPaidCents).toBeUndefined();
  });

  test.each([
    ['of its amount', CODE, CODE],
    ['of another amount', codeOf(80), null],
    ['that leaves the amount to its charge', OPEN_DYNAMIC, OPEN_DYNAMIC],
    ['whose amount the payer enters', OPEN_STATIC, null],
  ])('A payment takes or leaves a code %s', (_, code, expected) => {
    expect(known({ brCode: code }).brCode).toBe(expected);
  });

  test('Subscribers get a new code, refunds, returned credits and a fee, and nothing where an amount becomes known as 0', () => {
    const pending = known();
    const coded = mergeUpstreamPayment(pending, claim({ brCode: CODE }), NOW)!;
    expect(coded).toMatchObject({ resource: { version: 2 }, changed: { from: 'pending' } });
    const returned = mergeUpstreamPayment(coded.resource, claim({ returnedCredits: [credit(null)] }), NOW)!;
    expect(returned.changed).toEqual({ from: 'pending' });
    const paid = mergeUpstreamPayment(returned.resource, claim({ status: 'paid' }), NOW)!.resource;
    const described = claim({ status: 'paid', refundedCents: 0, refundableCents: 4990 });
    const complete = mergeUpstreamPayment(paid, described, NOW)!;
    expect(complete).toMatchObject({ resource: { refundedCents: 0, version: 5 }, changed: null });
    expect(mergeUpstreamPayment(complete.resource, { ...described, feeCents: 0 }, NOW)).toMatchObject({
      resource: { feeCents: 0 },
      changed: null,
    });
    expect(mergeUpstreamPayment(complete.resource, { ...described, feeCents: 10 }, NOW)).toMatchObject({
      resource: { feeCents: 10, version: 6 },
      changed: { from: 'paid' },
    });
    expect(mergeUpstreamPayment(pending, claim({ feeCents: 10 }), NOW)!.changed).toBeNull();
    const refunding = mergeUpstreamPayment(complete.resource, { ...described, refundableCents: 4000 }, NOW)!;
    expect(refunding).toMatchObject({
      resource: { refundedCents: 0, refundingCents: 990 },
      changed: { from: 'paid' },
    });
  });

  test('A first claim without an amount records nothing, and a fee above the amount is not believed', () => {
    expect(mergeUpstreamPayment(null, claim({ amountCents: null }), NOW)).toBeNull();
    expect(known({ feeCents: 4991 }).feeCents).toBeNull();
  });
});

describe('what the service writes', () => {
  test('A payment of another shape is read by its names and by its form, its money in cents alone', () => {
    const record = {
      id: ID,
      status: 'Pago',
      valueCents: '4990',
      amount: 1,
      fee: 3,
      criadoEm: NOW.toISOString(),
      pix: { copiaECola: `${CODE} ` },
      e2e: E2E,
      txid: 'abc123',
      cliente: { name: 'Ana' },
      method: 'PIX',
    };
    expect(paymentFromWire({ data: record, ok: true })).toMatchObject({
      paymentId: ID,
      status: 'unknown',
      amountCents: 4990,
      feeCents: null,
      brCode: CODE,
      method: 'pix',
      endToEndId: E2E,
      txid: 'abc123',
      customer: { name: 'Ana' },
      returnedCredits: null,
    });
    expect(paymentFromWire({ ...record, status: 'pending' })).toMatchObject({ createdAt: NOW });
    expect(paymentFromWire({ id: ID, amount: 49.9, status: 'paid' })).toMatchObject({ amountCents: null });
    expect(paymentFromWire({ id: ID, note: CODE, qrCode: `${CODE.slice(0, -1)}Z` })).toMatchObject({
      brCode: null,
    });
    expect(paymentFromWire({ id: ID, method: 'boleto' })).toMatchObject({ method: 'unknown' });
    const returnedCredits = [
      { endToEndId: E2E, amountCents: 1, cause: 'new', receivedAt: NOW.toISOString() },
      {},
      1,
    ];
    expect(paymentFromWire({ id: ID, returnedCredits })?.returnedCredits).toEqual([
      { endToEndId: E2E, amountCents: 1, cause: 'unknown', receivedAt: NOW, returnedAt: null },
    ]);
  });

  test('An event is read by its paymentId, or by its name, in sandbox too', () => {
    const paid = {
      tipo: 'payment.test.paid',
      id: ID,
      amountCents: 4990,
      em: NOW.toISOString(),
      sandbox: true,
    };
    expect(paymentEventFromWire(paid)).toMatchObject({
      paymentId: ID,
      status: 'paid',
      paidAt: NOW,
      amountCents: 4990,
    });
    expect(paymentEventFromWire({ paymentId: ID, status: 'estornado' })?.status).toBe('unknown');
    expect(paymentEventFromWire({ paymentId: ID })?.status).toBeNull();
    expect(paymentEventFromWire({ event: 'other.paid', id: ID })).toBeNull();
  });

  const PAID = known({ status: 'paid', paidAt: NOW, customer: { name: 'Ana' }, metadata: '{"a":1}' });
  test.each<[PaymentStatus, Payment, Partial<UpstreamPayment>]>([
    ['paid', PAID, { paidAt: NOW, customer: { name: 'Ana' }, metadata: '{"a":1}' }],
    ['refunded', { ...PAID, status: 'refunded', refundedAt: LATER }, { paidAt: NOW, refundedAt: LATER }],
    ['expired', known({ status: 'expired' }), { paidAt: null }],
    ['failed', known({ status: 'failed', failureReason: 'Recusada' }), { failureReason: 'Recusada' }],
  ])(
    'Our own event payment.%s is read as what it reports, in both environments',
    (status, payment, expected) => {
      for (const environment of ['live', 'sandbox'] as const) {
        const body = JSON.parse(JSON.stringify(paymentWebhook(payment, 'pending', environment)));
        expect(paymentEventFromWire(body)).toMatchObject({
          paymentId: ID,
          status,
          amountCents: 4990,
          ...expected,
        });
      }
    },
  );

  test.each(['disputeId', 'refundId', 'deliveryId', 'subscriptionId', 'chargeId'])(
    'An event with a %s is not a payment’s',
    (name) => {
      expect(
        paymentEventFromWire({ [name]: 'x_1', paymentId: ID, status: 'paid', amountCents: 1 }),
      ).toBeNull();
      const inside = { data: { [name]: 'x_1', paymentId: ID, status: 'paid' } };
      expect(paymentEventFromWire(inside)).toBeNull();
      expect(paymentEventFromWire({ [name]: null, paymentId: ID, status: 'paid' })).toMatchObject({
        status: 'paid',
      });
    },
  );

  test('Our own event of a refund is not its payment’s', () => {
    const refund = {
      refundId: `ref_${'0'.repeat(24)}`,
      status: 'completed',
      amountCents: 990,
      reason: null,
      version: 2,
      resource: { type: 'payment', id: ID },
      failureReason: null,
      endToEndId: null,
      createdAt: NOW,
      completedAt: NOW,
      metadata: null,
      callbackUrl: null,
    } as unknown as Parameters<typeof refundWebhook>[0];
    expect(paymentEventFromWire(JSON.parse(JSON.stringify(refundWebhook(refund, 'live'))))).toBeNull();
  });

  test.each([
    null,
    'paid',
    [],
    {},
    { paymentId: 7 },
    { id: 'psa_' },
    { paymentId: '../../money-out/wallet' },
    { id: 'psa_sub_1' },
  ])('No payment is read from %j', (body) => {
    expect(paymentFromWire(body)).toBeNull();
    expect(paymentEventFromWire(body)).toBeNull();
  });

  test('Any body of the service can be read without an error', () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom('paymentId', 'status', 'pix', 'customer', 'returnedCredits') }),
        (body) => {
          paymentFromWire({ ...body, id: ID });
          paymentEventFromWire({ ...body, paymentId: ID });
        },
      ),
    );
  });
});
