import { z } from 'zod';
import { requiredOr } from './text.ts';

/** Money in the program: integer cents of BRL. Reais and fractions exist at the wire alone. */
export type Cents = number;

export function isCents(value: unknown): value is Cents {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** The format, created by its first use: loading a locale's tables takes 10 ms, which no start should wait for. */
let reaisFormat: Intl.NumberFormat | undefined;

/** Formats an amount for people: `R$ 1.234,56`. */
export function reaisText(cents: Cents): string {
  reaisFormat ??= new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });
  // Text, because above 2⁴⁶ reais a number cannot distinguish two neighboring cents.
  const text = decimalText(cents, REAIS_DECIMALS) as Intl.StringNumericLiteral;
  return reaisFormat.format(text).replace('\u00a0', ' ');
}

/** The number of litoshi in one LTC. Amounts of LTC are integer litoshi. */
export const LITOSHI_PER_LTC = 100_000_000;

/**
 * The dust limit of the Litecoin network: its nodes relay no smaller output. It is the limit of a P2PKH
 * output (182 bytes at 30,000 litoshi a kilobyte), the largest of the usual kinds, which every wallet and
 * custodian can send and receive.
 */
export const DUST_LITOSHI = 5_460;

/** The decimals of an amount in reais, and of one in LTC. */
export const REAIS_DECIMALS = 2;
export const LITOSHI_DECIMALS = 8;

/** Formats an amount of LTC exactly, with all eight decimals. */
export function ltcText(litoshi: number): string {
  return decimalText(litoshi, LITOSHI_DECIMALS);
}

/** Formats an amount in its smallest unit exactly, with all its decimals: 1250 cents as `12.50`. */
export function decimalText(units: number, decimals: number): string {
  if (decimals === 0) return String(units);
  const digits = String(Math.abs(units)).padStart(decimals + 1, '0');
  return `${units < 0 ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

// ── At the wire (the document's 2.1) ────────────────────────────────────────────────────────────

/** Converts cents to reais: two decimals at most, exact below 2⁴⁶ reais, where numbers are closer than cents. */
export function reaisFromCents(cents: Cents): number {
  return cents / 100;
}

/**
 * Converts reais to cents. It reads the decimals from the text, because products are not exact: 8.2 is 820,
 * and 1.005 is no amount.
 * @throws RangeError for more than two decimals, below 0, above the safe integers
 */
export function centsFromReais(reais: number): Cents {
  const text = reais.toFixed(2);
  const cents = Number(text.replace('.', ''));
  if (!isCents(cents) || Number(text) !== reais) throw new RangeError(`not an amount in reais: ${reais}`);
  return cents;
}

function isReais(value: number): boolean {
  try {
    return centsFromReais(value) >= 0;
  } catch {
    return false;
  }
}

/** An amount in reais as a number with at most two decimals. */
export const reais = z
  .number({ error: requiredOr('must be a number of reais') })
  .min(0, 'must not be negative')
  .refine(isReais, 'must be an amount in reais with at most two decimals')
  .meta({ description: 'BRL, at most two decimals', examples: [149.9] });

/** An amount that is in reais in JSON, and in cents in the program. */
export const centsAsReais = z.codec(reais, z.number(), { decode: centsFromReais, encode: reaisFromCents });

/** An amount in cents, in JSON and in the program. */
export const cents = z
  .number({ error: requiredOr('must be an integer number of cents') })
  .refine(isCents, 'must be an integer number of cents')
  .meta({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [14990] });
