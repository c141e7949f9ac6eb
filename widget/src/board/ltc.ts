import type { Locale } from '../locale.ts';

/** An amount of LTC in a language, with up to eight decimals. */
export function formatLtc(value: string, locale: Locale): string {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 8 };
  return `${Number(value).toLocaleString(locale, digits)} LTC`;
}
