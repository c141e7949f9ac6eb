import type { WebhookEvent } from './webhook-events.generated.ts';

type HeadersOf = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A `Request`, an incoming message of Node's, or one whose raw body was read: as `body`, text or bytes. */
export type WebhookRequest =
  | { headers: HeadersOf; arrayBuffer(): unknown; body: ReadableStream<Uint8Array<ArrayBuffer>> | null }
  | { headers: HeadersOf; body: string | Uint8Array }
  | (AsyncIterable<Uint8Array> & { headers: HeadersOf; body?: unknown });

export interface VerifyOptions {
  /** The secret of the account's webhooks, `whsec_…`; several while one replaces another. */
  secret: string | readonly string[];
  /**
   * `standard`: the headers of Standard Webhooks, whose signature has the instant in it. `document`: `X-Webhook-Signature`
   * alone, for a sender that has no others; a webhook that was intercepted once can be sent again.
   */
  scheme?: 'standard' | 'document';
  /** The largest age of the instant, and the largest distance into the future. */
  toleranceSeconds?: number;
  now?: () => Date;
}

/** A webhook that the server has sent. */
export interface Webhook {
  /**
   * The same on each attempt: deduplicate by it. Empty where a sender of `scheme: 'document'` gives none: then deduplicate by
   * the resource and its status.
   */
  id: string;
  event: WebhookEvent;
  /** A number that grows with each change of the resource; null where the sender does not report it. */
  resourceVersion: number | null;
  occurredAt: Date | null;
}

/** The request is not a webhook of the server. Answer with 401, and do not handle it. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

const MAX_BYTES = 1_000_000;

/**
 * Verifies a webhook and reads it.
 * @throws WebhookError; TypeError where the body was parsed before
 */
export async function verifyWebhook(
  request: WebhookRequest,
  { secret, scheme = 'standard', toleranceSeconds = 300, now = () => new Date() }: VerifyOptions,
): Promise<Webhook> {
  const header = (name: string) => headerOf(request.headers, name);
  const body = await bodyOf(request);
  const secrets = [secret].flat();
  // As from a variable of the environment that is not set.
  if (secrets.some((each) => !each)) throw noSecret();
  let id: string | null;
  if (scheme === 'standard') {
    id = header('webhook-id');
    const timestamp = header('webhook-timestamp') ?? '';
    const signatures = (header('webhook-signature') ?? '').split(' ').flatMap((each) => {
      const [version, value] = each.split(',');
      return version === 'v1' && value ? [value] : [];
    });
    const age = Math.abs(now().getTime() / 1_000 - Number(timestamp || Number.NaN));
    if (!id || !(age <= toleranceSeconds))
      throw new WebhookError('The webhook has no instant, or an old one');
    const signed = concat(encode(`${id}.${timestamp}.`), body);
    await verify(secrets.map(standardKey), signed, signatures);
  } else {
    id = header('x-webhook-id');
    const signature = (header('x-webhook-signature') ?? '').replace(/^sha256=/i, '');
    await verify(secrets.map(encode), body, [toBase64(signature)]);
  }
  const version = Number(header('x-webhook-resource-version') ?? Number.NaN);
  const occurredAt = header('x-webhook-occurred-at');
  try {
    return {
      id: id ?? '',
      event: JSON.parse(new TextDecoder().decode(body)) as WebhookEvent,
      resourceVersion: Number.isNaN(version) ? null : version,
      occurredAt: occurredAt === null ? null : new Date(occurredAt),
    };
  } catch {
    throw new WebhookError('The body is no JSON');
  }
}

function headerOf(headers: HeadersOf, name: string): string | null {
  // Not by its class: that of another realm, or of a package, is another one.
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? null;
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : (value?.[0] ?? null);
}

type Bytes = Uint8Array<ArrayBuffer>;

async function bodyOf(request: WebhookRequest): Promise<Bytes> {
  if ('arrayBuffer' in request) return readAll(request.body);
  const { body } = request;
  if (typeof body === 'string') return limited(encode(body));
  if (body instanceof Uint8Array) return limited(new Uint8Array(body));
  if (body !== undefined || !(Symbol.asyncIterator in request))
    throw new TypeError('The signature is of the raw body: read the webhook before a parser of JSON does');
  let bytes: Bytes = new Uint8Array();
  for await (const chunk of request) bytes = limited(concat(bytes, chunk));
  return bytes;
}

/** Reads the body of a Request, no further than the limit. */
async function readAll(stream: ReadableStream<Bytes> | null): Promise<Bytes> {
  const reader = stream?.getReader();
  let bytes: Bytes = new Uint8Array();
  for (;;) {
    const part = await reader?.read();
    if (!part || part.done) return bytes;
    bytes = limited(concat(bytes, part.value));
  }
}

function limited(bytes: Bytes): Bytes {
  if (bytes.length > MAX_BYTES) throw new WebhookError('The body is too large');
  return bytes;
}

/** @throws WebhookError unless one of the signatures is by one of the keys; compared in constant time. */
async function verify(keys: readonly Bytes[], signed: Bytes, signatures: readonly string[]): Promise<void> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    for (const signature of signatures.slice(0, 10))
      if (await crypto.subtle.verify('HMAC', key, fromBase64(signature), signed)) return;
  }
  throw new WebhookError('The signature is not of this secret');
}

const SECRET_PREFIX = 'whsec_';

function noSecret(): TypeError {
  return new TypeError('The secret is not one of webhooks: whsec_…');
}

function standardKey(secret: string): Bytes {
  const key = fromBase64(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret);
  if (key.length === 0) throw noSecret();
  return key;
}

/** The signature of the document may be hex or base64. */
function toBase64(signature: string): string {
  if (!/^[0-9a-f]{64}$/i.test(signature)) return signature;
  const bytes = signature.match(/../g)?.map((pair) => Number.parseInt(pair, 16)) ?? [];
  return btoa(String.fromCharCode(...bytes));
}

/** Empty for a text that is no base64. */
function fromBase64(text: string): Bytes {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function encode(text: string): Bytes {
  return new Uint8Array(new TextEncoder().encode(text));
}

function concat(left: Bytes, right: Uint8Array): Bytes {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}
