import { expect, test } from 'vitest';
import { createLRUCache } from '../../server/src/kernel/lru-cache.ts';

const keysOf = (recent: { get(key: string): unknown }, keys: string) =>
  [...keys].filter((key) => recent.get(key) !== undefined).join('');

/** The bytes of an entry whose key has one character. */
const EMPTY = 202;

test('The cache keeps the entries that were set or read last', () => {
  const recent = createLRUCache<number>(3 * EMPTY);
  for (const key of 'abcdef') {
    recent.set(key, 1);
    recent.get('a');
  }
  expect(keysOf(recent, 'abc')).toBe('a');
  expect(keysOf(recent, 'def')).toBe('ef');
  recent.clear();
  expect(keysOf(recent, 'abcdef')).toBe('');
});

test('false is kept as any value is', () => {
  const recent = createLRUCache<boolean>(EMPTY);
  recent.set('a', false);
  expect(recent.get('a')).toBe(false);
});

test('A larger entry leaves room for fewer others, and takes no more room when it is set again', () => {
  const recent = createLRUCache<number>(3 * (EMPTY + 400), (bytes) => bytes);
  for (let time = 0; time < 5; time += 1) recent.set('a', 400);
  for (const key of 'bcdefg') recent.set(key, 400);
  expect(keysOf(recent, 'abcd')).toBe('');
  expect(keysOf(recent, 'efg')).toBe('efg');
});

test('An entry that grows is counted with its present size', () => {
  const recent = createLRUCache<number>(2 * (EMPTY + 400), (bytes) => bytes);
  recent.set('a', 0);
  recent.set('a', 800);
  recent.set('b', 0);
  expect(keysOf(recent, 'ab')).toBe('ab');
  recent.set('c', 0);
  expect(keysOf(recent, 'abc')).toBe('bc');
});

test('A value that is larger than the whole cache is not kept, and the previous value of its key is removed', () => {
  const recent = createLRUCache<number>(1_000, (bytes) => bytes);
  recent.set('a', 1);
  recent.set('b', 1);
  recent.set('a', 10_000);
  expect(recent.get('a')).toBeUndefined();
  expect(recent.get('b')).toBe(1);
});

test('An entry without content takes some room, and a longer key takes more', () => {
  const few = createLRUCache<true>(100 * EMPTY);
  for (let index = 0; index < 10_000; index += 1) few.set(String(index), true);
  const kept = Array.from({ length: 10_000 }, (_, index) => few.get(String(index))).filter(Boolean);
  expect(kept.length).toBeLessThan(101);
  const long = createLRUCache<true>(100 * EMPTY);
  for (let index = 0; index < 100; index += 1) long.set(`${'x'.repeat(5_000)}${index}`, true);
  expect(long.get(`${'x'.repeat(5_000)}95`)).toBeUndefined();
});
