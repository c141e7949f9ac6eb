import { ValidationError } from './errors.ts';

// The hours, days and months of a time zone.

export type CalendarInterval = 'hour' | 'day' | 'month';

/**
 * The instants that divide a period: its start, each hour, day or month that begins inside it by the clocks of the
 * time zone, and its end. Null if they would give more than `most` parts.
 * @throws ValidationError for an unknown zone
 */
export function calendarBounds(
  { from, before }: { from: Date; before: Date },
  interval: CalendarInterval,
  timeZone: string,
  most: number,
): Date[] | null {
  const wallMs = wallClockOf(timeZone);
  const bounds = [from];
  for (let at = from.getTime(); ; ) {
    at = nextStart(at, interval, wallMs);
    if (at >= before.getTime()) return [...bounds, before];
    if (bounds.length >= most) return null;
    bounds.push(new Date(at));
  }
}

/** @throws ValidationError for an unknown zone */
export function assertTimeZone(timeZone: string): void {
  formatOf(timeZone);
}

const HOUR_MS = 3_600_000;
const NAME_OF_ZONE = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** The time on a wall of the zone, as if that were UTC. @throws ValidationError for an unknown zone */
function wallClockOf(timeZone: string): (ms: number) => number {
  const format = formatOf(timeZone);
  return (ms) => {
    const { year, month, day, hour, minute, second } = Object.fromEntries(
      format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
    ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((ms % 1000) + 1000) % 1000);
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const number = 'numeric' as const;
  const parts = { year: number, month: number, day: number, hour: number, minute: number, second: number };
  const options = {
    ...parts,
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
  } as const;
  try {
    if (NAME_OF_ZONE.test(timeZone)) return new Intl.DateTimeFormat('en-US', options);
  } catch {
    // The zone has the form of a name, but no zone has this one.
  }
  throw new ValidationError([
    { path: 'timeZone', message: 'must be the name of a time zone, as America/Sao_Paulo' },
  ]);
}

/** The first instant after `ms` at which an hour, a day or a month begins. */
function nextStart(ms: number, interval: CalendarInterval, wallMs: (ms: number) => number): number {
  const wall = wallMs(ms);
  if (interval === 'hour') return ms + HOUR_MS - (((wall % HOUR_MS) + HOUR_MS) % HOUR_MS);
  const date = new Date(wall);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const next = interval === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
  // The offset of the zone may be another one by then.
  const near = ms + next - wall;
  return Math.max(ms + 1, near + next - wallMs(near));
}
