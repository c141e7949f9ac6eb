import { describe, expect, it } from 'vitest';
import { filled, periodUntil } from '../../widget/console/periods.ts';
import { placeOf } from '../../widget/console/place.ts';

describe('an address of the console', () => {
  it.each([
    ['/console/', '', null],
    ['/console/sales', 'sales', null],
    ['/console/sales/', 'sales', null],
    ['/console/sales/PSC-1', 'sales', 'PSC-1'],
    ['/base/console/payouts/SAQ-1', 'payouts', 'SAQ-1'],
    ['/console/console/sales', 'sales', null],
    ['/console/disputes/%3Cb%3E%2F', 'disputes', '<b>/'],
    ['/console/disputes/%', 'disputes', '%'],
    ['/elsewhere/sales', '', null],
  ])('%s names its page and its resource', (pathname, name, id) => {
    expect(placeOf(pathname)).toEqual({ name, id });
  });
});

describe('the bars of the chart', () => {
  // A Tuesday, on which Brasília is a day behind.
  const now = new Date('2026-03-03T01:30:00Z');
  const ends = ({ bars }: ReturnType<typeof periodUntil>) => [
    bars[0]!.from,
    bars.at(-1)!.from,
    bars.at(-1)!.to,
  ];

  it.each([
    ['day', 30, ['2026-02-01', '2026-03-02', '2026-03-02'], '2026-02-01', '2026-03-03'],
    ['week', 12, ['2025-12-15', '2026-03-02', '2026-03-08'], '2025-12-15', '2026-03-09'],
    ['month', 12, ['2025-04-01', '2026-03-01', '2026-03-31'], '2025-04-01', '2026-04-01'],
  ] as const)('each %s up to now has one, by the calendar of Brasília', (unit, count, days, from, before) => {
    const period = periodUntil(unit, now);
    expect(period.bars).toHaveLength(count);
    expect(ends(period)).toEqual(days);
    expect(period.variables.filter).toEqual({
      paidAfter: `${from}T00:00:00-03:00`,
      paidBefore: `${before}T00:00:00-03:00`,
    });
  });

  it('the days of a week are added, and those outside left out', () => {
    const { bars } = periodUntil('week', now);
    const group = (startsAt: string | null, count: number) => ({ startsAt, count, amountCents: 100 * count });
    const sold = filled(bars, [
      group('2026-02-23T03:00:00Z', 1),
      group('2026-03-01T03:00:00Z', 2),
      group('2026-03-02T03:00:00Z', 4),
      group('2025-01-01T03:00:00Z', 8),
      group(null, 16),
    ]);
    expect(sold.slice(-2).map(({ count, amountCents }) => [count, amountCents])).toEqual([
      [3, 300],
      [4, 400],
    ]);
    expect(sold.reduce((sum, { count }) => sum + count, 0)).toBe(7);
  });
});
