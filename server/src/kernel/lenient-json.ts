/**
 * Lenient readers of another service's JSON: a member that is missing, or of another type, is null, so that no answer
 * can break this server.
 */

import { type Cents, isCents } from './money.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function readRecord(json: unknown): JsonRecord | null {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as JsonRecord) : null;
}

/** A record, and those that are its members: one of them is what was asked for, the others its envelope. */
export function readRecords(json: unknown): JsonRecord[] {
  const parts: unknown[] = [json, ...Object.values(readRecord(json) ?? {})];
  return parts.map(readRecord).filter((each) => each !== null);
}

/** Part of a list (the document's 2.1.6). */
export interface JsonPage {
  items: unknown[];
  /** How many the list has in all. */
  total: number | null;
}

/** The array, whatever it is called, with `total` beside it. */
export function readPage(json: unknown, name = ''): JsonPage | null {
  if (Array.isArray(json)) return { items: json, total: null };
  const record = readRecord(json);
  const items = [record?.[name], ...Object.values(record ?? {})].find(Array.isArray);
  return record && items ? { items, total: readCents(record.total) } : null;
}

/** The first member that is of this form; `named` are the names that it may have, which come first. */
export function findMember(
  record: JsonRecord,
  isIt: (text: string) => boolean,
  named: string[] = [],
): string | null {
  const values = [...named.map((name) => record[name]), ...Object.values(record)];
  return (values.find((value) => typeof value === 'string' && isIt(value)) as string | undefined) ?? null;
}

/** 24 hex digits: the document's withdrawal and product identifiers. */
export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{24}$/i.test(text);
}

const LONGEST_TEXT = 500;

/** Not empty, and no longer than what is worth keeping. Without what Postgres cannot store or UTF-8 cannot say. */
export function readText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return value.slice(0, LONGEST_TEXT).toWellFormed().replaceAll('\u0000', '');
}

/** A word of a small set, such as a status, in lower case and without accents: `Concluído` is `concluido`. */
export function readWord(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_WORD) return null;
  return value.trim().normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

const LONGEST_WORD = 50;

/** As it is or not at all: longer than this, or no text to store, it is nothing of ours to keep. */
export function readWholeText(value: unknown, { max }: { max: number }): string | null {
  if (typeof value !== 'string' || value === '' || value.length > max) return null;
  return value.includes('\u0000') || !value.isWellFormed() ? null : value;
}

/** Also where it comes as text. */
export function readNumber(value: unknown): number | null {
  if (typeof value === 'string' && value.trim() !== '') return readNumber(Number(value));
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** An amount in reais, of any number of decimals. Null below 0: that is a figure of another meaning, and no 0. */
export function readReais(value: unknown): Cents | null {
  const reais = readNumber(value);
  const cents = reais === null || reais < 0 ? null : Math.round(reais * 100);
  return isCents(cents) ? cents : null;
}

export function readCents(value: unknown): Cents | null {
  const cents = readNumber(value);
  return isCents(cents) ? cents : null;
}

/** `…Cents` where that is an amount, else the same without the ending in reais (2.1.1, 2.1.2); it may be below 0. */
export function readAmount(record: JsonRecord, name: string): number | null {
  const inCents = readNumber(record[`${name}Cents`]);
  if (Number.isSafeInteger(inCents)) return inCents;
  const reais = readNumber(record[name]);
  const cents = reais === null ? null : Math.round(reais * 100);
  return Number.isSafeInteger(cents) ? cents : null;
}

/** In UTC where it names no zone (the document's 2.1.3), whatever this machine's own is. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

export function readInstant(value: unknown): Date | null {
  if (typeof value !== 'string' || !INSTANT.test(value)) return null;
  const isZoned = /(Z|[+-]\d\d:?\d\d)$/.test(value.slice(11));
  const instant = new Date(isZoned ? value : `${value}Z`);
  return Number.isNaN(instant.getTime()) ? null : instant;
}

/** All there are, earliest first. */
export function readInstants(values: readonly unknown[]): Date[] {
  const instants = values.flatMap((value) => readInstant(value) ?? []);
  return instants.sort((left, right) => left.getTime() - right.getTime());
}
