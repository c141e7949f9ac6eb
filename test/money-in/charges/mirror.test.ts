import { describe, expect, test } from 'vitest';
import { brCode } from '../../../server/src/kernel/br-code.ts';
import {
  mergeUpstreamCharge,
  type UpstreamCharge,
} from '../../../server/src/money-in/charges/upstream-charge.ts';
import { chargeEventFromWire, chargeFromWire } from '../../../server/src/money-in/charges/wire.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const DIGITS = '0123456789abcdef'.repeat(2);
const SINGLE = `psc_${DIGITS}`;
const SPLIT = `psplit_${DIGITS}`;
const CODE = brCode({
  url: 'pix.example.com/v2/1',
  amountCents: 4990,
  merchantName: 'Ana',
  merchantCity: 'Recife',
});
const split = { subaccountId: 'sacc_1', amountCents: 100, percent: '2.5', refundedCents: 0 };

const claim = (rest: Partial<UpstreamCharge> = {}): UpstreamCharge => ({
  chargeId: SPLIT,
  status: 'pending',
  amountCents: 4990,
  ...rest,
});

describe('what another service shows of a charge', () => {
  test.each([
    ['under its documented names', { chargeId: SPLIT, amountCents: 4990, pixCopyPaste: CODE }],
    ['as id, in an envelope', { data: { id: SPLIT, valueCents: 4990, pix: { brCode: CODE } } }],
  ])('A charge is read %s', (_, body) => {
    expect(chargeFromWire(body)).toMatchObject({ chargeId: SPLIT, amountCents: 4990, brCode: CODE });
  });

  test.each([
    { paymentId: `psa_${DIGITS}`, amountCents: 1 },
    { id: `psa_${DIGITS}` },
    { id: 7 },
    null,
    'psc_1',
    [],
  ])('%j is no charge', (body) => {
    expect(chargeFromWire(body)).toBeNull();
  });

  test('Splits are read as far as they can be, their percentage as a number or a text', () => {
    const splits = [
      { subaccountId: 'sacc_1', amountCents: 100, percent: 2.5 },
      { subaccountId: 'sacc_2', amountCents: 30, percent: '33.333', refundedCents: 10 },
      { subaccountId: 'sacc_3' },
      'half',
      null,
    ];
    expect(chargeFromWire({ id: SPLIT, amountCents: 4990, splits })?.splits).toEqual([
      split,
      { subaccountId: 'sacc_2', amountCents: 30, percent: null, refundedCents: 10 },
    ]);
    expect(chargeFromWire({ id: SINGLE, amountCents: 4990 })?.splits).toBeNull();
  });

  test.each(['disputeId', 'refundId', 'deliveryId', 'subscriptionId'])(
    'An event that names a %s is not about its charge',
    (name) => {
      expect(chargeEventFromWire({ event: 'charge.paid', chargeId: SINGLE, [name]: 'x' })).toBeNull();
    },
  );

  test('An event is known by its chargeId, or by its name', () => {
    const paid = { chargeId: SINGLE, status: 'paid', amountCents: 4990 };
    expect(chargeEventFromWire({ event: 'charge.paid', ...paid })).toMatchObject(paid);
    expect(
      chargeEventFromWire({ type: 'charge.test.paid', data: { id: SINGLE, amountCents: 4990 } }),
    ).toBeNull();
    expect(chargeEventFromWire({ id: SINGLE, event: 'charge.expired' })).toMatchObject({
      chargeId: SINGLE,
      status: 'expired',
    });
    expect(chargeEventFromWire({ id: SINGLE, event: 'other.paid' })).toBeNull();
  });
});

describe('what is known of a charge, held against what is shown', () => {
  test('The shares stay as they were first shown, and what refunds have taken of them is announced', () => {
    const known = mergeUpstreamCharge(
      null,
      claim({ splits: [split], feeCents: 10, brCode: CODE }),
      NOW,
    )!.resource;
    expect(known).toMatchObject({ chargeId: SPLIT, splits: [split], feeCents: 10, brCode: CODE, version: 1 });
    const paid = mergeUpstreamCharge(known, claim({ status: 'paid', splits: null, paidAt: NOW }), NOW)!;
    expect(paid).toMatchObject({
      resource: { splits: [split], status: 'paid' },
      changed: { from: 'pending' },
    });
    const other = { ...split, amountCents: 4000, refundedCents: 40 };
    const refunded = mergeUpstreamCharge(paid.resource, claim({ status: 'paid', splits: [other] }), NOW)!;
    expect(refunded).toMatchObject({
      resource: { splits: [{ ...split, refundedCents: 40 }], version: 3 },
      changed: { from: 'paid' },
    });
    expect(mergeUpstreamCharge(refunded.resource, claim({ status: 'pending' }), NOW)).toBeNull();
  });

  test('A charge is not recorded where its amount is not shown', () => {
    expect(mergeUpstreamCharge(null, claim({ amountCents: null }), NOW)).toBeNull();
  });
});
