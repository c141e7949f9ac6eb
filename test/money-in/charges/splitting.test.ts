import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ValidationError } from '../../../server/src/kernel/errors.ts';
import type { AskedSplit, StoredCharge } from '../../../server/src/money-in/charges/model.ts';
import { basisPointsOf, percentText } from '../../../server/src/money-in/charges/percent.ts';
import { divide, partsOfRefund, splitsOf } from '../../../server/src/money-in/charges/splitting.ts';
import { generated } from '../../support/scale.ts';

const net = fc.integer({ min: 1, max: 500_000 });
const asked = fc.array(
  fc.oneof(
    fc.record({ amountCents: fc.integer({ min: 1, max: 60_000 }) }),
    fc.record({ basisPoints: fc.integer({ min: 1, max: 10_000 }) }),
  ),
  { minLength: 1, maxLength: 9 },
);

function toAsked(each: { amountCents: number } | { basisPoints: number }, index: number): AskedSplit {
  const subaccountId = `sacc_${String(index).padStart(32, '0')}`;
  return 'basisPoints' in each
    ? { subaccountId, amountCents: null, percent: percentText(each.basisPoints) }
    : { subaccountId, amountCents: each.amountCents, percent: null };
}

describe('the shares of a split charge', () => {
  test('Shares and the owner’s rest sum to the net amount, each share within a cent of its exact part', () => {
    let splitCharges = 0;
    fc.assert(
      fc.property(net, asked, (netCents, parts) => {
        const splits = parts.map(toAsked);
        const exact = parts.map((each) =>
          'basisPoints' in each ? (netCents * each.basisPoints) / 10_000 : each.amountCents,
        );
        const floors = exact.map(Math.floor);
        const sum = floors.reduce((total, floor) => total + floor, 0);
        const isPossible = floors.every((floor) => floor >= 1) && sum <= netCents;
        try {
          const made = splitsOf(splits, netCents);
          expect(isPossible).toBe(true);
          splitCharges += 1;
          const rest = made.reduce((left, { amountCents }) => left - amountCents, netCents);
          expect(rest).toBeGreaterThanOrEqual(0);
          for (const [index, { amountCents }] of made.entries()) {
            expect(Number.isInteger(amountCents)).toBe(true);
            expect(exact[index]! - amountCents).toBeGreaterThanOrEqual(0);
            expect(exact[index]! - amountCents).toBeLessThan(1);
          }
        } catch (error) {
          expect((error as ValidationError).code).toBe('BAD_USER_INPUT');
          expect(isPossible).toBe(false);
        }
      }),
      { numRuns: generated(20_000) },
    );
    expect(splitCharges).toBeGreaterThan(100);
  });

  test.each([
    ['a percentage of less than a cent', [{ basisPoints: 1 }], 'input.splits.0.percent'],
    [
      'the second, a percentage of less than a cent',
      [{ amountCents: 1 }, { basisPoints: 1 }],
      'input.splits.1.percent',
    ],
    ['more than the net amount', [{ amountCents: 90 }, { basisPoints: 1_100 }], 'input.splits'],
  ])('Shares of %s are refused by their path', (_, parts, path) => {
    const refused = () => splitsOf((parts as { basisPoints: number }[]).map(toAsked), 100);
    expect(refused).toThrow(expect.objectContaining({ fields: [expect.objectContaining({ path })] }));
  });

  test('All of the net amount can be given to others', () => {
    const splits = splitsOf([{ amountCents: 33 }, { basisPoints: 6_700 }].map(toAsked as never), 100);
    expect(splits.map(({ amountCents }) => amountCents)).toEqual([33, 67]);
  });

  test.each([
    ['0.01', 1],
    ['33.33', 3_333],
    ['33.3', 3_330],
    ['100', 10_000],
    ['100.01', 10_001],
    ['0', 0],
    ['33.333', null],
    ['1e2', null],
    ['-1', null],
    ['1.', null],
    ['.5', null],
    ['', null],
    ['1000', null],
    [' 1', null],
  ])('The percentage "%s" is %s basis points', (text, basisPoints) => {
    expect(basisPointsOf(text)).toBe(basisPoints);
  });

  test('Basis points written as a percentage are read back as they were', () => {
    for (let basisPoints = 1; basisPoints <= 10_000; basisPoints += 1)
      expect(basisPointsOf(percentText(basisPoints))).toBe(basisPoints);
  });
});

