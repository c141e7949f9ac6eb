import { describe, expect, test } from 'vitest';
import { createOffsetClock, createShiftableClock, plusMs } from '../../server/src/kernel/clock.ts';
import { createManualClock } from '../support/clock.ts';

const START = new Date('2026-03-02T12:00:00.000Z');
const instant = (ms: number) => plusMs(START, ms);

function start() {
  const base = createManualClock(START);
  const clock = createShiftableClock(base);
  const done: string[] = [];
  const at = (name: string, ms: number) =>
    clock.schedule(instant(ms), () => done.push(`${name} ${clock.now().toISOString()}`));
  return { base, clock, done, at };
}

describe('a clock that can be put forward', () => {
  test('A clock that is shifted forward advances with its base clock, ahead of it by the shift', () => {
    const { base, clock } = start();

    clock.shiftTo(60_000);
    base.advance(1_000);

    expect(clock.now()).toEqual(instant(61_000));
    expect(clock.offsetMs()).toBe(60_000);
  });

  test('A shiftable clock never goes back', () => {
    const { clock } = start();
    clock.shiftTo(60_000);

    clock.shiftTo(10_000);

    expect(clock.now()).toEqual(instant(60_000));
  });

  test('A clock that is shifted forward runs the tasks that have become due, the earliest first, and keeps the others', async () => {
    const { base, clock, done, at } = start();
    at('late', 50_000);
    at('soon', 10_000);
    at('tomorrow', 86_400_000);

    clock.shiftTo(60_000);
    await new Promise(setImmediate);

    expect(done).toEqual([`soon ${instant(60_000).toISOString()}`, `late ${instant(60_000).toISOString()}`]);
    base.advance(86_400_000 - 60_000);
    expect(done.at(-1)).toBe(`tomorrow ${instant(86_400_000).toISOString()}`);
  });

  test('A shiftable clock runs no task that was cancelled before or after the shift', async () => {
    const { base, clock, done, at } = start();
    const before = at('before', 10_000);
    const later = at('later', 120_000);

    before();
    clock.shiftTo(60_000);
    later();
    base.advance(600_000);
    await new Promise(setImmediate);

    expect(done).toEqual([]);
  });

  test('A shiftable clock refuses a shift that is no whole number of milliseconds', () => {
    expect(() => start().clock.shiftTo(Number.NaN)).toThrow(RangeError);
  });
});

test('A clock that is put back does at its own time what it has not done yet', () => {
  const base = createManualClock(START);
  const clock = createOffsetClock(base);
  const done: Date[] = [];
  clock.schedule(instant(30_000), () => done.push(clock.now()));

  clock.setOffset(-60_000);
  base.advance(89_999);
  expect(done).toEqual([]);
  base.advance(1);

  expect(done).toEqual([instant(30_000)]);
  expect(clock.offsetMs()).toBe(-60_000);
});
