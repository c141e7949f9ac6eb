import { expect, test } from 'vitest';
import { createRecent } from '../../server/src/kernel/recent.ts';

const keysOf = (recent: { get(key: string): unknown }, keys: string) =>
  [...keys].filter((key) => recent.get(key) !== undefined).join('');

test('the last that were set are kept, and what is asked for stays', () => {
  const recent = createRecent<number>(3);
  for (const key of 'abcdef') {
    recent.set(key, 1);
    recent.get('a');
  }
  expect(keysOf(recent, 'abc')).toBe('a');
  expect(keysOf(recent, 'def')).toBe('def');
  recent.clear();
  expect(keysOf(recent, 'abcdef')).toBe('');
});

test('what weighs more leaves room for fewer; set again, it weighs no more', () => {
  const recent = createRecent<number>(10, (weight) => weight);
  for (let time = 0; time < 5; time += 1) recent.set('a', 4);
  for (const key of 'bcdefg') recent.set(key, 4);
  expect(keysOf(recent, 'abc')).toBe('');
  expect(keysOf(recent, 'defg')).toBe('defg');
  recent.set('z', 1_000);
  recent.set('y', 1);
  expect(keysOf(recent, 'yz')).toBe('yz');
});
