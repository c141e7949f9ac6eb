import { createHmac } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isSignedWith, newWebhookSecret, signedHeaders } from '../../server/src/webhooks/signing.ts';

const AT = new Date('2026-03-02T12:00:00.900Z');
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"event":"card_payment.paid","metadata":"{\\"pão\\": 1}"}';

function signed(): Record<string, string> {
  return signedHeaders({ webhookId: 'whd_1', body: BODY, secrets: [SECRET], at: AT });
}

describe('a signature', () => {
  // The verifier asks the machine for the hour.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: AT });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('A signature is always the same for the same message', () => {
    expect(signed()).toEqual({
      'x-webhook-id': 'whd_1',
      'x-webhook-signature': '28d1fcd004ee2c41b5363f5c64efec0d560c185aba3c925bb634a936e59aa631',
      'webhook-id': 'whd_1',
      'webhook-timestamp': '1772452800',
      'webhook-signature': 'v1,Ha7gVuEmtux79kD6tgKQczVF/pIXRkCF4/+rUYTAEgY=',
    });
  });

  test('The document’s signature is the hex HMAC-SHA256 of the raw body, keyed with the secret as text', () => {
    expect(signed()['x-webhook-signature']).toBe(
      createHmac('sha256', Buffer.from(SECRET, 'utf8')).update(Buffer.from(BODY, 'utf8')).digest('hex'),
    );
  });

  test('A standard verifier accepts a signature with every secret that the server makes', () => {
    for (const secret of [SECRET, newWebhookSecret(), newWebhookSecret()]) {
      const headers = signedHeaders({ webhookId: 'whd_1', body: BODY, secrets: [secret], at: AT });
      expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
    }
  });

  test('A standard verifier refuses a body with any changed byte', () => {
    const verifier = new Webhook(SECRET);
    const bytes = Buffer.from(BODY);
    for (let place = 0; place < bytes.length; place += 1) {
      const changed = Buffer.from(bytes);
      changed[place]! ^= 1;
      expect(() => verifier.verify(changed, signed())).toThrow(WebhookVerificationError);
    }
  });

  test.each([
    ['another id', { 'webhook-id': 'whd_2' }],
    ['another time', { 'webhook-timestamp': '1772452801' }],
    ['no time', { 'webhook-timestamp': '' }],
    ['another signature', { 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` }],
    ['another version', { 'webhook-signature': 'v2,Ha7gVuEmtux79kD6tgKQczVF/pIXRkCF4/+rUYTAEgY=' }],
  ])('A standard verifier refuses a message with %s', (_, changed) => {
    expect(() => new Webhook(SECRET).verify(BODY, { ...signed(), ...changed })).toThrow(
      WebhookVerificationError,
    );
  });

  test('A standard verifier refuses a message with another secret', () => {
    expect(() => new Webhook(newWebhookSecret()).verify(BODY, signed())).toThrow(WebhookVerificationError);
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

describe('a signature of the service', () => {
  const BYTES = Buffer.from(BODY);
  const [ONE, OTHER] = ['whsec_one', 'another secret'];
  const sign = (secret: string, body = BYTES) => createHmac('sha256', secret).update(body).digest();
  const HEX = sign(ONE).toString('hex');
  const BASE64 = sign(ONE).toString('base64');

  test.each([HEX, HEX.toUpperCase(), `sha256=${HEX}`, `SHA256=${HEX}`, BASE64, `sha256=${BASE64}`])(
    'A signature of the service is accepted as %s',
    (signature) => {
      expect(isSignedWith([ONE], BYTES, signature)).toBe(true);
    },
  );

  test('A signature is accepted with each known secret, in any position, and with no other', () => {
    for (const secrets of [
      [ONE, OTHER],
      [OTHER, ONE],
      [OTHER, ONE, OTHER],
    ])
      expect(isSignedWith(secrets, BYTES, HEX)).toBe(true);
    expect(isSignedWith([OTHER], BYTES, HEX)).toBe(false);
    expect(isSignedWith([], BYTES, HEX)).toBe(false);
  });

  test('A signature of the service is valid for its own bytes alone', () => {
    for (let place = 0; place < BYTES.length; place += 1) {
      const changed = Buffer.from(BYTES);
      changed[place]! ^= 1;
      expect(isSignedWith([ONE], changed, HEX)).toBe(false);
      expect(isSignedWith([ONE], BYTES, sign(ONE, changed).toString('hex'))).toBe(false);
    }
  });

  test.each([
    '',
    'sha256=',
    ` ${HEX}`,
    `${HEX} `,
    `${HEX}00`,
    `00${HEX}`,
    `${HEX}zz`,
    HEX.slice(2),
    HEX.slice(0, -2),
    `${BASE64} `,
    ` ${BASE64}`,
    `AAAA${BASE64}`,
    `${BASE64}AAAA`,
    BASE64.slice(0, -1),
    BASE64.slice(4),
    `x${HEX}`,
    `v1,${BASE64}`,
    `${HEX}sha256=`,
    `sha256=sha256=${HEX}`,
    `sha1=${HEX}`,
    sign(ONE).toString('base64url'),
  ])('A text that is no signature is refused: %j', (signature) => {
    expect(isSignedWith([ONE], BYTES, signature)).toBe(false);
  });

  test('A signature has one text in base64, and is refused with stray bits', () => {
    const last = BASE64.at(-2)!;
    const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    for (const letter of ALPHABET)
      expect(isSignedWith([ONE], BYTES, `${BASE64.slice(0, -2)}${letter}=`)).toBe(letter === last);
  });

  test('An empty signature is refused, whatever the secret', () => {
    // An HMAC is 32 bytes: none is the same as nothing at all.
    expect(isSignedWith(['', ONE], Buffer.alloc(0), '')).toBe(false);
  });
});
