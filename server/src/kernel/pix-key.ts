import { isValidPhoneNumber } from 'libphonenumber-js/max';
import { z } from 'zod';
import { ERASED } from './erased.ts';
import { maskTaxId, parseTaxId, type TaxIdKind } from './tax-id.ts';
import { notNull, optionalLimit, type TextPattern } from './text.ts';

/** The five kinds of key in the directory of the Banco Central. */
export type PixKeyKind = TaxIdKind | 'phone' | 'email' | 'random';
export const PIX_KEY_KINDS = ['cpf', 'cnpj', 'phone', 'email', 'random'] as const satisfies PixKeyKind[];
const IN_WORDS: Readonly<Record<PixKeyKind, string>> = {
  cpf: 'a CPF',
  cnpj: 'a CNPJ',
  phone: 'a phone',
  email: 'an e-mail address',
  random: 'a random key',
};

export interface PixKey {
  kind: PixKeyKind;
  /** The key in the directory's form: digits, upper-case letters of a CNPJ, +55…, lower-case e-mail and random key. */
  key: string;
}

const PHONE = /^\+55\d{10,11}$/;
const EMAIL =
  /^[a-z0-9.!#$&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;
const EMAIL_MAX = 77;
const ASCII = /^[\x20-\x7e]*$/;
const RANDOM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Parses a text as a PIX key, in its normal form; null for any other text. */
export function parsePixKey(text: string): PixKey | null {
  // No other kind contains an @. A letter outside ASCII may have a lower case in ASCII: that of the Kelvin
  // sign is k.
  if (text.includes('@')) return ASCII.test(text) ? parseEmail(text.toLowerCase()) : null;
  const tax = parseTaxId(text);
  if (tax) return { kind: tax.kind, key: tax.taxId };
  if (PHONE.test(text)) return isValidPhoneNumber(text, 'BR') ? { kind: 'phone', key: text } : null;
  const lower = text.toLowerCase();
  return RANDOM.test(lower) ? { kind: 'random', key: lower } : null;
}

function parseEmail(key: string): PixKey | null {
  return key.length <= EMAIL_MAX && EMAIL.test(key) ? { kind: 'email', key } : null;
}

/**
 * A phone as people write it, with its area code. A text is read so only if its writer calls it a phone:
 * eleven digits may also be a CPF.
 */
const WRITTEN_PHONE = /^(?:\+?55)?(\d{10,11})$/;

/**
 * Parses a text as a PIX key of the kind that its writer names, in its normal form. Null if it is no key of
 * that kind.
 */
function parseKeyOf(kind: PixKeyKind, text: string): PixKey | null {
  if (kind === 'phone') {
    const national = WRITTEN_PHONE.exec(text.replace(/[ ().-]/g, ''))?.[1];
    return national === undefined ? null : parsePixKey(`+55${national}`);
  }
  const parsed = parsePixKey(text);
  return parsed?.kind === kind ? parsed : null;
}

/** The message that refuses a text which is no PIX key. */
export const MUST_BE_PIX_KEY =
  'must be a PIX key: CPF or CNPJ with its check digits, phone as +55…, e-mail, or random key';

/** The result of parsing a key: its normal form, or the error, which concerns the key or the named type. */
export type ParsedPixKey = { key: string; wrong: null } | { key: null; wrong: 'key' | 'type'; why: string };

/**
 * Parses a PIX key. `type`: the kind that its writer names. Without it eleven digits are a CPF, by the rule
 * of the directory; about one mobile number in a hundred passes as one.
 */
export function parseTypedPixKey(text: string, type: PixKeyKind | null | undefined): ParsedPixKey {
  const parsed = type == null ? parsePixKey(text) : parseKeyOf(type, text);
  if (parsed) return { key: parsed.key, wrong: null };
  const other = type == null ? null : parsePixKey(text);
  return other
    ? { key: null, wrong: 'type', why: `does not fit the key, which is ${IN_WORDS[other.kind]}` }
    : { key: null, wrong: 'key', why: MUST_BE_PIX_KEY };
}

/** The rule of `pixKeyType`, in the descriptions of an input. */
export const PIX_KEY_TYPE_RULE =
  'The kind of the PIX key, which must be of it. Without it eleven digits are a CPF, though they may be a phone; as phone they are one, with +55 or without';

/** The kind that a writer names for a key. If it is left out, the key may be of any kind. */
export const pixKeyType = optionalLimit(
  z.enum(PIX_KEY_KINDS, {
    error: notNull('a key of any kind', `must be one of ${PIX_KEY_KINDS.join(', ')}`),
  }),
);

/** The kind of a key, also of one that `maskPixKey` has masked; null if the text does not show it. */
export function kindOfPixKey(text: string): PixKeyKind | null {
  if (/^\*{3}\.\d{3}\.\d{3}-\*\*$/.test(text)) return 'cpf';
  if (/^\*\*\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\*\*$/.test(text)) return 'cnpj';
  if (/^[^@*]?\*+@/.test(text)) return 'email';
  return parsePixKey(text)?.kind ?? null;
}

/** Masks a key in its normal form (the document's 2.2 and 4.5). */
export function maskPixKey(key: string): string {
  return maskedKey(key) ?? '****';
}

/** Masks a key; one that was erased is shown as such. Null if the text is no key. */
export function maskedKey(key: string): string | null {
  switch (parsePixKey(key)?.kind) {
    case 'cpf':
      return maskTaxId(key);
    case 'cnpj':
      return `**.${key.slice(2, 5)}.${key.slice(5, 8)}/${key.slice(8, 12)}-**`;
    case 'email':
      return `${key[0]}***${key.slice(key.indexOf('@'))}`;
    case 'phone':
    case 'random':
      return `****${key.slice(-4)}`;
    case undefined:
      return key === ERASED ? key : null;
  }
}

/**
 * Patterns of PIX keys in the text of an error. They ignore check digits, so a mistyped key is hidden too.
 */
export const PIX_KEYS_IN_TEXT: readonly TextPattern[] = [
  // E-mail addresses. The version of a package in a stack's path does not end in letters, so it is no
  // address.
  [/[^\s"'()<>@]{1,64}@((?:[a-z0-9-]+\.)+[a-z]{2,}\b)/gi, '…@$1'],
  // CPF, CNPJ, telephones.
  [/(?<![\w.:+-])(?:\d{11}|[0-9A-Z]{12}\d{2}|\d{3}(?:\.\d{3}){2}-\d{2}|\+55\d{10,11})(?![\w:-])/g, '…'],
  [/(?<![\w.])[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}\/[0-9A-Z]{4}-\d{2}\b/g, '…'],
  // Random keys.
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '…'],
];
