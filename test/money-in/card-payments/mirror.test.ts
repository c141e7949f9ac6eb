import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import {
  type CardPayment,
  type CardPaymentStatus,
  canFollow,
  statusSince,
} from '../../../server/src/money-in/card-payments/model.ts';
import {
  mergeUpstreamCardPayment,
  type UpstreamCardPayment,
} from '../../../server/src/money-in/card-payments/upstream-card-payment.ts';
import {
  cardPaymentEventFromWire,
  cardPaymentFromWire,
  cardPaymentWebhook,
} from '../../../server/src/money-in/card-payments/wire.ts';
import type { Dispute } from '../../../server/src/money-in/disputes/model.ts';
import { disputeWebhook } from '../../../server/src/money-in/disputes/wire.ts';
import { pollInterval } from '../../../server/src/money-in/receiving/poll-interval.ts';
import { generated } from '../../support/scale.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const STATUSES = ['pending', 'paid', 'expired', 'refunded', 'failed'] as const;

const claim = (rest: Partial<UpstreamCardPayment> = {}): UpstreamCardPayment => ({
  orderCode: 'PEDIDO1',
  status: 'pending',
  amountCents: 4990,
  ...rest,
});
const known = (rest: Partial<UpstreamCardPayment> = {}) =>
  mergeUpstreamCardPayment(null, claim(rest), NOW)!.resource;
/** A payment that is pending at first, and then has each of these statuses in turn. */
const seenAs = (...statuses: (CardPaymentStatus | 'unknown')[]): CardPayment =>
  statuses.reduce<CardPayment>(
    (payment, status) => mergeUpstreamCardPayment(payment, claim({ status }), NOW)?.resource ?? payment,
    known(),
  );

