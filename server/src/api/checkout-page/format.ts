import type { Language } from '../../kernel/language.ts';
import { type Cents, ltcText } from '../../kernel/money.ts';

/**
 * Amounts and instants for the payer, in a language. All instants are in the time of Brasília, and each time of day names it.
 */
export interface Formats {
  money(cents: Cents): string;
  /** `0,08149068 LTC`. */
  ltc(litoshi: number): string;
  /** `29/11/2026, 14:32 (Brasília)`. */
  instant(date: Date): string;
  day(date: Date): string;
  /** `14:32 (Brasília)`. */
  time(date: Date): string;
}

/** The style of a date: a date of digits alone is ambiguous, except in Brazil. */
const DATE_STYLES = { 'pt-BR': 'short', en: 'medium', es: 'medium' } as const;

/** The neighbors who pay in reais write `R$ 49,90`; Spanish alone has `49,90 R$`. */
const MONEY_LOCALES = { 'pt-BR': 'pt-BR', en: 'en', es: 'es-AR' } as const;

function createFormats(language: Language): Formats {
  const timeZone = 'America/Sao_Paulo';
  const dateStyle = DATE_STYLES[language];
  const reais = new Intl.NumberFormat(MONEY_LOCALES[language], {
    style: 'currency',
    currency: 'BRL',
    currencyDisplay: 'narrowSymbol',
  });
  const instants = new Intl.DateTimeFormat(language, { dateStyle, timeStyle: 'short', timeZone });
  const days = new Intl.DateTimeFormat(language, { dateStyle, timeZone });
  const times = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', timeZone });
  const zone = language === 'es' ? 'Brasilia' : 'Brasília';
  return {
    money: (cents) => reais.format(cents / 100),
    ltc: (litoshi) => `${ltcText(litoshi).replace('.', language === 'en' ? '.' : ',')} LTC`,
    instant: (date) => `${instants.format(date)} (${zone})`,
    day: (date) => days.format(date),
    time: (date) => `${times.format(date)} (${zone})`,
  };
}

/**
 * The formats of a language are created by its first page: loading its tables takes 10 ms, which no start should wait
 * for.
 */
const created = new Map<Language, Formats>();
export function formatsOf(language: Language): Formats {
  const known = created.get(language);
  if (known) return known;
  const formats = createFormats(language);
  created.set(language, formats);
  return formats;
}

const twoDigits = (number: number) => String(number).padStart(2, '0');
/** Minutes and seconds; from an hour on also hours, from a day on also days. */
export const minutes = (seconds: number) => {
  const days = seconds > 86_400 ? Math.floor(seconds / 86_400) : 0;
  const hours = Math.floor(seconds / 3600) - 24 * days;
  const [rest, last] = [Math.floor((seconds % 3600) / 60), twoDigits(seconds % 60)];
  if (days > 0) return `${days} d ${twoDigits(hours)}:${twoDigits(rest)}:${last}`;
  return `${hours > 0 ? `${hours}:${twoDigits(rest)}` : rest}:${last}`;
};
export const initial = (name: string) => [...name.trim()][0]?.toLocaleUpperCase('pt-BR') ?? '•';
