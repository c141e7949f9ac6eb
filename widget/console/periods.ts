// The bars of the chart: days, weeks and months of Brasília, which has no summer time any more.
import type { SalesTotals } from './operations.ts';

export type Unit = 'day' | 'week' | 'month';

/** A bar: its first and its last day as 2026-03-31, and the sales in it. */
export interface Bar {
  from: string;
  to: string;
  count: number;
  amountCents: number;
}

/** The days and months that are read, and how many bars they make. */
const BARS: Readonly<Record<Unit, { interval: 'DAY' | 'MONTH'; count: number }>> = {
  day: { interval: 'DAY', count: 30 },
  week: { interval: 'DAY', count: 12 },
  month: { interval: 'MONTH', count: 12 },
};
const DAY_MS = 86_400_000;
const OFFSET_MS = 3 * 3_600_000;

/** The bars that end at `now`, without sales yet, and the variables by which these are read. */
export function periodUntil(unit: Unit, now: Date) {
  const { interval, count } = BARS[unit];
  const today = new Date(Math.floor((now.getTime() - OFFSET_MS) / DAY_MS) * DAY_MS);
  const starts = Array.from({ length: count + 1 }, (_, index) => startOf(unit, today, index + 1 - count));
  const bars: Bar[] = starts.slice(0, -1).map((start, index) => ({
    ...{ from: dayOf(start), to: dayOf(new Date(starts[index + 1]!.getTime() - DAY_MS)) },
    ...{ count: 0, amountCents: 0 },
  }));
  const instant = (start: Date) => `${dayOf(start)}T00:00:00-03:00`;
  const filter = { paidAfter: instant(starts[0]!), paidBefore: instant(starts[count]!) };
  return { bars, variables: { filter, interval } };
}

/** Adds the server's totals to the bars, which are days, or made of days. */
export function filled(bars: readonly Bar[], groups: SalesTotals['salesTotals']['groups']): Bar[] {
  const result = bars.map((bar) => ({ ...bar }));
  for (const { startsAt, count, amountCents } of groups) {
    if (startsAt === null) continue;
    const day = dayOf(new Date(Date.parse(startsAt) - OFFSET_MS));
    const bar = result.find(({ from, to }) => from <= day && day <= to);
    if (!bar) continue;
    bar.count += count;
    bar.amountCents += amountCents;
  }
  return result;
}

/** The first day of the unit that is `by` after that of a day. A week begins on Monday. */
function startOf(unit: Unit, day: Date, by: number): Date {
  const [year, month, date] = [day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate()];
  if (unit === 'month') return new Date(Date.UTC(year, month + by));
  if (unit === 'day') return new Date(Date.UTC(year, month, date + by));
  return new Date(Date.UTC(year, month, date - ((day.getUTCDay() + 6) % 7) + 7 * by));
}

const dayOf = (day: Date) => day.toISOString().slice(0, 10);
