import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/** 192 random bits, as Standard Webhooks writes a secret. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(24).toString('base64');
}

/**
 * The headers by which a receiver knows the sender and the delivery (the document's section 6): the document's own,
 * an HMAC-SHA256 of the body in hex keyed with the secret's bytes as they stand; and those of Standard Webhooks, keyed
 * with what the secret's base64 says, so that stock libraries verify it. `at`: of this attempt.
 */
export function signedHeaders({
  webhookId,
  body,
  secret,
  at,
}: {
  webhookId: string;
  body: string;
  secret: string;
  at: Date;
}): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1_000);
  const standardKey = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return {
    'x-webhook-id': webhookId,
    'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
    'webhook-id': webhookId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${createHmac('sha256', standardKey).update(`${webhookId}.${timestamp}.${body}`).digest('base64')}`,
  };
}
