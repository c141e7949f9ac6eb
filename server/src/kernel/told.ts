/**
 * What another service tells in JSON, read so that nothing of it can break us: what is not there, or is of another kind,
 * is null.
 */

import { type Cents, isCents } from './money.ts';

export function recordTold(json: unknown): Readonly<Record<string, unknown>> | null {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
    ? (json as Record<string, unknown>)
    : null;
}

const LONGEST_TEXT = 500;

/** Not empty, and no longer than what is worth keeping. Without what Postgres cannot store or UTF-8 cannot say. */
export function textTold(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return value.slice(0, LONGEST_TEXT).toWellFormed().replaceAll('\u0000', '');
}

/** Also where it comes as text. */
export function numberTold(value: unknown): number | null {
  if (typeof value === 'string' && value.trim() !== '') return numberTold(Number(value));
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** An amount in reais, of any number of decimals; below 0 it is 0. */
export function reaisTold(value: unknown): Cents | null {
  const reais = numberTold(value);
  const cents = reais === null ? null : Math.max(0, Math.round(reais * 100));
  return isCents(cents) ? cents : null;
}

/** What something costs, in reais: below 0 it is told in another way than ours, and nobody knows what it says. */
export function amountTold(value: unknown): Cents | null {
  const reais = numberTold(value);
  return reais !== null && reais < 0 ? null : reaisTold(reais);
}

export function centsTold(value: unknown): Cents | null {
  const cents = numberTold(value);
  return isCents(cents) ? cents : null;
}

/** In UTC where it names no zone (the document's 2.1.3), whatever this machine's own is. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

export function instantTold(value: unknown): Date | null {
  if (typeof value !== 'string' || !INSTANT.test(value)) return null;
  const isZoned = /(Z|[+-]\d\d:?\d\d)$/.test(value.slice(11));
  const instant = new Date(isZoned ? value : `${value}Z`);
  return Number.isNaN(instant.getTime()) ? null : instant;
}
