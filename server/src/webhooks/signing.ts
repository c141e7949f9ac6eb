import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/** 192 random bits, as Standard Webhooks writes a secret. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(24).toString('base64');
}

/**
 * The headers by which a receiver knows the sender and the delivery (the document's section 6): the document's own,
 * an HMAC-SHA256 of the body in hex keyed with the secret's bytes as they stand; and those of Standard Webhooks, keyed
 * with what the secret's base64 says, so that stock libraries verify it. `at`: of this attempt. Deliveries may arrive in
 * another order than things happened: by the version and the instant of the state a receiver puts them in order.
 */
export function signedHeaders({
  webhookId,
  resourceVersion = null,
  occurredAt = null,
  body,
  secret,
  at,
}: {
  webhookId: string;
  resourceVersion?: number | null;
  occurredAt?: Date | null;
  body: string;
  secret: string;
  at: Date;
}): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1_000);
  const standardKey = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return {
    'x-webhook-id': webhookId,
    'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
    ...(resourceVersion !== null && { 'x-webhook-resource-version': String(resourceVersion) }),
    ...(occurredAt && { 'x-webhook-occurred-at': occurredAt.toISOString() }),
    'webhook-id': webhookId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${createHmac('sha256', standardKey).update(`${webhookId}.${timestamp}.${body}`).digest('base64')}`,
  };
}

/**
 * Whether the service has signed these bytes (the document's X-Webhook-Signature): HMAC-SHA256 under one of the secrets,
 * each as its UTF-8 bytes stand, written in hex or base64, with `sha256=` before it or without. Takes as long whatever
 * the signature says, and whichever secret it is.
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
/** 32 bytes and no stray bits: of two texts that say the same, one. */
const BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** None where it is no signature at all, which no secret gives. */
function signatureBytes(signature: string): Buffer {
  const text = signature.replace(/^sha256=/i, '');
  if (HEX.test(text)) return Buffer.from(text, 'hex');
  return Buffer.from(BASE64.test(text) ? text : '', 'base64');
}

/** Compares two signatures of one length in constant time. */
function digest(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
