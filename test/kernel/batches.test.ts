import { expect, test } from 'vitest';
import { createBatches } from '../../server/src/kernel/batches.ts';
import { createManualClock } from '../support/clock.ts';
import { deferred } from '../support/deferred.ts';

/** Batches of numbers, which a test ends one by one. */
function start({ most = 9, whole = Number.POSITIVE_INFINITY } = {}) {
  const clock = createManualClock();
  const waiting: number[] = [];
  const begun: { batch: readonly number[]; end: () => void }[] = [];
  const batches = createBatches<number>({
    clock,
    most,
    isWhole: () => waiting.length >= whole,
    take: () => waiting.splice(0),
    run(batch) {
      const { promise, resolve } = deferred();
      begun.push({ batch, end: () => resolve() });
      return promise;
    },
  });
  return {
    clock,
    batches,
    add(number: number) {
      waiting.push(number);
      batches.begin();
    },
    begun: () => begun.map(({ batch }) => batch),
    async end(nth: number) {
      begun[nth]!.end();
      await new Promise(setImmediate);
    },
  };
}

test('What comes while a batch is under way is part of the next one', async () => {
  const { add, begun, end, batches } = start();
  for (const number of [1, 2, 3]) add(number);
  expect(begun()).toEqual([[1]]);
  await end(0);
  expect(begun()).toEqual([[1], [2, 3]]);
  expect(batches.isIdle).toBe(false);
  await end(1);
  await batches.idle();
  expect(batches.isIdle).toBe(true);
  add(4);
  expect(begun()).toEqual([[1], [2, 3], [4]]);
});

test('A batch that is late is passed by a further one, also if nothing more comes, and that by another', async () => {
  const { add, begun, clock, end, batches } = start({ most: 3 });
  add(1);
  clock.advance(100);
  add(2);
  clock.advance(149);
  expect(begun()).toEqual([[1]]);
  clock.advance(1);
  expect(begun()).toEqual([[1], [2]]);
  clock.advance(249);
  add(3);
  expect(begun()).toHaveLength(2);
  clock.advance(1);
  expect(begun()).toEqual([[1], [2], [3]]);
  clock.advance(1_000);
  // Three are the most.
  add(4);
  clock.advance(1_000);
  expect(begun()).toHaveLength(3);
  await end(1);
  expect(begun()).toEqual([[1], [2], [3], [4]]);
  for (const nth of [0, 2, 3]) await end(nth);
  await batches.idle();
  expect(clock.nextAt()).toBeNull();
});

test('A further batch begins at once if a whole one waits', () => {
  const { add, begun } = start({ whole: 2 });
  for (const number of [1, 2, 3]) add(number);
  expect(begun()).toEqual([[1], [2, 3]]);
});
