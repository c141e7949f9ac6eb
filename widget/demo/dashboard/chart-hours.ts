// The day of the chart: that of Brasília, as all times of the dashboard are, wherever the browser is.

/** Money that came in or went out at one instant. */
export interface MoneyMovement {
  at: Date;
  /** Positive for money in, negative for money out. */
  cents: number;
}

export interface HourTotals {
  hour: number;
  inCents: number;
  outCents: number;
}

let wallClock: Intl.DateTimeFormat | undefined;

/** Reads the wall clock of Brasília: the date as text, and the milliseconds since midnight. */
function readWallClock(instant: Date): { date: string; elapsedMs: number } {
  wallClock ??= new Intl.DateTimeFormat('en-CA', {
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
    timeZone: 'America/Sao_Paulo',
  });
  const parts = new Map(wallClock.formatToParts(instant).map(({ type, value }) => [type, value]));
  const read = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  return {
    date: `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`,
    elapsedMs:
      ((read('hour') * 60 + read('minute')) * 60 + read('second')) * 1_000 + instant.getUTCMilliseconds(),
  };
}

/** Returns the instant at which the day of `now` began, in milliseconds. */
export const startOfDay = (now: Date) => now.getTime() - readWallClock(now).elapsedMs;

/** Returns the hours of the day that have passed, with their fraction. */
export const hoursOfDay = (now: Date) => readWallClock(now).elapsedMs / 3_600_000;

/** Sums the movements of the day of `now`, by hour. */
export function totalsByHour(movements: readonly MoneyMovement[], now: Date): HourTotals[] {
  const hours: HourTotals[] = Array.from({ length: 24 }, (_, hour) => ({ hour, inCents: 0, outCents: 0 }));
  const today = readWallClock(now).date;
  for (const { at, cents } of movements) {
    const { date, elapsedMs } = readWallClock(at);
    if (date !== today) continue;
    const hour = hours[Math.floor(elapsedMs / 3_600_000)]!;
    if (cents > 0) hour.inCents += cents;
    else hour.outCents -= cents;
  }
  return hours;
}
