import { afterEach, expect, test } from 'vitest';
import { parseInstant } from '../../server/src/kernel/instant.ts';

const { TZ } = process.env;
afterEach(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

test.each([
  ['2026-03-02T12:00:00.000Z', '2026-03-02T12:00:00.000Z'],
  ['2026-03-02T12:00:00z', '2026-03-02T12:00:00.000Z'],
  ['2026-03-02T12:00', '2026-03-02T12:00:00.000Z'],
  ['2026-03-02T12:00:00.5', '2026-03-02T12:00:00.500Z'],
  ['2026-03-02T12:00:00.123456789Z', '2026-03-02T12:00:00.123Z'],
  ['2026-03-02T23:30:00-03:00', '2026-03-03T02:30:00.000Z'],
  ['2026-03-02T23:30-0300', '2026-03-03T02:30:00.000Z'],
  ['2024-02-29T00:00Z', '2024-02-29T00:00:00.000Z'],
  ['2026-03-01T24:00Z', '2026-03-02T00:00:00.000Z'],
])('%s is an instant, the same on a machine of any zone', (text, instant) => {
  for (const zone of ['UTC', 'America/Sao_Paulo', 'Asia/Tokyo']) {
    process.env.TZ = zone;
    expect(parseInstant(text)?.toISOString()).toBe(instant);
  }
});

test.each([
  ...['', 'ontem', '2026', '2026-03-02', '2026-03-02T12', '2026-03-02 12:00Z', ' 2026-03-02T12:00Z'],
  ...['2026-02-29T00:00Z', '2026-02-30T00:00Z', '2026-04-31T12:00:00-03:00', '2026-00-10T00:00Z'],
  ...[
    '2026-13-01T00:00Z',
    '2026-03-00T00:00Z',
    '2026-03-02T25:00Z',
    '2026-03-02T12:60Z',
    '2026-03-02T24:01Z',
  ],
  ...['2026-03-02T12:00Zx', '2026-03-02T12:00:00,5Z', '2026-03-02T12:00+99:99', '+002026-03-02T12:00Z'],
])('%j is no instant', (text) => {
  expect(parseInstant(text)).toBeNull();
});
