import { expect, test } from 'vitest';
import { offeredActions } from '../../../server/src/programs/console/offered.ts';

test.each([
  [null, ['refund', 'defence', 'cancel', 'accept', 'cancelSubscription', 'content']],
  [[], []],
  [['payments', 'refunds'], ['refund']],
  [
    ['subscriptions', 'deliveries'],
    ['cancelSubscription', 'content'],
  ],
  [
    ['disputes', 'refunds'],
    ['refund', 'defence'],
  ],
] as const)('In front of a service that takes %j the console offers %j', (families, actions) => {
  expect(offeredActions(families)).toEqual(actions);
});
