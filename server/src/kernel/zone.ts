import { plusMs } from './clock.ts';

const STEP_MS = 30 * 60_000;
const LARGEST_MS = 14 * 60 * 60_000;
/**
 * The most time between a request and the date of what the service made, plus the difference of the two
 * clocks.
 */
const DELAY_MS = 60_000;

/**
 * Corrects a date that the service gave for something it has just made, if the date is local time marked as
 * UTC: it differs from `madeAt` by whole steps of half an hour, or of `stepMs`.
 */
export function withoutZone(date: Date, madeAt: Date, stepMs = STEP_MS): Date {
  const differenceMs = date.getTime() - madeAt.getTime();
  const zoneMs = Math.round(differenceMs / stepMs) * stepMs;
  const isZone =
    zoneMs !== 0 && Math.abs(zoneMs) <= LARGEST_MS && Math.abs(differenceMs - zoneMs) <= DELAY_MS;
  return isZone ? plusMs(date, -zoneMs) : date;
}
