import { z } from 'zod';

/** In JSON an instant as the document's 2.1.3 has it (`2026-03-02T12:00:00.000Z`), inside a Date. */
export const instant = z.codec(
  z.string().meta({ format: 'date-time', description: 'ISO 8601 in UTC, with milliseconds' }),
  z.date(),
  { decode: (text) => new Date(text), encode: (date) => date.toISOString() },
);

const DAY_MS = 86_400_000;
const DAYS_KEPT = 1_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const THREE_DIGITS = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));
const days = new Map<number, string>();

/** As `toISOString`, which takes four times as long: a list has two instants in each row, of a few days. */
export function isoText(instant: Date): string {
  const ms = instant.getTime();
  const day = Math.floor(ms / DAY_MS);
  let date = days.get(day);
  if (date === undefined) {
    date = instant.toISOString().slice(0, -'00:00:00.000Z'.length);
    if (days.size >= DAYS_KEPT) days.clear();
    days.set(day, date);
  }
  const inDay = ms - day * DAY_MS;
  const hours = TWO_DIGITS[Math.floor(inDay / 3_600_000)]!;
  const minutes = TWO_DIGITS[Math.floor(inDay / 60_000) % 60]!;
  const seconds = TWO_DIGITS[Math.floor(inDay / 1_000) % 60]!;
  return `${date}${hours}:${minutes}:${seconds}.${THREE_DIGITS[inDay % 1_000]!}Z`;
}
