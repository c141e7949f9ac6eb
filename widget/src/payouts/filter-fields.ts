// The controls of the filter's conditions: their initial values from the element's properties, and how they
// are read.
import type { FilterHost } from './filter-form.ts';
import type { ControlTexts, Texts } from './locales/texts.ts';
import type { PayoutTexts } from './payout-texts.ts';

const DAY_MS = 86_400_000;

type FieldName = 'reference' | 'externalId' | 'amountCents' | 'requestedAfter' | 'requestedBefore';
type Values = Record<FieldName, string> & { methods: readonly string[] };
type Changes = Partial<Record<FieldName, string | number | undefined> & { methods: string | undefined }>;

interface Field {
  name: FieldName;
  label: keyof Texts;
  type: 'search' | 'text' | 'date';
  mode: 'text' | 'decimal';
  hint?: keyof ControlTexts;
}

/** The controls with one value, in their order; each has the name of its property. */
export const fields: readonly Field[] = [
  { name: 'reference', label: 'search', type: 'search', mode: 'text', hint: 'searchHint' },
  { name: 'externalId', label: 'externalId', type: 'text', mode: 'text' },
  { name: 'amountCents', label: 'amountBrl', type: 'text', mode: 'decimal' },
  { name: 'requestedAfter', label: 'requestedFrom', type: 'date', mode: 'text' },
  { name: 'requestedBefore', label: 'requestedUntil', type: 'date', mode: 'text' },
];

/** The values of the controls, by the properties. Days are those of Brasília, as the times of the table. */
export function initialValues(host: FilterHost, { formats }: PayoutTexts): Values {
  const { reference, externalId, amountCents, requestedAfter, requestedBefore, methods } = host;
  return {
    reference: reference ?? '',
    externalId: externalId ?? '',
    amountCents: amountCents ? formats.money(amountCents).replace(/[^\d.,]/g, '') : '',
    requestedAfter: dayOf(requestedAfter),
    // The control shows the last day before the instant.
    requestedBefore: dayOf(requestedBefore, 1),
    methods: `${methods ?? ''}`.match(/\w+/g) ?? [],
  };
}

/**
 * Reads the controls. `changes` are the properties whose controls have another value than `initial`: an
 * instant that the page has set stays as it is until the reader chooses another day. `errors` names the
 * controls with a mistake, and the mistake.
 */
export function readForm(
  form: HTMLFormElement,
  initial: Values,
  { formats }: PayoutTexts,
): { changes: Changes; errors: Partial<Record<FieldName, keyof ControlTexts>> } {
  const data = new FormData(form);
  const changes: Changes = {};
  const errors: Partial<Record<FieldName, keyof ControlTexts>> = {};
  for (const { name, type } of fields) {
    const text = String(data.get(name) ?? '').trim();
    const input = form.elements.namedItem(name) as HTMLInputElement;
    // A partly typed date has no value.
    if (type === 'date' && (input.validity.badInput || !/^$|^[12]\d{3}-/.test(text)))
      errors[name] = 'invalidDate';
    else if (text === initial[name]) continue;
    else if (text === '') changes[name] = undefined;
    else if (type === 'date') changes[name] = startOfDay(text, name === 'requestedBefore' ? 1 : 0);
    else if (name === 'amountCents') {
      changes[name] = centsOf(text, formats.number(1.5)[1]);
      if (!changes[name]) errors[name] = 'invalidAmount';
    } else if (name === 'reference') {
      // The codes of payouts are in capital letters.
      changes[name] = /^saq-/i.test(text) ? text.toUpperCase() : text;
      if (!/^[!-~]{1,128}$/.test(text)) errors[name] = 'invalidSearch';
    } else {
      changes[name] = text;
      if ([...text].length > 100 || /[\p{Cc}\p{Cf}]/u.test(text)) errors[name] = 'invalidNumber';
    }
  }
  const [from, until] = [data.get('requestedAfter'), data.get('requestedBefore')];
  if (from && until && until < from) errors.requestedBefore ??= 'invalidPeriod';
  const methods = data.getAll('methods').map(String);
  if (String(methods.toSorted()) !== String([...initial.methods].sort()))
    changes.methods = methods.join(' ') || undefined;
  return { changes, errors };
}

/**
 * The day of an instant in Brasília, in the form of a date control, or the day of an instant `earlierMs`
 * before.
 */
function dayOf(instant: string | undefined, earlierMs = 0): string {
  const at = new Date(Date.parse(instant ?? '') - earlierMs);
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
function centsOf(text: string, decimalMark: string | undefined): number | undefined {
  const [, whole, group, mark, fraction = ''] =
    /^(\d+|\d{1,3}([.,])\d{3}(?:\2\d{3})*)(?:([.,])(\d{1,2}))?$/.exec(text.replace(/R\$|\s/g, '')) ?? [];
  if (!whole || (group && group === (mark ?? decimalMark))) return undefined;
  const cents = Number(whole.replace(/\D/g, '')) * 100 + Number(fraction.padEnd(2, '0'));
  return cents > 0 && Number.isSafeInteger(cents) ? cents : undefined;
}
