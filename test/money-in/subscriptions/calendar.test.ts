import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dayOf, daysBetween, instantOf, plusDays } from '../../../server/src/kernel/sao-paulo.ts';
import {
  attemptDayOf,
  dueDayOf,
  INTERVALS,
  type Interval,
  MAX_ATTEMPTS,
} from '../../../server/src/money-in/subscriptions/calendar.ts';
import { generated } from '../../support/scale.ts';

const day = (text: string) => dayOf(new Date(`${text}T12:00:00.000Z`));
const text = ({ year, month, day: date }: ReturnType<typeof day>) =>
  [year, month, date].map((part) => String(part).padStart(2, '0')).join('-');
const dueDays = (first: string, interval: Interval, count: number) =>
  Array.from({ length: count }, (_, index) => text(dueDayOf(day(first), interval, index + 1)));

const firstDays = fc
  .date({
    min: new Date('2000-01-01T12:00:00.000Z'),
    max: new Date('2060-01-01T12:00:00.000Z'),
    noInvalidDate: true,
  })
  .map(dayOf);
const intervals = fc.constantFrom(...INTERVALS);

describe('the due days of a subscription', () => {
  test('day 31 is the last day of a shorter month, and comes back', () => {
    expect(dueDays('2026-01-31', 'monthly', 5)).toEqual([
      ...['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'],
    ]);
    expect(dueDays('2024-02-29', 'yearly', 5)).toEqual([
      ...['2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29'],
    ]);
    expect(dueDays('2026-08-31', 'quarterly', 4)).toEqual([
      ...['2026-08-31', '2026-11-30', '2027-02-28', '2027-05-31'],
    ]);
    expect(dueDays('2026-08-31', 'semiannual', 3)).toEqual(['2026-08-31', '2027-02-28', '2027-08-31']);
    expect(dueDays('2026-12-28', 'weekly', 3)).toEqual(['2026-12-28', '2027-01-04', '2027-01-11']);
  });

  test('never drift: each is its own number of intervals from the first, however many cycles there are', () => {
    fc.assert(
      fc.property(firstDays, intervals, fc.integer({ min: 1, max: 520 }), (first, interval, number) => {
        const due = dueDayOf(first, interval, number);
        const next = dueDayOf(first, interval, number + 1);
        const wait = daysBetween(due, next);
        const [least, most] = {
          weekly: [7, 7],
          monthly: [28, 31],
          quarterly: [89, 92],
          semiannual: [181, 184],
          yearly: [365, 366],
        }[interval] as [number, number];
        expect(wait).toBeGreaterThanOrEqual(least);
        expect(wait).toBeLessThanOrEqual(most);
        // The day begins with its first instant, also in the past years with daylight saving time.
        expect(dayOf(instantOf(due))).toEqual(due);
        expect(dayOf(new Date(instantOf(due).getTime() - 1))).toEqual(plusDays(due, -1));
        if (interval === 'weekly') expect(daysBetween(first, due)).toBe(7 * (number - 1));
        else {
          const lastOfMonth = dayOf(new Date(Date.UTC(due.year, due.month, 0, 12))).day;
          expect(due.day).toBe(Math.min(first.day, lastOfMonth));
        }
      }),
      { numRuns: generated(2_000) },
    );
  });
});

describe('the attempts of a cycle', () => {
  const attempts = (interval: Interval, first = '2026-01-31') => {
    const days = { dueDay: dueDayOf(day(first), interval, 2), nextDueDay: dueDayOf(day(first), interval, 3) };
    return Array.from({ length: MAX_ATTEMPTS + 1 }, (_, made) => {
      const found = attemptDayOf(days, { made, earliest: days.dueDay });
      return found && daysBetween(days.dueDay, found);
    });
  };

  test('are on the due day, one, three and seven days after, and in a week only before the next due day', () => {
    expect(attempts('monthly')).toEqual([0, 1, 3, 7, null]);
    expect(attempts('yearly')).toEqual([0, 1, 3, 7, null]);
    expect(attempts('weekly')).toEqual([0, 1, 3, null, null]);
  });

  test('A first one that is late is on the day that is left, and on none behind the seventh', () => {
    const days = { dueDay: day('2026-01-31'), nextDueDay: day('2027-01-31') };
    const first = (late: number) => {
      const found = attemptDayOf(days, { made: 0, earliest: plusDays(days.dueDay, late) });
      return found && daysBetween(days.dueDay, found);
    };
    expect([-3, 0, 1, 2, 6, 7, 8, 200].map(first)).toEqual([0, 0, 1, 2, 6, 7, null, null]);
  });

  test('are at most four, on different days, none before its due day, all before the next and within seven days', () => {
    fc.assert(
      fc.property(
        firstDays,
        intervals,
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: -3, max: 40 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 8 }),
        (first, interval, number, late, waits) => {
          const days = {
            dueDay: dueDayOf(first, interval, number),
            nextDueDay: dueDayOf(first, interval, number + 1),
          };
          const made: (typeof days.dueDay)[] = [];
          let earliest = plusDays(days.dueDay, late);
          for (const wait of waits) {
            const found = attemptDayOf(days, { made: made.length, earliest });
            if (!found) break;
            expect(daysBetween(earliest, found)).toBeGreaterThanOrEqual(0);
            expect(daysBetween(days.dueDay, found)).toBeGreaterThanOrEqual(0);
            expect(daysBetween(days.dueDay, found)).toBeLessThanOrEqual(7);
            expect(daysBetween(found, days.nextDueDay)).toBeGreaterThan(0);
            if (made.length > 0) expect(daysBetween(made.at(-1)!, found)).toBeGreaterThan(0);
            made.push(found);
            earliest = plusDays(found, 1 + wait);
          }
          expect(made.length).toBeLessThanOrEqual(MAX_ATTEMPTS);
        },
      ),
      { numRuns: generated(2_000) },
    );
  });
});
