// The controls of the filter's conditions: their initial values from the element's properties, and how they
// are read.
import type { ControlTexts, ListTexts } from './locales/texts.ts';

const DAY_MS = 86_400_000;

/** A control with one value, which has the name of its property. `from` and `until` are days, whose properties are instants. */
export interface FilterField<T> {
  name: string;
  label: keyof T & string;
  reads: 'code' | 'text' | 'amount' | 'from' | 'until';
  hint?: keyof T & string;
}

interface Formats {
  money(cents: number): string;
  number(value: number): string;
}
type Given = Record<string, unknown>;
type Values = Record<string, string>;
type Errors = Partial<Record<string, keyof ControlTexts>>;

/** The values of the controls, by the properties. Days are those of Brasília, as the times of the table. */
export function initialValues<T>(host: object, fields: readonly FilterField<T>[], formats: Formats): Values {
  return Object.fromEntries(
    fields.map(({ name, reads }) => {
      const value = (host as Given)[name];
      const text = `${value ?? ''}`;
      if (reads === 'amount')
        return [name, value ? formats.money(Number(value)).replace(/[^\d.,]/g, '') : ''];
      // The control shows the last day before the instant.
      if (reads === 'from' || reads === 'until') return [name, dayOf(text, reads === 'until' ? 1 : 0)];
      return [name, text];
    }),
  );
}

/** The words of a property with several values, such as `PIX LTC`. */
export function wordsOf(host: object, property: string): string[] {
  return `${(host as Given)[property] ?? ''}`.match(/\w+/g) ?? [];
}

/**
 * Reads the controls. `changes` are the properties whose controls have another value than `initial`: an
 * instant that the page has set stays as it is until the reader chooses another day. `errors` names the
 * controls with a mistake, and the mistake.
 */
export function readForm<T extends ListTexts>(
  form: HTMLFormElement,
  fields: readonly FilterField<T>[],
  initial: Values,
  formats: Formats,
): { changes: Record<string, string | number | undefined>; errors: Errors } {
  const data = new FormData(form);
  const changes: Record<string, string | number | undefined> = {};
  const errors: Errors = {};
  const days: Partial<Record<FilterField<T>['reads'], string>> = {};
  for (const { name, reads } of fields) {
    const text = String(data.get(name) ?? '').trim();
    const input = form.elements.namedItem(name) as HTMLInputElement;
    const isDay = reads === 'from' || reads === 'until';
    if (isDay) days[reads] = text;
    // A partly typed date has no value.
    if (isDay && (input.validity.badInput || !/^$|^[12]\d{3}-/.test(text))) errors[name] = 'invalidDate';
    else if (text === initial[name]) continue;
    else if (text === '') changes[name] = undefined;
    else if (isDay) changes[name] = startOfDay(text, reads === 'until' ? 1 : 0);
    else if (reads === 'amount') {
      changes[name] = centsOf(text, formats.number(1.5)[1]);
      if (!changes[name]) errors[name] = 'invalidAmount';
    } else if (reads === 'code') {
      // The codes of payouts are in capital letters.
      changes[name] = /^saq-/i.test(text) ? text.toUpperCase() : text;
      if (!/^[!-~]{1,128}$/.test(text)) errors[name] = 'invalidSearch';
    } else {
      changes[name] = text;
      if ([...text].length > 100 || /[\p{Cc}\p{Cf}]/u.test(text)) errors[name] = 'invalidNumber';
    }
  }
  const last = fields.find(({ reads }) => reads === 'until')?.name ?? '';
  if (days.from && days.until && days.until < days.from) errors[last] ??= 'invalidPeriod';
  return { changes, errors };
}

/**
 * The day of an instant in Brasília, in the form of a date control, or the day of an instant `earlierMs`
 * before.
 */
function dayOf(instant: string, earlierMs = 0): string {
  const at = new Date(Date.parse(instant) - earlierMs);
  // Swedish dates have the form of ISO 8601.
  return Number.isNaN(at.getTime()) ? '' : at.toLocaleDateString('sv', { timeZone: 'America/Sao_Paulo' });
}

/**
 * The instant at which a day begins in Brasília, which has no daylight saving time, or the day `laterDays`
 * later.
 */
function startOfDay(day: string, laterDays: number): string {
  return new Date(Date.parse(`${day}T03:00Z`) + laterDays * DAY_MS).toISOString();
}

/**
 * The cents of an amount, such as `1.234,56`, `1234.5` or `R$ 50`; undefined for any other text. A single
 * mark before three digits separates thousands only in the language's own form: `1.234` is no amount in
 * English.
 */
export function centsOf(text: string, decimalMark: string | undefined): number | undefined {
  const [, whole, group, mark, fraction = ''] =
    /^(\d+|\d{1,3}([.,])\d{3}(?:\2\d{3})*)(?:([.,])(\d{1,2}))?$/.exec(text.replace(/R\$|\s/g, '')) ?? [];
  if (!whole || (group && group === (mark ?? decimalMark))) return undefined;
  const cents = Number(whole.replace(/\D/g, '')) * 100 + Number(fraction.padEnd(2, '0'));
  return cents > 0 && Number.isSafeInteger(cents) ? cents : undefined;
}
