/**
 * Lenient readers of another service's JSON: a member that is missing, or of another type, is null, so that no answer
 * can break this server.
 */

import { type Cents, isCents, LITOSHI_PER_LTC } from './money.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function readRecord(json: unknown): JsonRecord | null {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as JsonRecord) : null;
}

/** Reads a record and its members that are records: one of them is the requested one, the others its envelope. */
export function readRecords(json: unknown): JsonRecord[] {
  const parts: unknown[] = [json, ...Object.values(readRecord(json) ?? {})];
  return parts.map(readRecord).filter((each) => each !== null);
}

/** A page of a list (the document's 2.1.6). */
export interface JsonPage {
  items: unknown[];
  /** The number of items in the whole list. */
  total: number | null;
}

/** The names that services give the array of a page. */
const USUAL_NAMES = ['data', 'items', 'results', 'entries'];

/**
 * Reads a page: the array of its items, and the `total` beside it. Among several arrays it takes the one with
 * a name of `names`, or the only one that is not empty and holds more than texts and numbers; if several do,
 * the one with a usual name. Null if there is no array or the choice is unclear: if a list were taken for
 * empty, a payment would be made again.
 */
export function readPage(json: unknown, ...names: string[]): JsonPage | null {
  if (Array.isArray(json)) return { items: json, total: null };
  const record = readRecord(json);
  const items = record && (arrayOf(record, names) ?? likelyItems(record));
  return record && items ? { items, total: readCents(record.total) } : null;
}

function arrayOf(record: JsonRecord, names: readonly string[]): unknown[] | null {
  return names.map((name) => record[name]).find(Array.isArray) ?? null;
}

function likelyItems(record: JsonRecord): unknown[] | null {
  const arrays = Object.values(record).filter(Array.isArray);
  const others = arrays.filter((array) => !isOfLabels(array));
  const filled = others.filter(({ length }) => length > 0);
  const usual = arrayOf(record, USUAL_NAMES);
  if (filled.length > 1) return usual && filled.includes(usual) ? usual : null;
  return filled[0] ?? others[0] ?? arrays[0] ?? null;
}

/** Whether an array contains only texts, numbers and booleans. */
function isOfLabels(array: readonly unknown[]): boolean {
  return array.length > 0 && array.every((each) => each !== null && typeof each !== 'object');
}

/** Finds the first text of a form among the members; those whose names are `named` come first. */
export function findMember(
  record: JsonRecord,
  matches: (text: string) => boolean,
  named: string[] = [],
): string | null {
  const values = [...named.map((name) => record[name]), ...Object.values(record)];
  return (values.find((value) => typeof value === 'string' && matches(value)) as string | undefined) ?? null;
}

/** Whether a text is 24 hex digits, as the document's withdrawal and product identifiers are. */
export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{24}$/i.test(text);
}

/** Whether a text is the bank's identifier of a PIX: E, the bank, the minute, and letters and digits. */
export function isEndToEndId(text: string): boolean {
  return /^E\d{20}[0-9A-Za-z]{11}$/.test(text);
}

const LONGEST_TEXT = 500;

/** Reads a text that is not empty, cut to 500 characters, without what Postgres cannot store or UTF-8 cannot encode. */
export function readText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return value.slice(0, LONGEST_TEXT).toWellFormed().replaceAll('\u0000', '');
}

/**
 * Reads an id that another service has given, unchanged: 1 to 200 printable ASCII characters, without a space
 * at either end. Any other text gives null: cut or changed, it would name something else.
 */
export function readId(value: unknown): string | null {
  return typeof value === 'string' && /^[!-~](?:[ -~]{0,198}[!-~])?$/.test(value) ? value : null;
}

/** Reads a word of a small set, such as a status, in lower case and without accents: `Concluído` is `concluido`. */
export function readWord(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_WORD) return null;
  return value.trim().normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

const LONGEST_WORD = 50;

/** Reads a text unchanged; null if it is longer than `max` or cannot be stored. */
export function readWholeText(value: unknown, { max }: { max: number }): string | null {
  if (typeof value !== 'string' || value === '' || value.length > max) return null;
  return value.includes('\u0000') || !value.isWellFormed() ? null : value;
}

/** Reads a number, also one that is written as text. */
export function readNumber(value: unknown): number | null {
  if (typeof value === 'string' && value.trim() !== '') return readNumber(Number(value));
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/**
 * Reads an amount in reais, of any number of decimals. Null below 0: a negative figure does not mean an
 * amount.
 */
export function readReais(value: unknown): Cents | null {
  const reais = readNumber(value);
  const cents = reais === null || reais < 0 ? null : Math.round(reais * 100);
  return isCents(cents) ? cents : null;
}

export function readCents(value: unknown): Cents | null {
  const cents = readNumber(value);
  return isCents(cents) ? cents : null;
}

/** Reads an amount of LTC, in litoshi: decimal text, which is exact, or a number. Null below 0. */
export function readLitoshi(value: unknown): number | null {
  const litoshi = readBalanceLitoshi(value);
  return litoshi !== null && litoshi >= 0 ? litoshi : null;
}

/** Reads a balance of LTC, in litoshi, which may be below 0. */
export function readBalanceLitoshi(value: unknown): number | null {
  const [, sign, whole, decimals = ''] =
    /^(-?)(\d{1,8})(?:\.(\d{1,8}))?$/.exec(String(readText(value) ?? '')) ?? [];
  const ltc = readNumber(value);
  const rounded = ltc === null ? null : Math.round(ltc * LITOSHI_PER_LTC);
  const litoshi =
    whole === undefined
      ? rounded
      : (sign === '' ? 1 : -1) * (Number(whole) * LITOSHI_PER_LTC + Number(decimals.padEnd(8, '0')));
  // `+ 0` makes 0 of −0.
  return litoshi !== null && Number.isSafeInteger(litoshi) ? litoshi + 0 : null;
}

/**
 * Reads `…Cents` if it is an amount, else the member without that ending, in reais (2.1.1, 2.1.2). The amount
 * may be below 0.
 */
export function readAmount(record: JsonRecord, name: string): number | null {
  const inCents = readNumber(record[`${name}Cents`]);
  if (Number.isSafeInteger(inCents)) return inCents;
  const reais = readNumber(record[name]);
  // `+ 0` makes 0 of −0.
  const cents = reais === null ? null : Math.round(reais * 100) + 0;
  return Number.isSafeInteger(cents) ? cents : null;
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

/** Reads an instant, in UTC if it names no zone (the document's 2.1.3), whatever the zone of this machine. */
export function readInstant(value: unknown): Date | null {
  if (typeof value !== 'string' || !INSTANT.test(value)) return null;
  const isZoned = /(Z|[+-]\d\d:?\d\d)$/.test(value.slice(11));
  const instant = new Date(isZoned ? value : `${value}Z`);
  return Number.isNaN(instant.getTime()) || instant.getUTCFullYear() > 9_999 ? null : instant;
}

/** Reads the values that are instants, earliest first. */
export function readInstants(values: readonly unknown[]): Date[] {
  const instants = values.flatMap((value) => readInstant(value) ?? []);
  return instants.sort((left, right) => left.getTime() - right.getTime());
}
