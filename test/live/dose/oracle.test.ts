import { expect, test } from 'vitest';
import { compare, isFlat, shareWithEvent } from './oracle.ts';

const log = [3, 4, 7, 9].map((version) => ({ version, id: `p${version}` }));
const received = (...versions: (number | null)[]) =>
  versions.map((version) => ({ version, id: `p${version}` }));
const FLAWLESS = { missed: 0, doubled: 0, misplaced: 0, foreign: 0 };

test.each([
  ['the log itself', received(3, 4, 7, 9), {}],
  ['nothing', [], { missed: 4 }],
  ['one event less', received(3, 4, 9), { missed: 1 }],
  ['the last event less', received(3, 4, 7), { missed: 1 }],
  ['one event twice', received(3, 4, 4, 7, 9), { doubled: 1 }],
  ['two events again after a cut', received(3, 4, 7, 4, 7, 9), { doubled: 2 }],
  ['two events in the wrong order', received(3, 7, 4, 9), { misplaced: 1 }],
  ['an event that it does not follow', received(3, 4, 5, 7, 9), { foreign: 1 }],
  ['a cursor of another tenant', received(3, 4, null, 7, 9), { foreign: 1 }],
  [
    'the resource of another event',
    [...received(3, 4), { version: 7, id: 'p8' }, ...received(9)],
    { foreign: 1, missed: 1 },
  ],
])('The oracle finds what is wrong with a follower that received %s', (_, updates, wrong) => {
  expect(compare(log, updates)).toEqual({ ...FLAWLESS, ...wrong });
});

test('Memory is flat where it grows by no more than caches and noise, in the heap and in the process', () => {
  const quarter = { heldMb: 300, rssMb: 600 };
  expect(isFlat(quarter, { heldMb: 341, rssMb: 700 }, 3)).toBe(true);
  expect(isFlat(quarter, { heldMb: 343, rssMb: 700 }, 3)).toBe(false);
  expect(isFlat(quarter, { heldMb: 300, rssMb: 880 }, 3)).toBe(false);
});

test('An outage counts as one with an event where an event lies between its cut and its end', () => {
  const eventsAt = [5, 20];
  const outages = [
    { cutAt: 4, upAt: 6, eventsAt },
    { cutAt: 6, upAt: 19, eventsAt },
    { cutAt: 20, upAt: null, eventsAt },
    { cutAt: 21, upAt: null, eventsAt },
  ];
  expect(shareWithEvent(outages)).toBe(0.5);
  expect(shareWithEvent([])).toBe(0);
});
