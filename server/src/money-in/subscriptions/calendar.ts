import {
  type CivilDay,
  dayOf,
  daysBetween,
  instantOf,
  plusDays,
  plusMonths,
} from '../../kernel/sao-paulo.ts';

// When cycles are due, and on which days they are debited. All days are those of São Paulo.

/** The intervals that the Banco Central has for Pix Automático. */
export const INTERVALS = ['weekly', 'monthly', 'quarterly', 'semiannual', 'yearly'] as const;
export type Interval = (typeof INTERVALS)[number];

const MONTHS: Record<Exclude<Interval, 'weekly'>, number> = {
  monthly: 1,
  quarterly: 3,
  semiannual: 6,
  yearly: 12,
};

/** The days after its due day on which a cycle is attempted. */
const ATTEMPT_DAYS = [0, 1, 3, 7] as const;
export const MAX_ATTEMPTS = ATTEMPT_DAYS.length;

/** The days before its due day on which the payer's bank gets the instruction; the Banco Central allows 10 to 2. */
const INSTRUCTION_DAYS = 3;

/** The hour of the evening before an attempt from which the payer's bank no longer recalls it. */
export const RECALL_HOUR = 22;

/**
 * The hour of the day after an attempt at which its outcome is looked up, if the bank has not reported it.
 */
const LOOK_UP_HOUR = 6;

/** The days after its due day on which a canceled cycle is looked up: up to seven after the last day of an attempt. */
const LOOK_UP_DAYS = 14;

/** The last lookup of a canceled cycle whose attempt may be at the bank. */
export function lastLookUpOf(dueDay: CivilDay): Date {
  return instantOf(plusDays(dueDay, LOOK_UP_DAYS), LOOK_UP_HOUR);
}

/**
 * The instant of the lookup of an attempt's outcome, for an attempt that was, or could have been, made on a
 * day.
 */
export function lookUpAfter(day: Date): Date {
  return instantOf(plusDays(dayOf(day), 1), LOOK_UP_HOUR);
}

/**
 * The day on which a cycle is due. Each cycle counts from the first day, so a short month moves no later
 * cycle: if the first is due on the 31st, another is due on the last day of a shorter month, and on the 31st
 * of the next month that has one.
 */
export function dueDayOf(firstDay: CivilDay, interval: Interval, number: number): CivilDay {
  const intervals = number - 1;
  return interval === 'weekly'
    ? plusDays(firstDay, 7 * intervals)
    : plusMonths(firstDay, MONTHS[interval] * intervals);
}

/** The day on which the instruction of a cycle's first attempt is sent. */
export function instructionDayOf(dueDay: CivilDay): CivilDay {
  return plusDays(dueDay, -INSTRUCTION_DAYS);
}

/**
 * The day of a cycle's next attempt, at `earliest` or later and before the next cycle is due; null if there
 * is none. After an outage the first attempt may be on any day up to the last of `ATTEMPT_DAYS`. Further
 * attempts are on these days alone.
 */
export function attemptDayOf(
  { dueDay, nextDueDay }: { dueDay: CivilDay; nextDueDay: CivilDay },
  { made, earliest }: { made: number; earliest: CivilDay },
): CivilDay | null {
  if (made >= MAX_ATTEMPTS) return null;
  const late = Math.max(0, daysBetween(dueDay, earliest));
  const planned = ATTEMPT_DAYS.slice(made).find((days) => days >= late);
  if (planned === undefined) return null;
  const isFirst = made === 0;
  const day = plusDays(dueDay, isFirst ? late : planned);
  return daysBetween(day, nextDueDay) > 0 ? day : null;
}
