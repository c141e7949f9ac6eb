import type { WebhookEnvelope, WebhookEvent } from './webhook-events.generated.ts';

type HeadersOf = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * A `Request`, Hono's own, an incoming message of Node's, the event of a Lambda, or a request whose raw body was read: as `body` or
 * `rawBody`, text or bytes.
 */
export type WebhookRequest =
  | { headers: HeadersOf; arrayBuffer(): unknown; body: ReadableStream<Uint8Array<ArrayBuffer>> | null }
  | { raw: Request; arrayBuffer(): Promise<ArrayBuffer> }
  | { headers: HeadersOf; body: string | Uint8Array; isBase64Encoded?: boolean | undefined }
  | { headers: HeadersOf; rawBody: string | Uint8Array }
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
   * The same on each attempt: deduplicate by it. It is that of the body, which is signed, or else of the headers. Empty if a
   * sender of `scheme: 'document'` gives none: then deduplicate by the resource and its status.
   */
  id: string;
  event: WebhookEvent;
  /** A number that grows with each change of the resource; null if the sender does not report it. */
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
 * @throws WebhookError; TypeError for a mistake of the program: its secret, or a body that it has read or parsed before. The message of
 * each names its cause
 */
export async function verifyWebhook(
  request: WebhookRequest,
  { secret, scheme = 'standard', toleranceSeconds = 300, now = () => new Date() }: VerifyOptions,
): Promise<Webhook> {
  const headers = headersOf(request);
  const header = (name: string) => headerOf(headers, name);
  const secrets = [secret].flat();
  // The secret is empty if it comes from a variable of the environment that is not set.
  if (secrets.some((each) => !each)) throw noSecret();
  const body = await bodyOf(request);
  if (body.length === 0) {
    if (Number(header('content-length')) > 0) throw readBefore();
    throw new WebhookError('The body is empty');
  }
  const ofDocument = header('x-webhook-signature');
  let id: string | null;
  if (scheme === 'standard') {
    id = header('webhook-id');
    const timestamp = header('webhook-timestamp');
    const signature = header('webhook-signature');
    if (!id || !timestamp || !signature) throw new WebhookError(ofDocument ? DOCUMENT_ALONE : UNSIGNED);
    const signatures = signature.split(' ').flatMap((each) => {
      const [version, value] = each.split(',');
      return version === 'v1' && value ? [value] : [];
    });
    const ageSeconds = now().getTime() / 1_000 - Number(timestamp);
    if (!(Math.abs(ageSeconds) <= toleranceSeconds)) throw new WebhookError(ageMessage(ageSeconds));
    const signed = concat(encode(`${id}.${timestamp}.`), body);
    await verify(secrets.map(standardKey), signed, signatures, body);
  } else {
    id = header('x-webhook-id');
    if (!ofDocument) throw new WebhookError('The request has no X-Webhook-Signature: it is no webhook');
    await verify(secrets.map(encode), body, [toBase64(ofDocument.replace(/^sha256=/i, ''))], body);
  }
  const event = parse(body);
  const envelope = envelopeIn(event);
  const version = envelope?.version ?? Number(header('x-webhook-resource-version') ?? Number.NaN);
  const occurredAt = envelope?.occurredAt ?? header('x-webhook-occurred-at');
  return {
    id: envelope?.id ?? id ?? '',
    event,
    resourceVersion: Number.isNaN(version) ? null : version,
    occurredAt: occurredAt === null ? null : new Date(occurredAt),
  };
}

/** @throws WebhookError */
function parse(body: Bytes): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
  } catch {
    throw new WebhookError('The body is no JSON');
  }
}

/**
 * The envelope of a body; null if it has none: that of another service, or one that was written before there were envelopes. All
 * of its members are looked at, because a body may have an `id` that is not the event's.
 */
function envelopeIn(event: WebhookEvent): WebhookEnvelope | null {
  const { id, version, occurredAt, resource } = (event ?? {}) as Partial<WebhookEnvelope>;
  const isWhole =
    typeof id === 'string' &&
    typeof version === 'number' &&
    typeof occurredAt === 'string' &&
    typeof resource?.type === 'string';
  return isWhole ? (event as WebhookEnvelope) : null;
}

