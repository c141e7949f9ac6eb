import { expect, test } from 'vitest';
import { secondsLeft } from '../../server/src/kernel/clock.ts';
import { knownBy } from '../../server/src/kernel/doubts.ts';
import { readInstant } from '../../server/src/kernel/lenient-json.ts';
import { createManualClock } from '../support/clock.ts';

const AT = new Date('2026-03-02T12:00:00.000Z');

test('A payout in doubt is known a quarter of an hour after its request, and another has no such time', () => {
  expect(knownBy({ inDoubt: true, requestedAt: AT })).toEqual(new Date('2026-03-02T12:15:00.000Z'));
  for (const payout of [
    { requestedAt: AT },
    { inDoubt: false, requestedAt: AT },
    { inDoubt: true, requestedAt: null },
  ])
    expect(knownBy(payout)).toBeNull();
});

test('The seconds until the year 9999 are a number of GraphQL, and no later year is read', () => {
  const last = readInstant('9999-12-31T23:59:59.999Z');
  expect(secondsLeft(last!, createManualClock(AT))).toBe(2_147_483_647);
  expect(readInstant('9999-12-31T23:59:59.999-14:00')).toBeNull();
});
