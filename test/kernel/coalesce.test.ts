import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createCoalescedReads } from '../../server/src/kernel/coalesce.ts';
import { type Deferred, deferred } from '../support/deferred.ts';

/** Reads that the test ends, in the order in which they began. */
function createReads() {
  const begun: (Deferred<string> & { key: string })[] = [];
  const share = createCoalescedReads<string>();
  const ask = (key: string) =>
    share(key, () => {
      const reading = deferred<string>();
      begun.push({ ...reading, key });
      return reading.promise;
    });
  return { begun, ask };
}

test('Callers that ask during a read share one read that begins after it', async () => {
  const { begun, ask } = createReads();
  const first = ask('a');
  const second = ask('a');
  const third = ask('a');
  expect(begun).toHaveLength(1);

  begun[0]!.resolve('before');
  expect(await first).toBe('before');
  await turn();
  const fourth = ask('a');
  expect(begun).toHaveLength(2);
  begun[1]!.resolve('after');
  expect(await Promise.all([second, third])).toEqual(['after', 'after']);

  begun[2]!.resolve('later');
  expect(await fourth).toBe('later');
});

test('a read that nobody else waits for leaves nothing behind', async () => {
  const { begun, ask } = createReads();
  const first = ask('a');
  begun[0]!.resolve('one');
  await first;
  await turn();

  const second = ask('a');
  expect(begun).toHaveLength(2);
  begun[1]!.resolve('two');
  expect(await second).toBe('two');
});

test('A read that fails fails only for the callers that wait for it', async () => {
  const { begun, ask } = createReads();
  const first = ask('a');
  const second = ask('a');
  const other = ask('b');
  expect(begun.map(({ key }) => key)).toEqual(['a', 'b']);
  begun[0]!.resolve(Promise.reject(new Error('lost')) as never);
  await expect(first).rejects.toThrow('lost');
  await turn();

  begun[2]!.resolve('well');
  expect(await second).toBe('well');
  begun[1]!.resolve('b');
  expect(await other).toBe('b');
});