const UNSIGNED =
  'The request has no webhook-id, webhook-timestamp or webhook-signature: it is no webhook, or a proxy has left them out';
const DOCUMENT_ALONE =
  "The request has X-Webhook-Signature and no webhook-signature: verify it with scheme: 'document', if its sender has no other";

function ageMessage(ageSeconds: number): string {
  if (Number.isNaN(ageSeconds)) return 'The webhook-timestamp is no number';
  const seconds = `${Math.abs(Math.round(ageSeconds))} s`;
  return ageSeconds > 0
    ? `The webhook is ${seconds} old: it was sent again, or the clock of this server is wrong`
    : `The webhook comes ${seconds} before its time: the clock of this server is wrong`;
}

function headersOf(request: WebhookRequest): HeadersOf {
  const headers = 'raw' in request && request.raw instanceof Object ? request.raw.headers : undefined;
  const found = ('headers' in request && request.headers) || headers;
  if (!found) throw new TypeError('The request has no headers: pass { headers, body } with the raw body');
  return found;
}

function headerOf(headers: HeadersOf, name: string): string | null {
  // Not by its class: that of another realm, or of a package, is another one.
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? null;
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : (value?.[0] ?? null);
}

type Bytes = Uint8Array<ArrayBuffer>;

async function bodyOf(request: WebhookRequest): Promise<Bytes> {
  const { body, rawBody, bodyUsed, readableDidRead, isBase64Encoded } = request as {
    body?: unknown;
    rawBody?: unknown;
    bodyUsed?: boolean;
    readableDidRead?: boolean;
    isBase64Encoded?: boolean;
  };
  for (const given of [rawBody, body]) {
    if (typeof given === 'string') return limited(isBase64Encoded ? fromBase64(given) : encode(given));
    // Not by its class: that of another realm is another one.
    if (ArrayBuffer.isView(given))
      return limited(new Uint8Array(given.buffer as ArrayBuffer, given.byteOffset, given.byteLength).slice());
  }
  if ('arrayBuffer' in request) {
    // Hono's request gives the body again that it has read itself.
    if ('raw' in request) {
      if (!request.raw.bodyUsed) return readAll(request.raw.body);
      return limited(
        new Uint8Array(
          await request.arrayBuffer().catch((): never => {
            throw readBefore();
          }),
        ),
      );
    }
    if (bodyUsed) throw readBefore();
    return readAll(request.body);
  }
  if (body !== undefined && body !== null)
    throw new TypeError(
      'The body was parsed before, and its signature is of the raw body: verify the webhook before a parser of JSON, or pass { headers, body } with the text or the bytes that came',
    );
  if (readableDidRead) throw readBefore();
  if (!(Symbol.asyncIterator in request)) {
    // As a Lambda gets a request without one.
    if (body === null) return new Uint8Array();
    throw new TypeError('The request has no body to read: pass { headers, body } with the raw body');
  }
  let bytes: Bytes = new Uint8Array();
  for await (const chunk of request) bytes = limited(concat(bytes, chunk));
  return bytes;
}

function readBefore(): TypeError {
  return new TypeError(
    'The body was read before: verify the webhook before something else reads it, or pass { headers, body } with the text or the bytes that came',
  );
}

/** Reads the body of a Request, no further than the limit. */
async function readAll(stream: ReadableStream<Bytes> | null): Promise<Bytes> {
  if (stream?.locked) throw readBefore();
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
async function verify(
  keys: readonly Bytes[],
  signed: Bytes,
  signatures: readonly string[],
  body: Bytes,
): Promise<void> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    for (const signature of signatures.slice(0, 10))
      if (await crypto.subtle.verify('HMAC', key, fromBase64(signature), signed)) return;
  }
  const text = new TextDecoder().decode(body);
  if (!/^\s*[{[]/.test(text) && fromBase64(text)[0] === OPENING_BRACE)
    throw new WebhookError(
      'The body is in base64, as some gateways pass it on: decode it, or pass the event of the Lambda with its isBase64Encoded',
    );
  throw new WebhookError(
    'The signature is not of this secret, or the body is not byte for byte what came: not one that was parsed and written again',
  );
}

/** The first byte of each webhook's body. */
const OPENING_BRACE = 0x7b;

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
