import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Figures } from '../../widget/src/list/figures.ts';
import { type Deferred, deferred } from '../support/deferred.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Figures, and the readings that wait for an answer. */
function open() {
  const asked: Deferred<number>[] = [];
  const figures = new Figures<number>(
    () => {
      asked.push(deferred());
      return asked.at(-1)!.promise;
    },
    () => undefined,
  );
  return { figures, asked };
}

const refusal = (retryable: boolean) => Promise.reject({ retryable }) as never;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('Many changes are read one after the other, with a pause, and the last of them is not missed', async () => {
  const { figures, asked } = open();
  figures.follow('all');
  for (let update = 0; update < 50; update++) {
    figures.expire();
    await pass(10);
  }
  expect(asked.length).toBe(1);
  asked[0]!.resolve(1);
  await pass(4_400);
  expect([figures.value, asked.length]).toEqual([1, 1]);
  await pass(200);
  asked[1]!.resolve(2);
  await pass(60_000);
  expect([figures.value, asked.length]).toEqual([2, 2]);
  // After a quiet time a change is read at once.
  figures.expire();
  await pass(0);
  expect(asked.length).toBe(3);
});

test('Another filter is read at once, and the answer of the one before is not shown', async () => {
  const { figures, asked } = open();
  figures.follow('all');
  await pass(0);
  figures.follow('paid');
  await pass(0);
  asked[0]!.resolve(1);
  await pass(0);
  expect([figures.value, asked.length]).toEqual([undefined, 2]);
  asked[1]!.resolve(2);
  await pass(0);
  expect(figures.value).toBe(2);
});

test.each([
  ['is tried again with a pause', true, 2],
  ['that no retry resolves waits for a change', false, 1],
])('A first reading that fails %s', async (_, retryable, count) => {
  const { figures, asked } = open();
  figures.follow('all');
  await pass(0);
  asked[0]!.resolve(refusal(retryable));
  await pass(4_900);
  expect(asked.length).toBe(1);
  await pass(200);
  expect(asked.length).toBe(count);
  figures.expire();
  await pass(60_000);
  expect(asked.length).toBe(2);
});

test('Figures that could not be read again are old, and are read until that succeeds', async () => {
  const { figures, asked } = open();
  figures.follow('all');
  await pass(0);
  asked[0]!.resolve(1);
  await pass(5_000);
  figures.expire();
  await pass(0);
  asked[1]!.resolve(refusal(true));
  await pass(0);
  expect([figures.value, figures.isOld]).toEqual([1, true]);
  await pass(5_000);
  asked[2]!.resolve(refusal(true));
  await pass(5_000);
  expect([figures.value, figures.isOld, asked.length]).toEqual([1, true, 4]);
  asked[3]!.resolve(2);
  await pass(0);
  expect([figures.value, figures.isOld]).toEqual([2, false]);
});
