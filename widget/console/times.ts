import { formatTime } from '../demo/shared/format.ts';

/** Words for an instant: `today` stands before a time of this day, and `otherwise` before one with its date. */
export function timeWords(instant: Date, now: Date, [today, otherwise]: readonly [string, string]): string {
  const time = formatTime(instant, now);
  return `${/^\d\d:\d\d$/.test(time) ? today : otherwise} ${time} (Brasília)`;
}
