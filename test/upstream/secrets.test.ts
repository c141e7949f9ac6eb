import { describe, expect, test } from 'vitest';
import { createRedaction, withoutWords } from '../../server/src/upstream/secrets.ts';

const KEY = 'ps_live_7Qm2xK9vT4nB8wR1cL6yH3pZ';
const WEBHOOK = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const { text, json } = createRedaction([KEY, WEBHOOK, 'kurz']);
const own = KEY.replace('ps_live_', '');
const bytes = Buffer.from(WEBHOOK.replace('whsec_', ''), 'base64');

const percent = (value: string) =>
  [...value].map((letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');

/** Whether a text contains a part of the secret that must not remain, as it is or decoded. */
function leaks(shown: string): boolean {
  const readings = [
    shown,
    decodeURIComponent(shown.replace(/%(?![0-9a-f]{2})/gi, '')),
    ...(shown.match(/[\w+/-]{8,}/g) ?? []).flatMap((run) =>
      [0, 1, 2, 3].map((at) => Buffer.from(run.slice(at), 'base64').toString('latin1')),
    ),
    ...(shown.match(/[0-9a-f]{8,}/gi) ?? []).map((run) => Buffer.from(run, 'hex').toString('latin1')),
  ];
  return readings.some((reading) =>
    [...own].some((_, at) => at + 12 <= own.length && reading.includes(own.slice(at, at + 12))),
  );
}

describe('the configured secrets in what the service says', () => {
  test.each([
    ['as it is', KEY],
    ['without its beginning', own],
    ['in capitals', KEY.toUpperCase()],
    ['behind an underscore', `x_${KEY}_y`],
    ['behind an encoded space', `Bearer%20${KEY}`],
    ['percent-encoded', percent(KEY)],
    ['percent-encoded twice', percent(KEY).replaceAll('%', '%25')],
    ['percent-encoded in part', KEY.replaceAll('_', '%5F').replace('7', '%37')],
    ['escaped as JSON does', [...KEY].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('')],
    ['escaped as HTML does', [...KEY].map((c) => `&#${c.charCodeAt(0)};`).join('')],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64 behind one character', Buffer.from(`x${KEY}`).toString('base64')],
    ['in the base64 of a header', Buffer.from(`authorization: Bearer ${KEY}\r\n`).toString('base64')],
    ['in base64url', Buffer.from(`??${KEY}`).toString('base64url')],
    ['in hex', Buffer.from(KEY).toString('hex')],
    ['in the hex of capitals', Buffer.from(KEY).toString('hex').toUpperCase()],
    [
      'in hex with colons',
      Buffer.from(KEY)
        .toString('hex')
        .replace(/..(?=.)/g, '$&:'),
    ],
    ['broken by spaces', KEY.replace(/.{5}/g, '$& ')],
    ['cut at its end', `${KEY.slice(0, 24)}...`],
    ['cut at its beginning', `...${KEY.slice(-14)}`],
    ['of a webhook', WEBHOOK],
    ['of a webhook, as its bytes in hex', bytes.toString('hex')],
  ])('A key is removed from a text %s', (_, shown) => {
    const redacted = text(`The key ${shown} is not valid`);
    expect(redacted).toContain('…');
    expect(redacted.startsWith('The key ')).toBe(true);
    expect(redacted.endsWith(' is not valid')).toBe(true);
    expect(leaks(redacted)).toBe(false);
    expect(redacted.includes(bytes.toString('hex').slice(8, 40))).toBe(false);
  });

  test('A text without a secret stays as it is, and a short secret is removed whole', () => {
    for (const shown of [
      'Saldo insuficiente',
      'keys begin with ps_live_',
      own.slice(0, 8),
      'a%20b',
      '\\u0041',
    ])
      expect(text(shown)).toBe(shown);
    expect(text('kurz')).toBe('…');
  });

  test('Each text of a body is read, the names of its members too', () => {
    const body = { error: KEY, list: [{ [`x${KEY}`]: 1, ok: 'Ana' }], amount: 7, none: null };
    expect(json(body, JSON.stringify(body))).toEqual({
      error: expect.not.stringContaining(own),
      list: [{ [text(`x${KEY}`)]: 1, ok: 'Ana' }],
      amount: 7,
      none: null,
    });
    const clean = { error: 'Saldo insuficiente' };
    expect(json(clean, JSON.stringify(clean))).toBe(clean);
  });

  test('Without secrets nothing is removed, and a payer reads no words of a refusal', () => {
    expect(createRedaction(['', 'abc']).text('abc')).toBe('abc');
    expect(withoutWords({ error: 'Olá', code: 1 })).toEqual({
      error: 'The payments service refuses this',
      code: 1,
    });
    expect(withoutWords([])).toEqual([]);
  });
});
