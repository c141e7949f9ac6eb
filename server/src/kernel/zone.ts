import { plusMs } from './clock.ts';

const STEP_MS = 30 * 60_000;
const LARGEST_MS = 14 * 60 * 60_000;
/** The time in which a service makes something, and the difference of its clock. */
const DELAY_MS = 60_000;

/**
 * A date that the service gave for what it has just made, corrected where it is local time that is marked as UTC: it is whole steps of
 * half an hour, or of `stepMs`, away from when that was.
 */
export function withoutZone(date: Date, madeAt: Date, stepMs = STEP_MS): Date {
  const differenceMs = date.getTime() - madeAt.getTime();
  const zoneMs = Math.round(differenceMs / stepMs) * stepMs;
  const isZone =
    zoneMs !== 0 && Math.abs(zoneMs) <= LARGEST_MS && Math.abs(differenceMs - zoneMs) <= DELAY_MS;
  return isZone ? plusMs(date, -zoneMs) : date;
}
