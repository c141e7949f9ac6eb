import { ValidationError } from './errors.ts';
import type { Cents } from './money.ts';

// Totals: the number and the amount of the resources that a filter selects.

/** The ways in which totals are grouped. The hour is that of the instant by which the list is ordered. */
export type TotalsGrouping = 'hour' | 'method' | 'status';

export interface TotalsGroup<Status = string, Method = string> {
  /** The beginning of the hour; null if totals are not grouped by hour. */
  hour: Date | null;
  /** The beginning of the day or the month; omitted unless totals are divided by these. */
  startsAt?: Date | null;
  /** Null if totals are not grouped by method, or the list has no methods. */
  method: Method | null;
  /** Null if totals are not grouped by status. */
  status: Status | null;
  count: number;
  amountCents: Cents;
}

export interface Totals<Status = string, Method = string> {
  count: number;
  amountCents: Cents;
  /**
   * Whether the totals cover everything that the filter selects. If false, the true figures are at least
   * these.
   */
  isExact: boolean;
  /**
   * In front of another service: the last instant at which it showed a selected resource; null if it showed
   * none.
   */
  asOf?: Date | null;
  /** The groups that are not empty, in the order of their hours, statuses and methods. */
  groups: readonly TotalsGroup<Status, Method>[];
}

/** The most rows that are added up one by one. */
export const MAX_ADDED_ROWS = 10_000;

const HOUR_MS = 3_600_000;
const MAX_HOURS = 31 * 24;

/** Adds up the totals of groups. `isExact`: no group was cut off. */
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
 * Asserts that totals by hour cover a period of at most 31 days. The period is that of the last of `instants`
 * that the filter restricts, which also orders the list.
 * @throws ValidationError naming the argument
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
