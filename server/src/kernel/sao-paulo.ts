import { DAY_MS } from './clock.ts';

// Days as the banks of Brazil count them. The country has no daylight saving time today; it had, and may have
// it again.

/** A day of the calendar. */
export interface CivilDay {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
}

const HOUR_MS = 3_600_000;

/** The format is created by its first use: reading the time zones takes 40 ms, which no start should wait for. */
let local: Intl.DateTimeFormat | undefined;

function localFormat(): Intl.DateTimeFormat {
  local ??= new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/Sao_Paulo',
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return local;
}

let shown: Intl.DateTimeFormat | undefined;

/** Formats an instant by the clocks of São Paulo, as spreadsheets in Brazil read it: `30/11/2026 09:15:00`. */
export function wallText(instant: Date): string {
  shown ??= new Intl.DateTimeFormat('pt-BR', {
    timeZone: 'America/Sao_Paulo',
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return shown.format(instant).replace(', ', ' ');
}

/** Reads the clock on a wall in São Paulo, as if that were UTC. */
function wallMs(ms: number): number {
  const parts = Object.fromEntries(
    localFormat()
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>;
  const { year, month, day, hour, minute, second } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The day in São Paulo on which an instant lies. */
export function dayOf(instant: Date): CivilDay {
  return fromUtc(wallMs(instant.getTime()));
}

/**
 * The instant at which a full hour of a day begins in São Paulo. If the clocks skip that hour, it is the
 * first instant after it; if they repeat it, the first of the two.
 */
export function instantOf(day: CivilDay, hour = 0): Date {
  const wanted = utcOf(day) + hour * HOUR_MS;
  // São Paulo is never more than a day away from UTC, so both sides of a clock change are among these
  // offsets.
  const offsets = [wanted - DAY_MS, wanted + DAY_MS].map((ms) => wallMs(ms) - ms);
  const candidates = offsets.map((offset) => wanted - offset).sort((left, right) => left - right);
  // With the offset from before a skipped hour, the hour's beginning is the instant at which the clocks skip
  // it.
  return new Date(candidates.find((ms) => wallMs(ms) === wanted) ?? candidates.at(-1)!);
}

/** The day that lies a number of days after another, or before it. */
export function plusDays(day: CivilDay, days: number): CivilDay {
  return fromUtc(utcOf(day) + days * DAY_MS);
}

/** The day that lies a number of months after another; the last day of the month if it is shorter. */
export function plusMonths({ year, month, day }: CivilDay, months: number): CivilDay {
  const first = fromUtc(Date.UTC(year, month - 1 + months, 1));
  const last = new Date(Date.UTC(first.year, first.month, 0)).getUTCDate();
  return { ...first, day: Math.min(day, last) };
}

/** The number of days from `from` to `to`; below 0 if `to` is earlier. */
export function daysBetween(from: CivilDay, to: CivilDay): number {
  return (utcOf(to) - utcOf(from)) / DAY_MS;
}

function utcOf({ year, month, day }: CivilDay): number {
  return Date.UTC(year, month - 1, day);
}

function fromUtc(ms: number): CivilDay {
  const date = new Date(ms);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}
