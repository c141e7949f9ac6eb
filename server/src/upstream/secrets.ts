import { readRecord } from '../kernel/lenient-json.ts';

// The redaction of the service's texts: a service may echo a request, with its key, in an error.

/** Removes the configured secrets from texts, by their value. */
export interface Redaction {
  /** Removes the secrets from a text, in whichever encoding they are. */
  text(text: string): string;
  /**
   * Removes the secrets from each text of a body that was parsed from `source`, also from the names of its
   * members.
   */
  json(value: unknown, source: string): unknown;
}

/** The beginnings of keys and secrets that reveal nothing. */
const PUBLIC_PREFIX = /^(?:ps_(?:live|test)_|whsec_)/;
/** The shortest part of a secret that is removed, in bytes. */
const MIN_PART = 12;
const MASK = '…';

/**
 * Creates the redaction of a facade's configured secrets: its keys of the service, and the secrets of its
 * webhooks.
 */
export function redactionOf({
  keys,
  webhookSecrets,
}: {
  keys: Readonly<Record<string, string | undefined>>;
  webhookSecrets: Readonly<Record<string, readonly string[]>>;
}): Redaction {
  const all = [...Object.values(keys), ...Object.values(webhookSecrets).flat()];
  return createRedaction(all.filter((secret) => secret !== undefined));
}

export function createRedaction(secrets: readonly string[]): Redaction {
  const needles = new Map<string, { text: string; at: number; min: number }[]>();
  for (const form of new Set(secrets.flatMap(formsOf))) addNeedles(needles, form);
  const alternatives = [...needles.keys()].map((part) => part.replace(/[^a-z0-9]/g, '\\$&'));
  if (alternatives.length === 0) return { text: (text) => text, json: (value) => value };
  const anyPart = new RegExp([...needles.keys()].map(denormalized).join('|'), 'i');
  const pattern = new RegExp(`(?=(${alternatives.join('|')}))`, 'g');

  /** The ranges of a normal text that contain a part of a secret. */
  function hits(normal: string): { from: number; to: number }[] {
    return [...normal.matchAll(pattern)].flatMap(({ index, 1: part }) =>
      needles.get(part!)!.flatMap(({ text, at, min }) => {
        let [from, to] = [index, index + part!.length];
        while (from > 0 && at - (index - from) > 0 && normal[from - 1] === text[at - (index - from) - 1])
          from -= 1;
        while (to < normal.length && normal[to] === text[at + (to - index)]) to += 1;
        return to - from >= min ? [{ from, to }] : [];
      }),
    );
  }

  /** Masks the words of a text that contain a part of a secret, as a view of the text shows it. */
  function masked(text: string, { chars, placeOf, endOf }: View): string {
    const found = hits(normalize(chars));
    if (found.length === 0) return text;
    const isMasked = new Uint8Array(text.length);
    for (const { from, to } of found) isMasked.fill(1, placeOf(from), endOf(to));
    return [...isMasked.keys()]
      .map((at) => (!isMasked[at] ? text[at] : isMasked[at - 1] ? '' : MASK))
      .join('');
  }

  function redact(text: string): string {
    let rest = masked(text, { chars: text, placeOf: (at) => at, endOf: (at) => at });
    // A text that is encoded once more, or broken by spaces, is searched in its decoded form.
    if (HAS_ESCAPE.test(rest)) rest = masked(rest, decodedOf(rest));
    if (/[\s:]/.test(rest)) rest = masked(rest, withoutSpaces(rest));
    return rest;
  }

  function json(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return value.length < SHORTEST ? value : redact(value);
    if (typeof value !== 'object' || value === null || depth > MAX_NESTING) return value;
    if (Array.isArray(value)) return value.map((each) => json(each, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [json(name) as string, json(each, depth + 1)]),
    );
  }

  /** Whether a text may contain a part of a secret: nearly none does, and this search is quick. */
  function mayHold(source: string): boolean {
    return HAS_ESCAPE.test(source) || anyPart.test(source);
  }

  return { text: redact, json: (value, source) => (mayHold(source) ? json(value) : value) };
}

const SHORTEST = 4;
const MAX_NESTING = 64;

