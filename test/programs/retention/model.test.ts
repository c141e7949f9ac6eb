import { expect, test } from 'vitest';
import { DEFAULT_KEEP, KEEP_ALL, parseKeep } from '../../../server/src/programs/retention/model.ts';

test('PSA_KEEP names days, or forever, and what it leaves out is kept as by default', () => {
  expect(parseKeep('events:90d,deliveries:90d,bodies:14d,tokens:90d')).toEqual(DEFAULT_KEEP);
  expect(parseKeep('events:30d')).toEqual({ ...DEFAULT_KEEP, events: 30 });
  expect(parseKeep(' tokens:forever , bodies:1d ')).toEqual({ ...DEFAULT_KEEP, tokens: null, bodies: 1 });
  expect(parseKeep('forever')).toEqual(KEEP_ALL);
});

test.each([
  '',
  'events',
  'events:29d',
  'events:90',
  'events:-90d',
  'events:9e1d',
  'events:36501d',
  'bodies:0d',
  'event:90d',
  'Events:90d',
  'events:90d,',
  'events:90d,events:60d',
  'events:90d;tokens:90d',
  'forever,events:90d',
  '__proto__:90d',
])('PSA_KEEP is not %j', (text) => {
  expect(parseKeep(text)).toBeNull();
});
