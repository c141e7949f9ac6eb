import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CivilDay,
  dayOf,
  daysBetween,
  instantOf,
  plusDays,
  plusMonths,
} from '../../server/src/kernel/sao-paulo.ts';
import { generated } from '../support/scale.ts';

const day = (text: string): CivilDay => {
  const [year, month, dayOfMonth] = text.split('-').map(Number);
  return { year: year!, month: month!, day: dayOfMonth! };
};
/** Instants from before the first daylight saving time of the last decades until long after the last one. */
const instants = fc.date({
  min: new Date('1985-01-01T00:00:00.000Z'),
  max: new Date('2100-01-01T00:00:00.000Z'),
  noInvalidDate: true,
});

describe('the days of São Paulo', () => {
  test('a day begins at 03:00 UTC, and what is before it belongs to the day before', () => {
    expect(dayOf(new Date('2026-03-02T03:00:00.000Z'))).toEqual(day('2026-03-02'));
    expect(dayOf(new Date('2026-03-02T02:59:59.999Z'))).toEqual(day('2026-03-01'));
    expect(instantOf(day('2026-03-02'))).toEqual(new Date('2026-03-02T03:00:00.000Z'));
    expect(instantOf(day('2026-03-02'), 22)).toEqual(new Date('2026-03-03T01:00:00.000Z'));
  });

  test('a day in a summer time of the past begins at 02:00 UTC', () => {
    expect(instantOf(day('2019-01-15'))).toEqual(new Date('2019-01-15T02:00:00.000Z'));
    expect(dayOf(new Date('2019-01-15T02:00:00.000Z'))).toEqual(day('2019-01-15'));
  });

  test('the day that had no midnight begins with its first instant', () => {
    // On 4 November 2018 the clocks went from 00:00 to 01:00.
    expect(instantOf(day('2018-11-04'))).toEqual(new Date('2018-11-04T03:00:00.000Z'));
    expect(dayOf(instantOf(day('2018-11-04')))).toEqual(day('2018-11-04'));
    expect(dayOf(new Date('2018-11-04T02:59:59.999Z'))).toEqual(day('2018-11-03'));
  });

  test('the hour that came twice is the first of both', () => {
    // On 17 February 2019 the clocks went back from 00:00 to 23:00 of the day before.
    expect(instantOf(day('2019-02-16'), 23)).toEqual(new Date('2019-02-17T01:00:00.000Z'));
    expect(instantOf(day('2019-02-17'))).toEqual(new Date('2019-02-17T03:00:00.000Z'));
  });

  test('the day of an instant begins at it or before, and ends after it', () => {
    fc.assert(
      fc.property(instants, (instant) => {
        const own = dayOf(instant);
        expect(instantOf(own).getTime()).toBeLessThanOrEqual(instant.getTime());
        expect(instantOf(plusDays(own, 1)).getTime()).toBeGreaterThan(instant.getTime());
        expect(dayOf(instantOf(own))).toEqual(own);
      }),
      { numRuns: generated(2_000) },
    );
  });

  test('days and months are added on the calendar', () => {
    expect(plusDays(day('2026-02-28'), 1)).toEqual(day('2026-03-01'));
    expect(plusDays(day('2026-03-01'), -1)).toEqual(day('2026-02-28'));
    expect(plusMonths(day('2026-01-31'), 1)).toEqual(day('2026-02-28'));
    expect(plusMonths(day('2024-01-31'), 1)).toEqual(day('2024-02-29'));
    expect(plusMonths(day('2026-01-31'), 2)).toEqual(day('2026-03-31'));
    expect(plusMonths(day('2024-02-29'), 12)).toEqual(day('2025-02-28'));
    expect(plusMonths(day('2026-11-30'), 3)).toEqual(day('2027-02-28'));
    expect(daysBetween(day('2026-02-27'), day('2026-03-02'))).toBe(3);
  });

  test('the days between two days lead from one to the other', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: -4_000, max: 4_000 }), (instant, days) => {
        const from = dayOf(instant);
        expect(daysBetween(from, plusDays(from, days))).toBe(days);
      }),
      { numRuns: generated(1_000) },
    );
  });
});
