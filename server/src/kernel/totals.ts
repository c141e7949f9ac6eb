import { ValidationError } from './errors.ts';
import type { Cents } from './money.ts';

// The number and the amount of what a filter selects of a list.

/** The ways in which totals are divided. The hour is that of the instant by which the list is ordered. */
export type TotalsGrouping = 'hour' | 'method' | 'status';

export interface TotalsGroup<Status = string, Method = string> {
  /** The beginning of the hour; null where totals are not divided by hours. */
  hour: Date | null;
  /** Null where they are not divided by methods, or the list has none. */
  method: Method | null;
  /** Null where they are not divided by statuses. */
  status: Status | null;
  count: number;
  amountCents: Cents;
}

export interface Totals<Status = string, Method = string> {
  count: number;
  amountCents: Cents;
  /** Whether they are those of everything that the filter selects; false: it has at least so much. */
  isExact: boolean;
  /** In front of another service: the instant at which it last showed any of it; null where it showed nothing. */
  asOf?: Date | null;
  /** In the order of their hours, statuses and methods, without those that have nothing. */
  groups: readonly TotalsGroup<Status, Method>[];
}

/** The most rows that are added up one by one. */
export const MAX_ADDED_ROWS = 10_000;

const HOUR_MS = 3_600_000;
const MAX_HOURS = 31 * 24;

/** The totals of groups, and whether one of them was cut off. */
export function totalsOf<Status, Method>(
  groups: readonly TotalsGroup<Status, Method>[],
  isExact: boolean,
): Totals<Status, Method> {
  return {
    count: groups.reduce((sum, group) => sum + group.count, 0),
    amountCents: groups.reduce((sum, group) => sum + group.amountCents, 0),
    isExact,
    groups,
  };
}

/**
 * Asserts that totals by hours are those of a period of at most 31 days: of the last of `instants` that the filter restricts, by
 * which the list is ordered. @throws ValidationError naming the argument
 */
export function assertHours<Instant extends string>(
  groupBy: readonly TotalsGrouping[] | null | undefined,
  filter: Partial<Record<`${Instant}${'After' | 'Before'}`, Date | undefined>>,
  instants: readonly Instant[],
): void {
  if (!groupBy?.includes('hour')) return;
  const instant = instants.findLast((each) => filter[`${each}After`] ?? filter[`${each}Before`]);
  const [from, before] = instant ? [filter[`${instant}After`], filter[`${instant}Before`]] : [];
  if (!from || !before || before.getTime() - from.getTime() > MAX_HOURS * HOUR_MS)
    throw new ValidationError([
      { path: 'groupBy', message: 'HOUR needs a filter by dates, from one to another at most 31 days later' },
    ]);
}

/** Whether an instant is the beginning of an hour. */
export const isWholeHour = (instant: Date): boolean => instant.getTime() % HOUR_MS === 0;
