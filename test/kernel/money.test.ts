import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  cents,
  centsAsReais,
  centsFromReais,
  ltcText,
  reais,
  reaisFromCents,
  reaisText,
} from '../../server/src/kernel/money.ts';
import { generated, scale } from '../support/scale.ts';

describe('an amount in reais', () => {
  const AMOUNTS = scale('AMOUNTS');
  test(`Each of the first ${AMOUNTS} amounts in cents is unchanged by the conversion to reais and back`, () => {
    let wrong = 0;
    for (let amountCents = 0; amountCents <= AMOUNTS; amountCents += 1)
      if (centsFromReais(reaisFromCents(amountCents)) !== amountCents) wrong += 1;
    expect(wrong).toBe(0);
  });

  test('Every amount in reais has at most two decimals in JSON', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 46 * 100 - 100 }), (amountCents) => {
        const text = JSON.stringify(z.encode(centsAsReais, amountCents));
        expect(text).toMatch(/^\d+(\.\d{1,2})?$/);
        expect(z.decode(centsAsReais, JSON.parse(text))).toBe(amountCents);
      }),
      { numRuns: generated(10_000) },
    );
  });

  test.each([
    [8.2, 820],
    [0, 0],
    [-0, 0],
    [0.01, 1],
    [1.1, 110],
    [4.35, 435],
    [1e3, 100_000],
    [70_368_744_177_663.99, 7_036_874_417_766_399],
  ])('An amount of %d reais is %d cents', (amount, expected) => {
    expect(centsFromReais(amount)).toBe(expected);
    expect(reais.safeParse(amount).success).toBe(true);
  });

  test.each([
    1.005,
    0.001,
    0.1 + 0.2,
    -0.01,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e14,
    1e21,
    1e300,
    Number.MAX_VALUE,
    5e-324,
  ])('The number %d is no amount in reais', (amount) => {
    expect(() => centsFromReais(amount)).toThrow(RangeError);
    expect(reais.safeParse(amount).success).toBe(false);
  });

  test.each([['8.20'], [null], [[]], [{}], [true]])('The value %j is no amount in reais', (value) => {
    expect(reais.safeParse(value).error?.issues).toMatchObject([{ message: 'must be a number of reais' }]);
  });

  test('A missing amount in reais is reported as required', () => {
    expect(reais.safeParse(undefined).error?.issues).toMatchObject([{ message: 'is required' }]);
  });
});

test.each([1.5, -1, Number.MAX_SAFE_INTEGER + 1, Number.NaN, '1', null])(
  '%j is no amount in cents',
  (value) => {
    expect(cents.safeParse(value).error?.issues).toMatchObject([
      { message: 'must be an integer number of cents' },
    ]);
  },
);

test.each([
  [0, 'R$ 0,00'],
  [5, 'R$ 0,05'],
  [123_456, 'R$ 1.234,56'],
  [10_000_000_000, 'R$ 100.000.000,00'],
  [-1, '-R$ 0,01'],
  // These amounts are equal as numbers of reais.
  [9_007_199_254_740_990, 'R$ 90.071.992.547.409,90'],
  [9_007_199_254_740_991, 'R$ 90.071.992.547.409,91'],
])('%d cents read %s, with a plain space', (amountCents, text) => {
  expect(reaisText(amountCents)).toBe(text);
});

test.each([
  [0, '0.00000000'],
  [1, '0.00000001'],
  [99_999_999, '0.99999999'],
  [100_000_000, '1.00000000'],
  [1_234_567_890, '12.34567890'],
])('An amount of %d litoshi is shown as %s LTC', (litoshi, text) => {
  expect(ltcText(litoshi)).toBe(text);
});
