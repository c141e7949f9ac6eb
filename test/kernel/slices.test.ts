import { expect, test } from 'vitest';
import { inSlices } from '../../server/src/kernel/slices.ts';
import { sliceAfter } from '../support/slice-clock.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('A slice ends after its time, however few items it has served, and two calls share the turns', async () => {
  const tick = sliceAfter(4);
  const served: string[] = [];
  const serve = (name: string, items: number) =>
    inSlices(Array(items).fill(name), (item) => {
      served.push(item);
      tick();
    });
  const newly = () => served.splice(0).join('');

  expect(serve('a', 2)).toBeUndefined();
  expect(newly()).toBe('aa');
  const [first, second] = [serve('b', 9), serve('c', 6)];
  expect(newly()).toBe('bbbbcccc');
  await turn();
  expect(newly()).toBe('bbbb');
  await turn();
  expect(newly()).toBe('cc');
  await turn();
  expect(newly()).toBe('b');
  await Promise.all([first, second]);

  const dear = inSlices(['d', 'd'], (item) => {
    served.push(item);
    for (let count = 0; count < 30; count += 1) tick();
  });
  expect(newly()).toBe('d');
  await dear;
  expect(newly()).toBe('d');
});

test('Behind a slice everything else has twice its time, or a turn in which it has nothing to do', async () => {
  const tick = sliceAfter(4);
  let served = 0;
  const all = inSlices(Array(12).fill('item'), () => {
    served += 1;
    tick();
  });
  expect(served).toBe(4);
  for (let others = 2; others <= 8; others += 2) {
    tick();
    tick();
    await turn();
    expect(served).toBe(others < 8 ? 4 : 8);
  }
  await turn();
  expect(served).toBe(12);
  await all;
});
