import { describe, expect, test } from 'vitest';
import { IdempotencyError } from '../../../server/src/kernel/errors.ts';
import { hashInput } from '../../../server/src/kernel/input-hash.ts';
import type { Collection, Reader, State } from '../../../server/src/state/commit/commit.ts';
import {
  type IdempotencyRecord,
  idempotency,
  idempotencyKeyOf,
  readReplay,
  remember,
  replayed,
} from '../../../server/src/state/commit/idempotency.ts';

const RECORD: IdempotencyRecord = {
  operation: 'requestPayout',
  key: 'salary-7',
  inputHash: hashInput({ amountCents: 500 }),
  resourceId: 'res_1',
};
const RECORD_KEY = idempotencyKeyOf('requestPayout', 'salary-7');

describe('an input', () => {
  test.each([
    [
      { a: 1, b: { c: [1, 2], d: null } },
      { b: { d: undefined, c: [1, 2] }, a: 1 },
    ],
    [{ a: null }, {}],
    [{ a: undefined, b: 'x' }, { b: 'x' }],
    [null, undefined],
    [
      { z: 1, a: 2, m: 3 },
      { m: 3, z: 1, a: 2 },
    ],
  ])('The input %j has the same hash as %j', (one, other) => {
    expect(hashInput(one)).toBe(hashInput(other));
  });

  test('An input has another hash wherever its content differs', () => {
    const all = [
      { a: 1 },
      { a: 2 },
      { a: '1' },
      { b: 1 },
      { a: 1, b: 1 },
      { a: [1] },
      { a: [1, 2] },
      { a: [2, 1] },
      { a: [12] },
      { a: [null] },
      { a: [] },
      { a: {} },
      { a: false },
      { a: 'null' },
      { 'a":1,"b': 1 },
      { a: '1,"b":1' },
      { a: { b: 1 } },
      ['a', 1],
      'a',
      1,
      null,
    ];
    expect(new Set(all.map(hashInput)).size).toBe(all.length);
    for (const each of all) expect(hashInput(each)).toMatch(/^[0-9a-f]{64}$/);
  });

  test('An input has the hash that the database already contains', () => {
    expect(hashInput({ method: 'pix', amountCents: 500, destination: 'ana@padaria.example' })).toBe(
      '39b3794a7268d46ed398dd1e16f2585ff65e92d0379997c6fcae2fa5dee866e7',
    );
  });
});

describe('a key', () => {
  const stateOf = (record: IdempotencyRecord | null): State =>
    ({
      get(collection: Collection<unknown>, key: string) {
        expect([collection.name, key]).toEqual(['idempotency', RECORD_KEY]);
        return record;
      },
    }) as unknown as State;

  test('An idempotency key belongs to one operation', () => {
    expect(idempotencyKeyOf('a', 'b')).not.toBe(idempotencyKeyOf('ab', ''));
    expect(idempotency.keyOf(RECORD)).toBe(RECORD_KEY);
    expect(remember(RECORD)).toEqual({ collection: idempotency, key: RECORD_KEY, row: RECORD });
  });

  test('A new idempotency key has no earlier result', () => {
    expect(replayed(stateOf(null), RECORD.operation, RECORD.key, RECORD.inputHash)).toBeNull();
  });

  test('An idempotency key leads to its earlier result with the same input alone', () => {
    const state = stateOf(RECORD);
    expect(replayed(state, RECORD.operation, RECORD.key, RECORD.inputHash)).toBe('res_1');
    expect(() => replayed(state, RECORD.operation, RECORD.key, hashInput({ amountCents: 501 }))).toThrow(
      IdempotencyError,
    );
  });

  test.each<[string | null | undefined, IdempotencyRecord | null, string[]]>([
    ['salary-7', RECORD, ['idempotency', 'res_1']],
    ['salary-7', null, ['idempotency']],
    [null, RECORD, []],
    [undefined, RECORD, []],
  ])(
    'The idempotency key %j is read with the resource that it created, %#',
    async (key, record, expected) => {
      const read: string[] = [];
      const reader = {
        async load(collection: Collection<unknown>, name: string) {
          expect(name).toBe(RECORD_KEY);
          read.push(collection.name);
          return record;
        },
      } as Reader;
      await readReplay(reader, RECORD.operation, key, async (made) => read.push(made));
      expect(read).toEqual(expected);
    },
  );
});