describe('what is known of a payment, held against what is said', () => {
  test.each([
    ['pending', ['paid', 'expired', 'refunded', 'failed']],
    ['expired', ['paid', 'refunded', 'failed']],
    ['paid', ['refunded']],
    ['refunded', []],
    ['failed', []],
  ] as const)(
    'From %s a payment reaches the statuses that the document allows, over unobserved steps',
    (from, to) => {
      expect(STATUSES.filter((status) => canFollow(from, status))).toEqual(
        STATUSES.filter((status) => (to as readonly string[]).includes(status)),
      );
    },
  );

  test('A payment never goes back, whatever claims arrive in whatever order, and keeps what is known', () => {
    const instant = fc.option(
      fc.integer({ min: 0, max: 100 }).map((minutes) => plusMs(NOW, minutes * 60_000)),
    );
    const text = fc.option(fc.constantFrom('one', 'other'));
    const claims = fc.array(
      fc
        .record({
          status: fc.option(fc.constantFrom(...STATUSES, 'unknown' as const)),
          amountCents: fc.option(fc.constantFrom(4990, 80)),
          description: text,
          callbackUrl: text,
          metadata: text,
          checkoutUrl: text,
          failureReason: text,
          createdAt: instant,
          expiresAt: instant,
          paidAt: instant,
          refundedAt: instant,
        })
        .map(claim),
      { maxLength: 12 },
    );
    const kept = ['description', 'callbackUrl', 'metadata', 'checkoutUrl', 'createdAt', 'paidAt'] as const;
    fc.assert(
      fc.property(claims, (all) => {
        let payment: CardPayment | null = null;
        let last: CardPaymentStatus | null = null;
        for (const each of all) {
          const seen = mergeUpstreamCardPayment(payment, each, NOW);
          if (!seen) continue;
          const { resource: now, changed } = seen;
          expect(changed === null).toBe(
            payment?.status === now.status &&
              payment.otherPaidCents === now.otherPaidCents &&
              payment.unresolved === now.unresolved,
          );
          if (each.status === 'paid' && now.status === 'paid' && payment && payment.status !== 'paid')
            expect(each.amountCents ?? now.amountCents).toBe(now.amountCents);
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
          // A repeated answer changes nothing.
          expect(mergeUpstreamCardPayment(now, each, NOW)).toBeNull();
          payment = now;
        }
      }),
      { numRuns: generated(500) },
    );
  });

  const answer = (minutes: number, knownAt: number | null) =>
    ({
      by: 'service',
      at: plusMs(NOW, minutes * 60_000),
      knownAt: knownAt === null ? null : plusMs(NOW, knownAt * 60_000),
    }) as const;

  test.each([
    ['failed', 'paid'],
    ['failed', 'expired'],
    ['failed', 'pending'],
    ['refunded', 'paid'],
    ['paid', 'failed'],
    ['expired', 'pending'],
  ] as const)(
    'A newer answer of the service corrects a payment from %s to %s, and nothing older does',
    (from, to) => {
      const ends = { paidAt: NOW, refundedAt: NOW, failureReason: 'no funds', canceledAt: NOW };
      const before = mergeUpstreamCardPayment(
        known(),
        claim({ status: from, ...ends }),
        NOW,
        answer(0, null),
      );
      const payment = before!.resource;
      expect(payment.status).toBe(from);
      const again = claim({ status: to, paidAt: plusMs(NOW, 1) });
      const corrected = mergeUpstreamCardPayment(payment, again, NOW, answer(1, 0))!;
      expect(corrected).toMatchObject({
        resource: { status: to, version: payment.version + 1, refundedAt: null, failureReason: null },
        changed: { from },
      });
      expect(corrected.resource.paidAt).toEqual(to === 'paid' ? plusMs(NOW, 1) : null);
      if (from !== 'expired') expect(corrected.resource.canceledAt).toBeUndefined();
      const older = mergeUpstreamCardPayment(payment, again, NOW, answer(0, 1))?.resource ?? payment;
      expect(older.status).toBe(from);
      const event = mergeUpstreamCardPayment(payment, again, NOW)?.resource ?? payment;
      expect(event.status).toBe(from);
    },
  );

  test('What is paid is open again only by an answer that cannot be behind the payment', () => {
    for (const source of [answer(0, null), undefined]) {
      const { resource: payment } = mergeUpstreamCardPayment(
        known(),
        claim({ status: 'paid' }),
        NOW,
        source,
      )!;
      const open = claim({ status: 'pending' });
      expect(mergeUpstreamCardPayment(payment, open, NOW, answer(1, 0))).toBeNull();
      expect(mergeUpstreamCardPayment(payment, open, NOW, answer(2, 0))).toMatchObject({
        resource: { status: 'pending', paidAt: null },
        changed: { from: 'paid' },
      });
    }
  });

  test('A payment that only a webhook calls paid is unresolved where the service denies it, until it says so itself', () => {
    const claimed = mergeUpstreamCardPayment(known(), claim({ status: 'paid' }), NOW)!.resource;
    expect(claimed).toMatchObject({ status: 'paid', claimedAt: NOW });
    expect(claimed.unresolved).toBeUndefined();
    const confirmed = mergeUpstreamCardPayment(claimed, claim({ status: 'paid' }), NOW, answer(1, 0))!;
    // A confirmation sends no update.
    expect(confirmed).toMatchObject({
      resource: { status: 'paid', version: claimed.version },
      changed: null,
    });
    expect(confirmed.resource.claimedAt).toBeUndefined();
    for (const status of ['pending', 'failed', 'expired'] as const) {
      const denied = mergeUpstreamCardPayment(claimed, claim({ status }), NOW, answer(3, 0))!;
      expect(denied).toMatchObject({ resource: { status, unresolved: true }, changed: { from: 'paid' } });
      const paid = mergeUpstreamCardPayment(denied.resource, claim({ status: 'paid' }), NOW, answer(4, 3))!;
      expect(paid.resource.status).toBe('paid');
      expect(paid.resource.unresolved).toBeUndefined();
    }
    // A webhook does not undo a final status that the service has returned. It makes that status doubtful.
    const failed = mergeUpstreamCardPayment(known(), claim({ status: 'failed' }), NOW, answer(0, null))!;
    expect(mergeUpstreamCardPayment(failed.resource, claim({ status: 'paid' }), NOW)).toMatchObject({
      resource: { status: 'failed', unresolved: true },
      changed: { from: 'failed' },
    });
  });

  test('A webhook that says paid and no amount leaves a payment PENDING and unresolved', () => {
    const bare = claim({ status: 'paid', amountCents: null, paidAt: NOW });
    const seen = mergeUpstreamCardPayment(known(), bare, NOW)!;
    expect(seen).toMatchObject({
      resource: { status: 'pending', unresolved: true, paidAt: null },
      changed: { from: 'pending' },
    });
    expect(mergeUpstreamCardPayment(seen.resource, bare, NOW)).toBeNull();
    expect(mergeUpstreamCardPayment(seen.resource, bare, NOW, answer(1, 0))!.resource).toMatchObject({
      status: 'paid',
      paidAt: NOW,
    });
  });

  test('A payment is paid late after it has expired, or where it was confirmed after its expiry', () => {
    expect(seenAs('expired', 'paid')).toMatchObject({ status: 'paid', paidLate: true });
    expect(seenAs('expired', 'refunded')).toMatchObject({ status: 'refunded', paidLate: true });
    expect(seenAs('paid')).toMatchObject({ paidLate: false });
    const late = claim({ status: 'paid', paidAt: plusMs(NOW, 60_001) });
    expect(
      mergeUpstreamCardPayment(known({ expiresAt: plusMs(NOW, 60_000) }), late, NOW)?.resource.paidLate,
    ).toBe(true);
  });

  test('A payment’s expiry is derived until the service shows it', () => {
    const first = known({ status: 'paid', paidAt: NOW });
    expect(first).toMatchObject({
      expiresAt: plusMs(NOW, 30 * 60_000),
      expiryDerived: true,
      createdAt: null,
    });
    const merged = mergeUpstreamCardPayment(first, claim({ expiresAt: plusMs(NOW, 60_000) }), NOW)!;
    expect(merged.changed).toBeNull();
    expect(merged.resource).toMatchObject({
      status: 'paid',
      version: 2,
      expiresAt: plusMs(NOW, 60_000),
      createdAt: plusMs(NOW, -29 * 60_000),
    });
    expect(merged.resource.expiryDerived).toBeUndefined();
  });

  test('A payment is not paid by another amount, which is stored and shown until its own arrives', () => {
    const other = claim({ status: 'paid', amountCents: 80, paidAt: NOW, paidLate: true });
    const seen = mergeUpstreamCardPayment(known(), other, NOW)!;
    expect(seen).toMatchObject({
      resource: {
        status: 'pending',
        amountCents: 4990,
        otherPaidCents: 80,
        version: 2,
        paidAt: null,
        paidLate: false,
      },
      changed: { from: 'pending' },
    });
    expect(mergeUpstreamCardPayment(seen.resource, other, NOW)).toBeNull();
    expect(mergeUpstreamCardPayment(seen.resource, claim({ status: 'pending' }), NOW)).toBeNull();
    const paid = mergeUpstreamCardPayment(seen.resource, claim({ status: 'paid', paidAt: NOW }), NOW)!;
    expect(paid).toMatchObject({ resource: { status: 'paid', paidAt: NOW }, changed: { from: 'pending' } });
    expect(paid.resource.otherPaidCents).toBeUndefined();
    expect(mergeUpstreamCardPayment(paid.resource, other, NOW)).toMatchObject({
      resource: { status: 'paid', otherPaidCents: 80, paidAt: NOW },
    });
    // A refund may be of a part.
    expect(
      mergeUpstreamCardPayment(paid.resource, claim({ status: 'refunded', amountCents: 80 }), NOW)!.resource,
    ).toMatchObject({ status: 'refunded', amountCents: 4990 });
  });

  const TEXTS = {
    checkoutUrl: 'https://pay.example/1',
    description: 'Caneca',
    callbackUrl: 'https://shop.example/hook',
    metadata: '{"a":1}',
    successUrl: 'https://shop.example/ok',
    cancelUrl: 'https://shop.example/no',
  };

  test('A payment keeps the first values and takes later ones for the rest', () => {
    expect(known(TEXTS)).toMatchObject(TEXTS);
    const nothing = Object.fromEntries(Object.keys(TEXTS).map((name) => [name, null]));
    expect(known()).toMatchObject(nothing);
    expect(mergeUpstreamCardPayment(known(), claim(TEXTS), NOW)!.resource).toMatchObject(TEXTS);
    expect(mergeUpstreamCardPayment(known(TEXTS), claim(nothing), NOW)).toBeNull();
    const others = Object.fromEntries(Object.keys(TEXTS).map((name) => [name, 'other']));
    expect(mergeUpstreamCardPayment(known(TEXTS), claim(others), NOW)).toBeNull();
    expect(known().amountCents).toBe(4990);
    expect(mergeUpstreamCardPayment(known(), claim({ amountCents: 80 }), NOW)).toBeNull();
    expect(mergeUpstreamCardPayment(known(), claim({ amountCents: null }), NOW)).toBeNull();
  });

  test('A customer’s details are merged', () => {
    const ana = known({ customer: { name: 'Ana' } });
    expect(ana.customer).toEqual({ name: 'Ana' });
    const more = mergeUpstreamCardPayment(
      ana,
      claim({ customer: { name: 'Bia', email: 'ana@b.br' } }),
      NOW,
    )!.resource;
    expect(more).toMatchObject({ customer: { name: 'Ana', email: 'ana@b.br' }, version: 2 });
    expect(
      mergeUpstreamCardPayment(more, claim({ customer: { externalId: '7' } }), NOW)!.resource.customer,
    ).toEqual({
      name: 'Ana',
      email: 'ana@b.br',
      externalId: '7',
    });
    // Only the request has the tax number: no answer of the service contains it.
    const requested = mergeUpstreamCardPayment(ana, claim({ customer: { taxId: '12345678909' } }), NOW)!;
    expect(requested.resource).toMatchObject({ customer: { name: 'Ana', taxId: '12345678909' }, version: 2 });
    expect(
      mergeUpstreamCardPayment(requested.resource, claim({ customer: { name: 'Ana' } }), NOW),
    ).toBeNull();
    expect(known().customer).toBeNull();
  });

  test('The details of an end are taken with that end alone', () => {
    const ends = { paidAt: NOW, refundedAt: NOW, failureReason: 'no funds' };
    const seen = (status: CardPaymentStatus) =>
      mergeUpstreamCardPayment(known(), claim({ status, ...ends }), NOW)?.resource ?? known();
    const nothing = { paidAt: null, refundedAt: null, failureReason: null };
    expect(seen('pending')).toMatchObject(nothing);
    expect(seen('expired')).toMatchObject(nothing);
    expect(seen('paid')).toMatchObject({ ...nothing, paidAt: NOW });
    expect(seen('refunded')).toMatchObject({ ...nothing, paidAt: NOW, refundedAt: NOW });
    expect(seen('failed')).toMatchObject({ ...nothing, failureReason: 'no funds' });
    const later = claim({ status: 'refunded', refundedAt: plusMs(NOW, 1), paidAt: plusMs(NOW, 1) });
    expect(mergeUpstreamCardPayment(seen('refunded'), later, NOW)).toBeNull();
    expect(
      mergeUpstreamCardPayment(seen('failed'), claim({ status: 'failed', failureReason: 'other' }), NOW),
    ).toBeNull();
  });

  test.each([
    [-1, false],
    [0, true],
    [1, true],
  ])('A payment confirmed %d ms after its expiry in the mirror is paid late: %s', (ms, paidLate) => {
    const expiresAt = plusMs(NOW, 60_000);
    const paid = claim({ status: 'paid', paidAt: plusMs(expiresAt, ms) });
    expect(mergeUpstreamCardPayment(known({ expiresAt }), paid, NOW)!.resource.paidLate).toBe(paidLate);
  });

  test('A payment is late where the service says so, and not where its time is unknown', () => {
    expect(known({ status: 'paid', paidLate: true }).paidLate).toBe(true);
    expect(
      mergeUpstreamCardPayment(seenAs('expired'), claim({ status: 'paid', paidLate: false }), NOW),
    ).toMatchObject({ resource: { paidLate: false } });
    expect(known({ status: 'paid', expiresAt: NOW }).paidLate).toBe(false);
    expect(known({ status: 'paid', paidAt: NOW }).paidLate).toBe(false);
    expect(known({ status: 'pending', paidAt: NOW, expiresAt: NOW }).paidLate).toBe(false);
  });

  test('An unknown word keeps the last status, and a missing one is unknown', () => {
    expect(known({ status: null })).toMatchObject({ status: 'unknown', lastStatus: null });
    expect(known({ status: 'paid' })).not.toHaveProperty('lastStatus');
    expect(mergeUpstreamCardPayment(seenAs('paid'), claim({ status: null }), NOW)).toBeNull();
    expect(mergeUpstreamCardPayment(known({ status: null }), claim({ status: 'paid' }), NOW)).toMatchObject({
      resource: { status: 'paid', version: 2 },
      changed: { from: 'unknown' },
    });
    expect(mergeUpstreamCardPayment(known({ status: null }), claim({ status: null }), NOW)).toBeNull();
    expect(seenAs('unknown', 'pending')).toMatchObject({ status: 'pending' });
    expect(seenAs('paid', 'unknown', 'expired')).toMatchObject({ status: 'unknown', lastStatus: 'paid' });
  });

  test('An expiry is derived from the creation as soon as that is known, and stays otherwise', () => {
    const LATER = plusMs(NOW, 600_000);
    const first = known();
    expect(mergeUpstreamCardPayment(first, claim(), LATER)).toBeNull();
    const described = mergeUpstreamCardPayment(first, claim({ description: 'Caneca' }), LATER)!.resource;
    expect(described).toMatchObject({ expiresAt: first.expiresAt, expiryDerived: true });
    const created = plusMs(NOW, -60_000);
    const merged = mergeUpstreamCardPayment(first, claim({ createdAt: created }), LATER)!.resource;
    expect(merged).toMatchObject({
      createdAt: created,
      expiresAt: plusMs(created, 30 * 60_000),
      expiryDerived: true,
    });
    // A second claim does not derive the expiry again.
    expect(
      mergeUpstreamCardPayment(merged, claim({ createdAt: LATER, description: 'Caneca' }), LATER)!.resource,
    ).toMatchObject({ createdAt: created, expiresAt: merged.expiresAt });
    const certain = known({ expiresAt: LATER });
    expect(mergeUpstreamCardPayment(certain, claim({ expiresAt: NOW }), NOW)).toBeNull();
  });

  test('The time of a status is the newest known instant', () => {
    const at = (minutes: number) => plusMs(NOW, minutes * 60_000);
    const payment = known({ expiresAt: at(30) });
    const none = { createdAt: null, paidAt: null, refundedAt: null };
    expect(statusSince({ ...payment, ...none })).toEqual(NOW);
    expect(statusSince({ ...payment, ...none, createdAt: at(1) })).toEqual(at(1));
    expect(statusSince({ ...payment, ...none, createdAt: at(1), paidAt: at(2) })).toEqual(at(2));
    expect(statusSince({ ...payment, createdAt: at(1), paidAt: at(2), refundedAt: at(3) })).toEqual(at(3));
  });

  test('The refunds of a payment are known from the first claim on that shows them, and fit its amount', () => {
    const refunds = { status: 'paid', refundedCents: 990, refundableCents: 3000 } as const;
    expect(known(refunds)).toMatchObject({ refundedCents: 990, refundingCents: 1000 });
    expect(known({ ...refunds, refundedCents: 4991 })).toMatchObject({ refundedCents: null });
  });

  test('A refund and the fee of a paid payment are updates of it, and an amount that becomes known as 0 is none', () => {
    const paid = known({ status: 'paid' });
    const shown = (refundedCents: number, refundableCents: number) =>
      claim({ status: 'paid', refundedCents, refundableCents });
    const first = mergeUpstreamCardPayment(paid, shown(0, 4990), NOW)!;
    expect(first).toMatchObject({ resource: { version: paid.version, refundedCents: 0 }, changed: null });
    expect(mergeUpstreamCardPayment(paid, claim({ status: 'paid', feeCents: 90 }), NOW)).toMatchObject({
      resource: { version: paid.version + 1, feeCents: 90 },
      changed: { from: 'paid' },
    });
    expect(mergeUpstreamCardPayment(known(), claim({ feeCents: 90 }), NOW)).toMatchObject({ changed: null });
    expect(mergeUpstreamCardPayment(first.resource, shown(990, 4000), NOW)).toMatchObject({
      resource: { version: paid.version + 1, refundedCents: 990 },
      changed: { from: 'paid' },
    });
  });

  test('A first claim without an amount records nothing', () => {
    expect(mergeUpstreamCardPayment(null, claim({ amountCents: null }), NOW)).toBeNull();
  });
});