/** The forms of a secret that are removed: its text, and the bytes that a webhook secret encodes. */
function formsOf(secret: string): string[] {
  const own = secret.replace(PUBLIC_PREFIX, '');
  if (own.length < SHORTEST) return [];
  const bytes = secret.startsWith('whsec_') ? Buffer.from(own, 'base64') : null;
  return bytes && bytes.length >= MIN_PART ? [own, bytes.toString('latin1')] : [own];
}

/**
 * The encodings of a text, each as a normal text: plain, hex, and base64 at each offset within a longer text.
 */
function encodingsOf(form: string): { text: string; min: number }[] {
  const bytes = /^[\x20-\x7e]*$/.test(form) ? Buffer.from(form) : Buffer.from(form, 'latin1');
  const size = Math.min(MIN_PART, bytes.length);
  return [
    { text: form, min: size },
    { text: bytes.toString('hex'), min: size * 2 },
    ...[0, 1, 2].map((before) => {
      const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
      // The first and the last characters depend on the neighboring bytes.
      const text = whole.replace(/=+$/, '').slice(Math.ceil((before * 4) / 3), -1);
      return { text, min: Math.min(text.length, Math.ceil((size * 4) / 3) - 2) };
    }),
  ].map(({ text, min }) => ({ text: normalize(text), min }));
}

/** Adds the parts of a text by which it is found: each stretch of the least length contains one of them. */
function addNeedles(needles: Map<string, { text: string; at: number; min: number }[]>, form: string): void {
  for (const { text, min } of encodingsOf(form)) {
    const size = Math.max(1, Math.floor((min + 1) / 2));
    for (let at = 0; at + size <= text.length; at += size) {
      const part = text.slice(at, at + size);
      needles.set(part, [...(needles.get(part) ?? []), { text, at, min }]);
    }
  }
}

/** The form in which texts are compared: in one case, and with one alphabet of base64. */
function normalize(text: string): string {
  // Another letter may get a form of another length.
  const lower = ASCII.test(text)
    ? text.toLowerCase()
    : text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return lower.replaceAll('-', '+').replaceAll('_', '/');
}

/** The pattern of the texts whose normal form is `normal`; it ignores the case. */
function denormalized(normal: string): string {
  return normal.replace(/[^a-z0-9]/g, (sign) =>
    sign === '+' ? '[-+]' : sign === '/' ? '[/_]' : `\\${sign}`,
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;

/** A view of a text: its characters, and the place of each in the text. */
interface View {
  chars: string;
  placeOf(at: number): number;
  /** The place in the text where the character before `at` ends. */
  endOf(at: number): number;
}

function withoutSpaces(text: string): View {
  const places = [...text.matchAll(/[^\s:]/g)].map(({ index }) => index);
  return {
    chars: places.map((at) => text[at]).join(''),
    placeOf: (at) => places[at]!,
    endOf: (at) => places[at - 1]! + 1,
  };
}

const HAS_ESCAPE = /%[0-9a-f]{2}|\\[ux]|&#/i;

const ESCAPE =
  /%(?:25)*([0-9a-f]{2})|\\+u00([0-9a-f]{2})|\\+x([0-9a-f]{2})|&#x0*([0-9a-f]{2});?|&#0*(\d{2,3});?/gi;

/** The view of a text without its escapes: of URLs, JSON, JavaScript and HTML, also nested ones. */
function decodedOf(text: string): View {
  let chars = '';
  const places: number[] = [];
  let at = 0;
  for (const match of text.matchAll(ESCAPE)) {
    const [whole, ...codes] = match;
    for (; at < match.index; at += 1) {
      chars += text[at];
      places.push(at);
    }
    const hex = codes.slice(0, 4).find((code) => code !== undefined);
    chars += String.fromCharCode(hex === undefined ? Number(codes[4]) : Number.parseInt(hex, 16));
    places.push(at);
    at += whole!.length;
  }
  for (; at < text.length; at += 1) {
    chars += text[at];
    places.push(at);
  }
  return { chars, placeOf: (each) => places[each]!, endOf: (each) => places[each] ?? text.length };
}

// ── Payers ──────────────────────────────────────────────────────────────────────────────────────

/** The words that a payer reads instead of the service's, which may reveal anything. */
const FOR_PAYERS = 'The payments service refuses this';

/** The body of an answer for a payer: a refusal says that it is one, without the service's own words. */
export function withoutWords(body: unknown): unknown {
  const record = readRecord(body);
  return typeof record?.error === 'string' ? { ...record, error: FOR_PAYERS } : body;
}
