import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/** Generates a secret of 192 random bits, in the form of Standard Webhooks. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(24).toString('base64');
}

/**
 * Builds the headers with which a receiver verifies the sender and identifies the delivery (the document's
 * section 6). The document's own signature is an HMAC-SHA256 of the body in hex, keyed with the newest
 * secret's bytes as they stand. Those of Standard Webhooks, one for each secret, are keyed with its decoded
 * base64, so that stock libraries verify them. `secrets`: newest first. `at`: the instant of this attempt.
 * Deliveries may arrive out of order: a receiver orders them by the version and the instant of the state.
 */
export function signedHeaders({
  webhookId,
  resourceVersion = null,
  occurredAt = null,
  body,
  secrets,
  at,
}: {
  webhookId: string;
  resourceVersion?: number | null;
  occurredAt?: Date | null;
  body: string;
  secrets: readonly string[];
  at: Date;
}): Record<string, string> {
  const timestamp = timestampOf(at);
  const standard = secrets.map((secret) => standardSignature(secret, { webhookId, timestamp, body }));
  return {
    'x-webhook-id': webhookId,
    'x-webhook-signature': createHmac('sha256', secrets[0]!).update(body).digest('hex'),
    ...(resourceVersion !== null && { 'x-webhook-resource-version': String(resourceVersion) }),
    ...(occurredAt && { 'x-webhook-occurred-at': occurredAt.toISOString() }),
    'webhook-id': webhookId,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.join(' '),
  };
}

/** Receivers refuse a timestamp that is further away than this. */
const TOLERANCE_MS = 5 * 60_000;
/** The age up to which the headers of a relayed webhook stay unchanged. */
const UNCHANGED_MS = 4 * 60_000;

/**
 * Signs the Standard Webhooks headers of a relayed webhook again, with all secrets, if their timestamp is too
 * old for a receiver. Returns them unchanged if they are recent, were too old on arrival, or have no
 * signature by one of the secrets.
 */
export function signedAgain(
  headers: Record<string, string>,
  { body, secrets, cameAt, at }: { body: string; secrets: readonly string[]; cameAt: Date; at: Date },
): Record<string, string> {
  const { 'webhook-id': webhookId, 'webhook-timestamp': signedAt } = headers;
  const signatures = headers['webhook-signature']?.split(' ');
  if (webhookId === undefined || signedAt === undefined || !signatures) return headers;
  const signedMs = Number(signedAt) * 1_000;
  const wasRecent = Math.abs(cameAt.getTime() - signedMs) <= TOLERANCE_MS;
  if (!wasRecent || at.getTime() - signedMs <= UNCHANGED_MS) return headers;
  const sign = (timestamp: string) =>
    secrets.map((secret) => standardSignature(secret, { webhookId, timestamp, body }));
  if (!sign(signedAt).some((signature) => signatures.includes(signature))) return headers;
  const timestamp = timestampOf(at);
  return { ...headers, 'webhook-timestamp': timestamp, 'webhook-signature': sign(timestamp).join(' ') };
}

/** An instant in whole seconds, as Standard Webhooks has it. */
const timestampOf = (at: Date) => String(Math.floor(at.getTime() / 1_000));

/** One signature of Standard Webhooks. */
function standardSignature(
  secret: string,
  { webhookId, timestamp, body }: { webhookId: string; timestamp: string; body: string },
): string {
  const key = Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${webhookId}.${timestamp}.${body}`).digest('base64')}`;
}

/**
 * Whether the service has signed these bytes (the document's X-Webhook-Signature): HMAC-SHA256 with one of
 * the secrets, keyed with its UTF-8 bytes as they stand, in hex or base64, with or without the prefix
 * `sha256=`. It takes the same time for every signature, and for every secret.
 */
export function isSignedWith(secrets: readonly string[], body: Buffer, signature: string): boolean {
  const presented = digest(signatureBytes(signature));
  let signed = false;
  for (const secret of secrets) {
    const expected = digest(createHmac('sha256', secret).update(body).digest());
    signed = timingSafeEqual(presented, expected) || signed;
  }
  return signed;
}

const HEX = /^[0-9a-f]{64}$/i;
/** The base64 of 32 bytes without stray bits: a signature has one spelling. */
const BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Decodes a signature; empty if it is malformed, so that no secret matches. */
function signatureBytes(signature: string): Buffer {
  const text = signature.replace(/^sha256=/i, '');
  if (HEX.test(text)) return Buffer.from(text, 'hex');
  return Buffer.from(BASE64.test(text) ? text : '', 'base64');
}

/** Hashes a signature, so that two of any length can be compared in constant time. */
function digest(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