describe('what the service writes', () => {
  test('A service’s payment is read by the names of the document', () => {
    const body = {
      orderCode: 'PSC-1',
      status: 'pending',
      amountCents: 820,
      currency: 'BRL',
      checkoutUrl: 'https://pay.example/1',
      expiresAt: '2026-03-02T12:30:00.000Z',
      more: [1],
    };
    expect(cardPaymentFromWire(body)).toMatchObject({
      orderCode: 'PSC-1',
      status: 'pending',
      amountCents: 820,
      checkoutUrl: 'https://pay.example/1',
      expiresAt: plusMs(NOW, 30 * 60_000),
    });
  });

  test('A service’s payment is read by form where the document shows no name', () => {
    const record = {
      orderCode: 'PEDIDO1',
      status: 'paid',
      amount: 8.2,
      cliente: { name: 'Ana' },
      criadoEm: '2026-03-02T12:00:00.000Z',
      confirmadoEm: '2026-03-02T12:01:00.000Z',
    };
    expect(cardPaymentFromWire(record)).toMatchObject({
      amountCents: 820,
      customer: { name: 'Ana' },
      createdAt: NOW,
      paidAt: plusMs(NOW, 60_000),
    });
    // Other records than customers have an externalId, too.
    expect(cardPaymentFromWire({ ...record, cliente: { externalId: 'u-1' } })!.customer).toBeNull();
    expect(cardPaymentFromWire({ ...record, customer: { externalId: 'u-1' } })!.customer).toEqual({
      externalId: 'u-1',
    });
    const both = {
      ...record,
      customer: { externalId: 'u-1' },
      cliente: { name: 'Ana', email: 'ana@example.com' },
    };
    expect(cardPaymentFromWire(both)!.customer).toEqual(both.cliente);
    const named = { ...both, customer: { name: 'Bia', externalId: 'u-1' } };
    expect(cardPaymentFromWire(named)!.customer).toEqual(named.customer);
    const { cliente: _, ...withProduct } = { ...both, produto: { name: 'Vela' } };
    expect(cardPaymentFromWire(withProduct)!.customer).toEqual({ externalId: 'u-1' });
    const event = {
      tipo: 'card_payment.paid',
      orderCode: 'PEDIDO1',
      amount: 1.005,
      situacao: 'paid',
      expiraEm: '2026-03-02T11:00:00.000Z',
      confirmadoEm: '2026-03-02T12:00:00.000Z',
    };
    expect(cardPaymentEventFromWire(event)).toMatchObject({
      orderCode: 'PEDIDO1',
      status: 'paid',
      paidAt: NOW,
    });
  });

  const PAID: CardPayment = known({ status: 'paid', paidAt: NOW, customer: { name: 'Ana' } });
  const LATER = plusMs(NOW, 60_000);
  test.each<[string, CardPayment, Partial<UpstreamCardPayment>]>([
    ['paid', PAID, { status: 'paid', paidAt: NOW }],
    [
      'refunded',
      { ...PAID, status: 'refunded', refundedAt: LATER },
      { status: 'refunded', paidAt: NOW, refundedAt: LATER },
    ],
    ['expired', known({ status: 'expired' }), { status: 'expired', paidAt: null, refundedAt: null }],
    [
      'failed',
      known({ status: 'failed', failureReason: 'Cartão roubado' }),
      { status: 'failed', paidAt: null, refundedAt: null, failureReason: 'Cartão roubado' },
    ],
  ])('Our own event card_payment.%s is read as what it reports', (status, payment, expected) => {
    const body = JSON.parse(JSON.stringify(cardPaymentWebhook(payment, null)));
    expect(body.event).toBe(`card_payment.${status}`);
    expect(cardPaymentEventFromWire(body)).toMatchObject({
      orderCode: payment.orderCode,
      amountCents: payment.amountCents,
      ...expected,
    });
  });

  test('The instant of a refund is not taken for that of the payment', () => {
    const event = {
      event: 'card_payment.refunded',
      orderCode: 'P1',
      amount: 1,
      refundedAt: NOW.toISOString(),
    };
    expect(cardPaymentEventFromWire(event)).toMatchObject({
      status: 'refunded',
      paidAt: null,
      refundedAt: NOW,
    });
    const inPortuguese = { event: 'card_payment.refunded', orderCode: 'P1', estornadoEm: NOW.toISOString() };
    expect(cardPaymentEventFromWire(inPortuguese)).toMatchObject({ status: 'refunded', paidAt: null });
  });

  test('The instant of the creation is not taken for that of the payment', () => {
    const event = { event: 'card_payment.paid', orderCode: 'P1', amount: 1, status: 'paid' };
    const createdAt = '2026-03-02T11:40:00.000Z';
    const confirmed = { confirmadoEm: NOW.toISOString() };
    expect(cardPaymentEventFromWire({ ...event, ...confirmed, createdAt })).toMatchObject({ paidAt: NOW });
    expect(cardPaymentEventFromWire({ ...event, ...confirmed, criadoEm: createdAt })).toMatchObject({
      paidAt: NOW,
    });
    expect(cardPaymentEventFromWire({ ...event, createdAt })).toMatchObject({ paidAt: null });
  });

  test('No card payment is read from the event of a dispute', () => {
    const named = { disputeId: 'dsp_1', orderCode: 'P1', status: 'paid', amount: 8.2 };
    expect(cardPaymentEventFromWire(named)).toBeNull();
    expect(cardPaymentEventFromWire({ ...named, disputeId: null })).toMatchObject({ orderCode: 'P1' });
    const dispute: Dispute = {
      disputeId: 'dsp_1',
      version: 1,
      status: 'open',
      amountCents: 820,
      reason: 'fraud',
      evidence: [],
      files: [],
      resource: { type: 'card_payment', id: 'P1' },
      evidenceDueAt: NOW,
      createdAt: NOW,
      closedAt: null,
    };
    for (const status of ['open', 'under_review', 'lost'] as const) {
      const body = disputeWebhook({ ...dispute, status }, null);
      expect(body).toMatchObject({ status, of: { id: 'P1' } });
      expect(cardPaymentEventFromWire(body)).toBeNull();
    }
  });

  test.each([
    [{ orderCode: 'P1', status: 'estornado', amount: 1 }, 'unknown'],
    [{ orderCode: 'P1', event: 'card_payment.chargeback' }, 'unknown'],
    [{ orderCode: 'P1' }, null],
  ])('An unknown status of the service is not invented', (body, status) => {
    expect(cardPaymentEventFromWire(body)?.status).toBe(status);
  });

  test.each([
    null,
    'paid',
    [],
    {},
    { orderCode: 7 },
    { orderCode: '../../money-out/wallet' },
    { data: { orderCode: '' } },
  ])('No card payment is read from %j', (body) => {
    expect(cardPaymentFromWire(body)).toBeNull();
    expect(cardPaymentEventFromWire(body)).toBeNull();
  });

  test('Any body of the service can be read without an error', () => {
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

test('A payment is polled less often the longer it waits, and not for ever', () => {
  const created = known({ expiresAt: plusMs(NOW, 30 * 60_000) });
  const minutes = (payment: CardPayment, passed: number) =>
    pollInterval(payment, plusMs(NOW, passed * 60_000));
  expect([0, 0.5, 1, 5, 10, 29].map((passed) => minutes(created, passed))).toEqual([
    3_000, 3_000, 6_000, 30_000, 60_000, 60_000,
  ]);
  const expired: CardPayment = { ...created, status: 'expired' };
  expect([30, 60, 130, 1_000].map((passed) => minutes(expired, passed))).toEqual([
    60_000, 180_000, 600_000, 600_000,
  ]);
  expect(minutes(expired, 30 + 24 * 60)).toBeNull();
  for (const status of ['paid', 'refunded', 'failed'] as const)
    expect(minutes({ ...created, status }, 1)).toBeNull();
  // No answer says that the payment is over: it may be paid late.
  expect([29, 30, 31].map((passed) => minutes(created, passed))).toEqual([60_000, 60_000, 60_000]);
  expect(minutes(created, 60)).toBe(180_000);
  expect(minutes({ ...created, status: 'unknown' }, 1)).toBe(60_000);
  expect(minutes(expired, 1)).toBe(60_000);
  // Without a creation time the expiry stands for it.
  expect(minutes({ ...created, createdAt: null }, 5)).toBe(30_000);
  expect(minutes({ ...created, createdAt: plusMs(NOW, 60_000) }, 5)).toBe(24_000);
});
