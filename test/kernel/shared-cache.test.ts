import { expect, test } from 'vitest';
import { createSharedCache } from '../../server/src/kernel/shared-cache.ts';

// An entry with a key of two characters counts 1,204 bytes.
const create = () => createSharedCache<string>(12_040, () => 1_000);
const fill = (cache: ReturnType<typeof create>, owner: string, count: number) => {
  for (let index = 0; index < count; index += 1) cache.add(owner, `${owner}${index}`, 'text');
};
const found = (cache: ReturnType<typeof create>, owner: string) =>
  Array.from({ length: 10 }, (_, index) => `${owner}${index}`).filter((key) => cache.get(key) !== undefined);

test('One owner has all of a shared cache, and drops its oldest entries', () => {
  const cache = create();
  fill(cache, 'a', 10);
  expect(found(cache, 'a')).toHaveLength(10);
  // The entry was read last, so it stays.
  cache.get('a0');
  cache.add('a', 'ax', 'text');
  expect(found(cache, 'a')).toEqual(['a0', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8', 'a9']);
});

test('An owner of a full cache drops entries of its own while no other has more', () => {
  const cache = create();
  fill(cache, 'a', 2);
  fill(cache, 'b', 3);
  for (let round = 0; round < 100; round += 1) cache.add('c', `c${round % 97}`, 'text');
  expect(found(cache, 'a')).toEqual(['a0', 'a1']);
  expect(found(cache, 'b')).toEqual(['b0', 'b1', 'b2']);
});

test('An owner that comes later gets its share of those that have more', () => {
  const cache = create();
  fill(cache, 'a', 10);
  fill(cache, 'b', 5);
  expect(found(cache, 'a')).toHaveLength(5);
  expect(found(cache, 'b')).toHaveLength(5);
  fill(cache, 'c', 1);
  expect([found(cache, 'a').length, found(cache, 'b').length, found(cache, 'c').length].sort()).toEqual([
    1, 4, 5,
  ]);
});

test('An entry is found by all, belongs to its first owner, and is not stored where it is too large', () => {
  const cache = createSharedCache<string>(12_040, (text) => text.length);
  cache.add('a', 'k', 'first');
  cache.add('b', 'k', 'second');
  expect(cache.get('k')).toBe('first');
  cache.add('a', 'large', 'x'.repeat(13_000));
  expect(cache.get('large')).toBeUndefined();
  cache.add('a', 'larger', 'x'.repeat(30_000));
  expect(cache.get('larger')).toBeUndefined();
});