describe('the parts of a refund', () => {
  const amount = fc.integer({ min: 0, max: Math.floor(Number.MAX_SAFE_INTEGER / 20) });

  test('Parts sum to the amount, and each lies from 0 to what its party has left', () => {
    fc.assert(
      fc.property(fc.array(amount, { minLength: 1, maxLength: 10 }), fc.nat(), (left, share) => {
        const total = left.reduce((sum, each) => sum + each, 0);
        fc.pre(total > 0);
        const amountCents = 1 + (share % total);
        const parts = divide(amountCents, left);
        expect(parts.reduce((sum, each) => sum + each, 0)).toBe(amountCents);
        for (const [index, part] of parts.entries()) {
          expect(part).toBeGreaterThanOrEqual(0);
          expect(part).toBeLessThanOrEqual(left[index]!);
          const exact = (left[index]! / total) * amountCents;
          expect(Math.abs(part - exact)).toBeLessThanOrEqual(1 + exact * 1e-9);
        }
        expect(divide(total, left)).toEqual(left);
      }),
      { numRuns: generated(20_000) },
    );
  });

  test('A refund beside one that is under way divides what is left, and takes what the balances have', () => {
    const [ana, bia] = splitsOf([{ amountCents: 400 }, { amountCents: 200 }].map(toAsked), 1_000);
    const charge = {
      amountCents: 1_000,
      refundedCents: 100,
      refundingCents: 400,
      splits: [
        { ...ana!, assignedCents: 200 },
        { ...bia!, assignedCents: 100 },
      ],
    } as unknown as StoredCharge;
    const balances: Record<string, number> = { [ana!.subaccountId]: 300, [bia!.subaccountId]: 7 };
    expect(partsOfRefund(charge, 250, (id) => balances[id]!)).toEqual([
      { subaccountId: ana!.subaccountId, assignedCents: 100, takenCents: 100 },
      { subaccountId: bia!.subaccountId, assignedCents: 50, takenCents: 7 },
    ]);
  });

  test('Refunds in any parts take of each party its share in the end, and no more before', () => {
    const history = fc.record({
      netCents: fc.integer({ min: 100, max: 500_000 }),
      feeCents: fc.integer({ min: 0, max: 99 }),
      shares: fc.array(fc.integer({ min: 1, max: 1_100 }), { minLength: 1, maxLength: 9 }),
      refunds: fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 12 }),
    });
    fc.assert(
      fc.property(history, ({ netCents, feeCents, shares, refunds }) => {
        const splits = splitsOf(
          shares.map((basisPoints, index) => toAsked({ basisPoints }, index)),
          Math.max(netCents, 10_000),
        );
        let charge = {
          amountCents: Math.max(netCents, 10_000) + feeCents,
          splits,
          refundedCents: 0,
          refundingCents: 0,
        } as unknown as StoredCharge;
        const left = () => charge.amountCents - charge.refundedCents;
        for (const asking of [...refunds, Number.MAX_SAFE_INTEGER]) {
          const amountCents = Math.min(asking, left());
          if (amountCents === 0) break;
          const parts = partsOfRefund(charge, amountCents, () => Number.MAX_SAFE_INTEGER);
          charge = {
            ...charge,
            refundedCents: charge.refundedCents + amountCents,
            splits: charge.splits.map((split, index) => ({
              ...split,
              assignedCents: split.assignedCents + parts[index]!.assignedCents,
            })),
          };
          const assigned = charge.splits.reduce((sum, { assignedCents }) => sum + assignedCents, 0);
          const owners =
            charge.amountCents - charge.splits.reduce((sum, split) => sum + split.amountCents, 0);
          expect(charge.refundedCents - assigned).toBeGreaterThanOrEqual(0);
          expect(charge.refundedCents - assigned).toBeLessThanOrEqual(owners);
          for (const { assignedCents, amountCents: share } of charge.splits)
            expect(assignedCents).toBeLessThanOrEqual(share);
        }
        expect(charge.splits.map(({ assignedCents }) => assignedCents)).toEqual(
          charge.splits.map(({ amountCents }) => amountCents),
        );
      }),
      { numRuns: generated(3_000) },
    );
  });
});
