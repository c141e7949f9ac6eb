// What an attempt has sent and what came back, as far as it is kept. Secrets never are.

/** The names and values of a message's headers, in their order. */
export type MessageHeaders = readonly (readonly [name: string, value: string])[];

/** One request and its answer. */
export interface WebhookExchange {
  requestHeaders: MessageHeaders;
  /** Null without an answer. */
  responseHeaders: MessageHeaders | null;
  /** The beginning of the answer; null if there is none, or it is no text. */
  responseBody: string | null;
  /** Whether the answer is longer than what is kept. */
  isBodyCut: boolean;
}

/** The most bytes of an answer's body that are kept, and the most characters of a message's headers. */
export const KEPT_BYTES = 4_096;
/** The number of the last attempts of a delivery whose exchanges are kept. */
export const KEPT_EXCHANGES = 10;

const MASK = '***';
/** The names of headers whose values are secrets, or prove one. */
const SECRET_HEADER = /authorization|cookie|signature|secret|token|key/;
/** The query of a URL, also of one within other text. */
const QUERY = /\?[^#\s"'<>]+/g;
/** Secrets and tokens of this server, and credentials that a receiver repeats. */
const SECRETS: readonly (readonly [form: RegExp, masked: string])[] = [
  [/whsec_[A-Za-z0-9+/=_-]*/g, `whsec_${MASK}`],
  [/\bps_(live|test|checkout|payment|dashboard)_[A-Za-z0-9._~+/-]*=*/g, `ps_$1_${MASK}`],
  [/\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/-]+=*/gi, `$1$2${MASK}`],
];

/** Masks the values in the query of a URL, which may be secrets of the receiver. */
export function withoutQueryValues(url: string): string {
  return url.replace(QUERY, (query) =>
    query.replace(/([?&])([^&=]+)(=?)[^&]*/g, (_, sign: string, name: string, equals: string) =>
      equals ? `${sign}${name}=${MASK}` : `${sign}${MASK}`,
    ),
  );
}

/** The headers of a message that are kept, of its names and values one behind the other. */
export function keptHeaders(raw: readonly string[]): MessageHeaders {
  const kept: (readonly [string, string])[] = [];
  let left = KEPT_BYTES;
  for (let index = 0; index + 1 < raw.length && left > 0; index += 2) {
    const name = raw[index]!.toLowerCase().slice(0, left);
    left -= name.length;
    const value = (
      SECRET_HEADER.test(name) ? MASK : withoutQueryValues(withoutSecrets(raw[index + 1]!))
    ).slice(0, Math.max(left, 0));
    left -= value.length;
    kept.push([name, value]);
  }
  return kept;
}

/**
 * The text of an answer's body that is kept. Only text, JSON, XML and HTML are: an answer without a type is taken for
 * text, and one that is compressed is not unpacked.
 */
export function keptBody(
  body: Buffer,
  {
    type = 'text/plain',
    encoding = 'identity',
  }: { type?: string | undefined; encoding?: string | undefined },
): Pick<WebhookExchange, 'responseBody' | 'isBodyCut'> {
  const isBodyCut = body.length > KEPT_BYTES;
  const isText = /^\s*(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml)\b)/i.test(type);
  if (body.length === 0 || !isText || encoding.toLowerCase() !== 'identity')
    return { responseBody: null, isBodyCut };
  // A character that is cut in two is left out.
  const text = new TextDecoder().decode(body.subarray(0, KEPT_BYTES), { stream: isBodyCut });
  return { responseBody: withoutSecrets(text), isBodyCut };
}

/** A text without secrets, and without the character that Postgres cannot store. */
function withoutSecrets(text: string): string {
  const masked = SECRETS.reduce((left, [form, mask]) => left.replace(form, mask), text);
  return masked.replaceAll('\u0000', '\ufffd');
}
