import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isUnchanged } from '../../server/src/kernel/objects.ts';
import { generated } from '../support/scale.ts';

const inJson = (value: object): unknown => JSON.parse(JSON.stringify(value));

const leaf = fc.oneof(
  fc.constantFrom(null, undefined, true, 0, 1, '', 'a', '1970-01-01T00:00:00.000Z'),
  fc.constantFrom(0, 1).map((ms) => new Date(ms)),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3, withCrossShrink: true }, leaf, members(tie('value')), items(tie('value'))),
}));

function members(of: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> {
  return fc.dictionary(fc.constantFrom('a', 'b', 'c', 'toString'), of, { maxKeys: 3 });
}

function items(of: fc.Arbitrary<unknown>): fc.Arbitrary<unknown[]> {
  return fc.array(of, { maxLength: 3 });
}

test('Two objects are unchanged where their JSON is the same', () => {
  let equal = 0;
  fc.assert(
    fc.property(members(value), members(value), (left, right) => {
      const isEqual = isDeepStrictEqual(inJson(left), inJson(right));
      if (isEqual) equal += 1;
      expect(isUnchanged(left, right)).toBe(isEqual);
      // Members in another order, and the values from the database, are equal, too.
      expect(isUnchanged(left, Object.fromEntries(Object.entries(left).reverse()))).toBe(true);
      expect(isUnchanged(inJson(left) as object, left)).toBe(true);
    }),
    { numRuns: generated(2_000) },
  );
  expect(equal).toBeGreaterThan(0);
});

test.each([
  [{ a: undefined }, {}, true],
  [{ a: null }, {}, false],
  [{ a: null }, { a: undefined }, false],
  [{ a: [undefined] }, { a: [null] }, true],
  [{ a: [1, 2] }, { a: [1] }, false],
  [{ a: [] }, { a: {} }, false],
  [{ a: new Date(0) }, { a: '1970-01-01T00:00:00.000Z' }, true],
  [{ a: new Date(0) }, { a: new Date(1) }, false],
  [{ a: { b: 1 } }, { a: { b: 1, c: undefined } }, true],
  [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, false],
])('%j and %j: unchanged is %s', (left, right, isSame) => {
  expect([isUnchanged(left, right), isUnchanged(right, left)]).toEqual([isSame, isSame]);
});
