import { z } from 'zod';
import { ERASED } from '../../../kernel/erased.ts';
import { parsePixKey, parseTypedPixKey } from '../../../kernel/pix-key.ts';
import { parseTaxId, taxIdText } from '../../../kernel/tax-id.ts';
import { longExternalIdText, plainText } from '../../../kernel/text.ts';

// The person whose data are erased: what names it, in the forms in which that is written, and where it stands in a value.

const keyText = (type: 'phone' | null, message: string) =>
  z.string().transform((text, context) => {
    const { key } = parseTypedPixKey(text, type);
    if (key !== null) return key;
    context.addIssue(message);
    return z.NEVER;
  });

/** The names of a person. At least one is given; each alone is enough for a record to be the person's. */
export const personInput = {
  email: plainText({ max: 254 })
    .refine((text) => /^[^\s@]+@[^\s@]+$/.test(text), 'must be an e-mail address')
    .optional(),
  document: taxIdText.optional(),
  phone: keyText('phone', 'must be a phone with its area code, as +5511987654321').optional(),
  pixKey: keyText(null, 'must be a PIX key').optional(),
  /** The merchant's own identifier of the customer. */
  customer: longExternalIdText.optional(),
};
const person = z.strictObject(personInput);
export type PersonInput = z.output<typeof person>;

/** The names in a record of the person. */
export interface Own {
  readonly names: readonly string[];
}

export interface Person {
  /** The patterns of texts that may name the person, for `ilike` in SQL. */
  readonly patterns: readonly string[];
  /** The names in a record whose customer or payee is the person; null for any other record. */
  ownIn(record: object): Own | null;
  /** Copies a value without the person. Of its own records the customer, the destination and the names are erased, too. */
  without<Value>(value: Value, own: Own | null): Value;
}

export function createPerson({ email, document, phone, pixKey, customer }: PersonInput): Person {
  const forms = [
    ...(email === undefined ? [] : [email]),
    ...(document === undefined ? [] : formsOfTaxId(document)),
    ...(phone === undefined ? [] : formsOfPhone(phone)),
    ...(pixKey === undefined ? [] : formsOfKey(pixKey)),
  ];
  const written = forms.flatMap(formsInUrls);
  const anywhere = written.length === 0 ? null : wordsPattern(written);
  const isForm = (value: unknown) =>
    typeof value === 'string' && forms.some((form) => form.toLowerCase() === value.toLowerCase());
  const customerInJson = customer === undefined ? [] : [`"externalId": ${JSON.stringify(customer)}`];

  const isCustomer = ({ email: mail, taxId, externalId }: Readonly<Record<string, unknown>>) =>
    (customer !== undefined && externalId === customer) || isForm(mail) || isForm(taxId);

  return {
    patterns: [...new Set([...written, ...customerInJson])].map(
      (form) => `%${form.replace(/[\\%_]/g, '\\$&')}%`,
    ),
    ownIn(record) {
      const members = record as Readonly<Record<string, unknown>>;
      const named = isObject(members.customer) ? members.customer : {};
      const isOwn = isCustomer(named) || DESTINATIONS.some((member) => isForm(members[member]));
      return isOwn ? { names: textsOf([named.name, ...RECIPIENTS.map((member) => members[member])]) } : null;
    },
    without(value, own) {
      const names = own ? own.names.filter((name) => name.trim().length > 1 && name !== ERASED) : [];
      const ownNames = names.length === 0 ? null : wordsPattern(names.flatMap(formsInUrls));
      const inText = (text: string) => {
        const without = anywhere ? text.replace(anywhere, ERASED) : text;
        return ownNames ? without.replace(ownNames, ERASED) : without;
      };
      const copy = (each: unknown): unknown => {
        if (typeof each === 'string') return inText(each);
        if (Array.isArray(each)) return each.map(copy);
        if (!isObject(each)) return each;
        const copied = Object.fromEntries(
          Object.entries(each).map(([member, part]) => [member, copyMember(member, part)]),
        );
        // The name of a file stands before its ending, as in a longer word.
        return own && 'fileId' in each ? { ...copied, name: erasedName(each.name) } : copied;
      };
      const copyMember = (member: string, part: unknown) => {
        if (member === 'customer' && isObject(part) && (own || isCustomer(part)))
          return erasedCustomer(part, inText);
        const isShown = typeof part === 'string' && [...DESTINATIONS, ...RECIPIENTS].includes(member);
        return own && isShown ? ERASED : copy(part);
      };
      return copy(value) as typeof value;
    },
  };
}

/** The members and columns in which a payout, its events and its webhooks have who is paid. */
const DESTINATIONS = ['destination', 'pixKey', 'pix_key', 'walletAddress'];
const RECIPIENTS = ['recipientName', 'recipient_name'];

const textsOf = (values: readonly unknown[]) => values.filter((value) => typeof value === 'string');

function erasedName(name: unknown): string {
  return ERASED + (/\.\w+$/.exec(String(name))?.[0] ?? '');
}

/** The identifier is the merchant's own, and stays as other ids do. */
function erasedCustomer({ externalId }: Readonly<Record<string, unknown>>, inText: (text: string) => string) {
  return { name: ERASED, ...(typeof externalId === 'string' && { externalId: inText(externalId) }) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A pattern of texts that are no part of a longer word, number or address, in whatever case. A plus joins the parts of an address,
 * and is a space in a URL, where an address has `%40`.
 */
function wordsPattern(texts: readonly string[]): RegExp {
  const longestFirst = [...new Set(texts)].sort((left, right) => right.length - left.length);
  const any = longestFirst
    .map((text) => (text.includes('@') ? BEHIND_NO_PLUS : '') + text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .join('|');
  return new RegExp(
    `(?:(?<=${ESCAPE})|(?<![\\p{L}\\p{N}_]|[\\p{L}\\p{N}_][.%-]))(?:${any})(?![\\p{L}\\p{N}_]|[.-][\\p{L}\\p{N}_])`,
    'giu',
  );
}

const BEHIND_NO_PLUS = '(?<![\\p{L}\\p{N}_]\\+)';
/** A sign in a URL that ends a word: no letter, number, or part of an address. */
const ESCAPE = '%(?:0[0-9a-f]|2[0-46-9acf]|3[a-f]|40|5[b-e]|60|7[b-e])';

// ── Forms ───────────────────────────────────────────────────────────────────────────────────────

/** A text as it is, and in the escapes of a URL: as of a path, of a form, and of other languages. */
function formsInUrls(text: string): string[] {
  const inForm = new URLSearchParams({ '': text }).toString().slice('='.length);
  return [text, encodeURIComponent(text), inForm, inForm.replaceAll('+', '%20')];
}

function formsOfTaxId(taxId: string): string[] {
  const written =
    taxId.length === 11
      ? taxId.replace(/^(.{3})(.{3})(.{3})(.{2})$/, '$1.$2.$3-$4')
      : taxId.replace(/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5');
  return [taxId, written];
}

/** A phone in the form of its key, without the country, and as people write it. */
function formsOfPhone(key: string): string[] {
  const national = key.slice('+55'.length);
  const [area, number] = [national.slice(0, 2), national.slice(2)];
  const parted = `${number.slice(0, -4)}-${number.slice(-4)}`;
  return [key, `55${national}`, national, `(${area}) ${parted}`, `${area} ${parted}`, `(${area})${parted}`];
}

function formsOfKey(key: string): string[] {
  if (parsePixKey(key)?.kind === 'phone') return formsOfPhone(key);
  return parseTaxId(key) ? formsOfTaxId(key) : [key];
}
