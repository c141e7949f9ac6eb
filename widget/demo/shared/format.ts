// Formats of money and time on the pages: Brazilian Portuguese, in the time of Brasília. The payer's page has the same, so a
// payment has one time, wherever it is read.
const timeZone = 'America/Sao_Paulo';
/** The line of a page whose lists have many times; a single time has its zone behind it. */
export const ZONE = 'Horários de Brasília';

const brl = once(() => new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }));
const compactBrl = once(
  () =>
    new Intl.NumberFormat('pt-BR', {
      style: 'currency',
      currency: 'BRL',
      notation: 'compact',
      maximumFractionDigits: 1,
    }),
);
const ltcFormat = once(
  () => new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2, maximumFractionDigits: 8 }),
);
const timeFormat = once(
  () => new Intl.DateTimeFormat('pt-BR', { hour: '2-digit', minute: '2-digit', timeZone }),
);
const clockFormat = once(
  () =>
    new Intl.DateTimeFormat('pt-BR', {
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZone,
    }),
);
const dayFormat = once(() => new Intl.DateTimeFormat('pt-BR', { day: '2-digit', month: 'short', timeZone }));
const dateFormat = once(() => new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeZone }));
const fullFormat = once(
  () => new Intl.DateTimeFormat('pt-BR', { dateStyle: 'full', timeStyle: 'medium', timeZone }),
);
const relativeFormat = once(() => new Intl.RelativeTimeFormat('pt-BR', { numeric: 'auto', style: 'short' }));

export const formatBrl = (cents: number) => brl().format(cents / 100);
/** An amount as it is typed, such as 1.500,00. */
export const formatCents = (cents: number) => formatBrl(cents).replace(/[^\d.,]/g, '');
export const formatCompactBrl = (cents: number) => compactBrl().format(cents / 100);
export const formatLtc = (amount: string | number) => `${ltcFormat().format(Number(amount))} LTC`;
export const formatConfirmations = (count: number) =>
  `${count} ${count === 1 ? 'confirmação' : 'confirmações'}`;
export const formatFull = (instant: Date) => `${fullFormat().format(instant)} (Brasília)`;
export const formatClock = (instant: Date) => clockFormat().format(instant);

/** Formats the time of day, with the date in front where it is not today. */
export function formatTime(instant: Date, now: Date): string {
  const sameDay = dateFormat().format(instant) === dateFormat().format(now);
  return sameDay
    ? timeFormat().format(instant)
    : `${dayFormat().format(instant)} ${timeFormat().format(instant)}`;
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['hour', 3_600],
  ['minute', 60],
];

/** Formats an instant relative to `now`, such as “há 2 min.” or “em 3 h”. A day or more is counted by the calendar. */
export function formatRelative(instant: Date, now: Date): string {
  const seconds = Math.round((instant.getTime() - now.getTime()) / 1_000);
  const size = Math.abs(seconds);
  if (size < 10) return 'agora';
  if (size >= 86_400) return relativeFormat().format(dayOf(instant) - dayOf(now), 'day');
  const [unit, length] = STEPS.find(([, length]) => size >= length) ?? (['second', 1] as const);
  return relativeFormat().format(Math.trunc(seconds / length), unit);
}

/** The number of the instant's calendar day in Brasília. */
function dayOf(instant: Date): number {
  const [day = 0, month = 0, year = 0] = dateFormat().format(instant).split('/').map(Number);
  return Date.UTC(year, month - 1, day) / 86_400_000;
}

/** Parses “1.234,56”, “1234,56” and “1234.56” to cents; null for a text that is no amount. */
export function parseCents(text: string): number | null {
  const plain = text.replace(/[R$\s]/g, '');
  const comma = /^([1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,(\d{1,2}))?$/.exec(plain);
  const point = /^(\d+)\.(\d{1,2})$/.exec(plain);
  const [, whole, fraction = ''] = comma ?? point ?? [];
  if (whole === undefined) return null;
  const cents = Number(whole.replaceAll('.', '')) * 100 + Number(fraction.padEnd(2, '0'));
  return Number.isSafeInteger(cents) ? cents : null;
}

/**
 * Parses an amount of LTC such as “0,5”, “0.125” or “1.000,5” to litoshi; null for a text that is no amount. “1.000” is a
 * thousand, as it is in Portuguese.
 */
export function parseLitoshi(text: string): number | null {
  const plain = text.trim();
  const comma = /^([1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,(\d{1,8}))?$/.exec(plain);
  const point = /^(\d+)\.(\d{1,8})$/.exec(plain);
  const [, whole, fraction = ''] = comma ?? point ?? [];
  if (whole === undefined) return null;
  const litoshi = Number(whole.replaceAll('.', '') + fraction.padEnd(8, '0'));
  return Number.isSafeInteger(litoshi) ? litoshi : null;
}

/** A format is made at its first use: each takes a phone some thirty milliseconds, and no page needs all of them. */
function once<Format>(make: () => Format): () => Format {
  let made: Format | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
