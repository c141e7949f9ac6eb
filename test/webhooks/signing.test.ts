import { createHmac } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  isSignedWith,
  newWebhookSecret,
  signedAgain,
  signedHeaders,
} from '../../server/src/webhooks/signing.ts';

const AT = new Date('2026-03-02T12:00:00.900Z');
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"event":"card_payment.paid","metadata":"{\\"pão\\": 1}"}';

function signed(): Record<string, string> {
  return signedHeaders({ webhookId: 'whd_1', body: BODY, secrets: [SECRET], at: AT });
}

describe('a signature', () => {
  // The verifier uses the system's time.
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

test('The headers of a delivery say which state it reports, where that is known, and sign with each secret', () => {
  const headers = signedHeaders({
    webhookId: 'whd_1',
    resourceVersion: 7,
    occurredAt: new Date('2026-03-02T11:59:00.000Z'),
    body: BODY,
    secrets: [SECRET, 'whsec_AAAA'],
    at: AT,
  });
  expect(headers).toMatchObject({
    ...signed(),
    'x-webhook-resource-version': '7',
    'x-webhook-occurred-at': '2026-03-02T11:59:00.000Z',
    'webhook-signature': expect.stringMatching(/^v1,Ha7g\S+ v1,\S+$/),
  });
  expect(headers['webhook-signature']!.split(' ')[1]).toBe(
    signedHeaders({ webhookId: 'whd_1', body: BODY, secrets: ['whsec_AAAA'], at: AT })['webhook-signature'],
  );
});

describe('a relayed webhook', () => {
  /** An instant after that of the signature, which has whole seconds. */
  const behind = (ms: number) => new Date(Math.floor(AT.getTime() / 1_000) * 1_000 + ms);
  const again = (headers: Record<string, string>, at: Date, { cameAt = AT, secrets = [SECRET] } = {}) =>
    signedAgain(headers, { body: BODY, secrets, cameAt, at });

  test('A relayed webhook is signed again, with all secrets, once it is more than four minutes old', () => {
    const other = newWebhookSecret();
    expect(again(signed(), behind(240_000))).toEqual(signed());
    const late = again(signed(), behind(240_001), { secrets: [other, SECRET] });
    const fresh = signedHeaders({
      webhookId: 'whd_1',
      body: BODY,
      secrets: [other, SECRET],
      at: behind(240_001),
    });
    expect(late).toEqual({
      ...signed(),
      'webhook-timestamp': fresh['webhook-timestamp'],
      'webhook-signature': fresh['webhook-signature'],
    });
  });

  test('A relayed webhook that was old when it came stays as it came', () => {
    const later = { cameAt: behind(300_001) };
    expect(again(signed(), behind(400_000), later)).toEqual(signed());
    expect(again(signed(), behind(400_000), { cameAt: behind(-300_001) })).toEqual(signed());
    expect(again(signed(), behind(400_000), { cameAt: behind(300_000) })).not.toEqual(signed());
  });

  test('A relayed webhook that no secret has signed stays as it came', () => {
    expect(again(signed(), behind(400_000), { secrets: [newWebhookSecret()] })).toEqual(signed());
    const both = { ...signed(), 'webhook-signature': `v1,AAAA ${signed()['webhook-signature']}` };
    expect(again(both, behind(400_000))['webhook-timestamp']).toBe('1772453200');
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
    'A relayed webhook without %s stays as it came',
    (name) => {
      const { [name]: _, ...rest } = signed();
      expect(again(rest, behind(400_000))).toEqual(rest);
    },
  );
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
    // An HMAC has 32 bytes: an empty one must not equal an empty secret's.
    expect(isSignedWith(['', ONE], Buffer.alloc(0), '')).toBe(false);
  });
});
