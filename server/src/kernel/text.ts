import { z } from 'zod';

/** A pattern of a secret in running text, and its replacement. */
export type TextPattern = readonly [pattern: RegExp, replacement: string];

/** Whether Postgres can store a text (no U+0000) and UTF-8 can encode it (no half of a surrogate pair). */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** The text with ASCII letters in lower case, as PostgreSQL makes it with the collation "C". */
export function lowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** The message for a text that is not storable. */
export const NOT_STORABLE = 'must not contain U+0000 or half of a surrogate pair';

/** Builds the message for a value of the wrong type, or for a missing one. */
export function requiredOr(message: string) {
  return ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : message);
}

/**
 * Makes a member optional that limits an effect. It refuses null, which may stand for a limit that was lost
 * on the way: without the limit the effect is the widest. The types of GraphQL allow null in every optional
 * member, so this type does too.
 */
export function optionalLimit<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional() as unknown as z.ZodOptional<z.ZodNullable<Schema>>;
}

/** Builds the message for null in an `optionalLimit`, whose absence means `absence`. */
export function notNull(absence: string, message?: string) {
  return ({ input }: { input?: unknown }) => (input === null ? nullMessage(absence) : message);
}

export function nullMessage(absence: string): string {
  return `must not be null: leave it out for ${absence}`;
}

/** The longest address that an input may have, in characters. */
export const URL_MAX = 500;

/** Text for people, from 1 to `max` characters as JavaScript counts them, byte for byte. */
export function plainText({ max }: { max: number }) {
  return limited(z.string(), max);
}

function limited(text: z.ZodString, max: number) {
  return text
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    .refine(isStorable, NOT_STORABLE);
}

/**
 * Text that is normalized to Unicode's form NFC: a letter is the same text however it was typed, and 200
 * letters are 200 characters.
 */
function normalizedText({ max }: { max: number }) {
  return limited(z.string().normalize('NFC'), max);
}

/**
 * A name or a line that is shown beside others, also to payers. It does not contain the characters that turn
 * the direction of the text around them: `ana[U+202E]gpj.exe` is read as `anaexe.jpg`.
 */
export function nameText({ max }: { max: number }) {
  return normalizedText({ max }).refine(
    (text) => !/[\u202a-\u202e\u2066-\u2069]/.test(text),
    'must not contain characters that turn the direction of text (U+202A to U+202E, U+2066 to U+2069)',
  );
}

/** Text that is more than spaces. An empty one has a message of its own. */
export function visibleText<Text extends z.ZodType<string>>(text: Text) {
  return text.refine((value) => value === '' || SEEN.test(value), 'must not be blank');
}

/** A space of any kind, or a character without a width; also the blank letters of Hangul and Braille. */
const UNSEEN = '[\\s\\p{Default_Ignorable_Code_Point}\\u2800]';
const SEEN = new RegExp(`(?!${UNSEEN}).`, 'su');
const UNSEEN_END = new RegExp(`^${UNSEEN}|${UNSEEN}$`, 'u');

/**
 * A number or name from another system, which people and logs read: text without control or invisible
 * characters. It neither begins nor ends with a space: `1042 ` would be another order than `1042`.
 */
export function printableText({ max }: { max: number }) {
  return normalizedText({ max })
    .refine(
      (text) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text),
      'must not contain control or invisible characters',
    )
    .refine((text) => !UNSEEN_END.test(text), 'must not begin or end with a space');
}

/** The description of a merchant's own number for a resource. */
export const EXTERNAL_ID_FORM = '1 to 100 printable characters, without a space at an end';

/** A merchant's own number for a resource. */
export const externalIdText = printableText({ max: 100 });

/** A merchant's own number for a customer or a subaccount. */
export const longExternalIdText = printableText({ max: 200 });

/**
 * A word of a closed set, in an answer. A newer version, which works on the same database during an upgrade,
 * may have written another word: it is answered as it is, and no list fails by it.
 */
export function answeredWord<const Word extends string>(words: readonly Word[]) {
  return z.string().meta({ enum: [...words] }) as unknown as z.ZodType<Word, Word>;
}

/** The form of an idempotency key in words. */
export const IDEMPOTENCY_KEY_FORM = '1 to 128 of the printable ASCII characters, without a space at an end';

/** An idempotency key. It names one request permanently, within its account, environment and operation. */
export const idempotencyKeyText = z
  .string()
  .regex(/^[!-~](?:[ -~]{0,126}[!-~])?$/, `must be ${IDEMPOTENCY_KEY_FORM}`);

/** Serialized JSON (the document's 2.1.4), stored and returned byte for byte. */
export function metadataText({ max }: { max: number }) {
  return z
    .string()
    .max(max, `must have at most ${max} characters`)
    .refine(isStorable, NOT_STORABLE)
    .refine(isJson, 'must be serialized JSON');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A URL to which a browser is sent: absolute, with http or https, no other scheme and no password. */
export function webUrl({ max }: { max: number }) {
  return plainText({ max }).refine((text) => {
    const url = parse(text);
    return (
      url !== null &&
      (url.protocol === 'https:' || url.protocol === 'http:') &&
      !url.username &&
      !url.password
    );
  }, 'must be an absolute http or https URL without credentials');
}

/**
 * A URL that this server calls: https to a public name. The addresses of the name are checked at each call: a
 * name can change, and an address can be written in many ways.
 */
export function publicHttpsUrl({ max }: { max: number }) {
  return plainText({ max }).refine((text) => {
    const url = parse(text);
    if (url === null || url.protocol !== 'https:' || url.username || url.password) return false;
    const host = url.hostname.replace(/\.$/, '');
    // The URL parser has normalized decimal, octal and hexadecimal addresses; none ends with a letter.
    return /\.[a-z][a-z0-9-]*$/i.test(host) && !/(^|\.)(localhost|local|internal|localdomain)$/i.test(host);
  }, 'must be a public https URL');
}

const CALLABLE = {
  public: publicHttpsUrl({ max: URL_MAX }),
  any: webUrl({ max: URL_MAX }),
};

/**
 * A URL that webhooks may be sent to: https to a public name. With `privateAddresses`, which is for a
 * developer's own machine, http and any host too.
 */
export function callableUrl(privateAddresses: boolean) {
  return CALLABLE[privateAddresses ? 'any' : 'public'];
}

/** The origin of pages that may use a token: scheme, host and port, as in a browser's Origin header. */
export const originText = z.string().refine((text) => {
  const url = parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, '');
}, 'must be an origin, such as https://shop.example');

/** Parses a URL as a browser does, but for tabs and line breaks, which a browser skips: the text is answered as it was given. */
function parse(text: string): URL | null {
  return URL.canParse(text) && !/\p{Cc}/u.test(text) ? new URL(text) : null;
}
