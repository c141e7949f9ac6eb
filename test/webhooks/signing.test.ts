import { createHmac } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newWebhookSecret, signedHeaders } from '../../server/src/webhooks/signing.ts';

const AT = new Date('2026-03-02T12:00:00.900Z');
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"event":"card_payment.paid","metadata":"{\\"pão\\": 1}"}';
const headers = signedHeaders({ webhookId: 'whd_1', body: BODY, secret: SECRET, at: AT });

describe('a signature', () => {
  // The verifier asks the machine for the hour.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: AT });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is always the same for the same message', () => {
    expect(headers).toEqual({
      'x-webhook-id': 'whd_1',
      'x-webhook-signature': '28d1fcd004ee2c41b5363f5c64efec0d560c185aba3c925bb634a936e59aa631',
      'webhook-id': 'whd_1',
      'webhook-timestamp': '1772452800',
      'webhook-signature': 'v1,Ha7gVuEmtux79kD6tgKQczVF/pIXRkCF4/+rUYTAEgY=',
    });
  });

  test('of the document is the hex HMAC-SHA256 of the raw body, keyed with the secret as it stands', () => {
    expect(headers['x-webhook-signature']).toBe(
      createHmac('sha256', Buffer.from(SECRET, 'utf8')).update(Buffer.from(BODY, 'utf8')).digest('hex'),
    );
  });

  test('is accepted by a stock verifier, with every secret that we make', () => {
    for (const secret of [SECRET, newWebhookSecret(), newWebhookSecret()]) {
      const signed = signedHeaders({ webhookId: 'whd_1', body: BODY, secret, at: AT });
      expect(new Webhook(secret).verify(BODY, signed)).toEqual(JSON.parse(BODY));
    }
  });

  test('is refused by it for every byte of the body that is changed', () => {
    const verifier = new Webhook(SECRET);
    const bytes = Buffer.from(BODY);
    for (let place = 0; place < bytes.length; place += 1) {
      const changed = Buffer.from(bytes);
      changed[place]! ^= 1;
      expect(() => verifier.verify(changed, headers)).toThrow(WebhookVerificationError);
    }
  });

  test.each([
    ['another id', { 'webhook-id': 'whd_2' }],
    ['another time', { 'webhook-timestamp': '1772452801' }],
    ['no time', { 'webhook-timestamp': '' }],
    ['another signature', { 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }],
    ['another version', { 'webhook-signature': headers['webhook-signature']!.replace('v1', 'v2') }],
  ])('is refused by it with %s', (_, changed) => {
    expect(() => new Webhook(SECRET).verify(BODY, { ...headers, ...changed })).toThrow(
      WebhookVerificationError,
    );
  });

  test('is refused by it with another secret', () => {
    expect(() => new Webhook(newWebhookSecret()).verify(BODY, headers)).toThrow(WebhookVerificationError);
  });
});

test('secrets are 192 random bits in base64 behind their prefix', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(24);
  }
});
