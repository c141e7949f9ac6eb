import { expect, test } from 'vitest';
import { outcomeOf } from '../../../server/src/money-out/payouts/batch.ts';
import { neverMade, payoutInDoubt } from '../../../server/src/money-out/payouts/upstream-payout.ts';

test('A payout that the service never made is a refused row, and one in doubt counts as requested', () => {
  const at = new Date('2026-11-30T12:00:00Z');
  const request = { method: 'pix', amountCents: 15_000, destination: 'a***@psa.example' } as const;
  const doubted = payoutInDoubt({
    ...{ ...request, externalId: null, destinationKind: 'email' },
    ...{ requestId: 'one', requestedAt: at },
  });
  expect(outcomeOf(doubted)).toEqual({ payoutId: 'one', code: null });
  expect(outcomeOf(neverMade(doubted, at))).toMatchObject({ refused: 'UPSTREAM_REFUSED' });
});
