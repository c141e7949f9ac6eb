import { expect, test } from 'vitest';
import { outcomeOf } from '../../../server/src/money-out/payouts/batch.ts';
import { paidRows } from '../../../server/src/money-out/payouts/batch-paid.ts';
import { fingerprintOf } from '../../../server/src/money-out/payouts/destinations.ts';
import { NO_DESTINATION } from '../../../server/src/money-out/payouts/model.ts';
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

test('A row repeats a payout that another service shows masked, or one in doubt, unless its whole input is known as another', () => {
  const destination = 'ana.silva@psa.example';
  const [row, other] = ['1', undefined].map((externalId) => ({
    ...({ method: 'pix', amountCents: 15_000, destination } as const),
    ...(externalId && { externalId }),
  })) as [Parameters<typeof paidRows>[0][number], Parameters<typeof paidRows>[0][number]];
  const doubted = payoutInDoubt({
    ...{ method: 'pix', amountCents: 15_000, destination: 'a***@psa.example', externalId: null },
    ...{ destinationKind: 'email', requestId: 'int_1', requestedAt: new Date('2026-11-30T12:00:00Z') },
  });
  const named = { ...doubted, withdrawalId: 'w-1', requestId: undefined, inDoubt: false };
  const rowsOf = (payout: typeof doubted) =>
    paidRows([row, other], [payout]).map(({ row, payoutId }) => [row, payoutId]);
  expect(rowsOf(doubted)).toEqual([
    [1, 'int_1'],
    [2, 'int_1'],
  ]);
  expect(rowsOf({ ...named, method: 'unknown', externalId: '1' })).toHaveLength(2);
  expect(rowsOf({ ...named, externalId: '2' })).toEqual([[2, 'w-1']]);
  expect(rowsOf({ ...named, destination: NO_DESTINATION })).toHaveLength(2);
  const hash = (text: string) => fingerprintOf('pix', 15_000, text)!;
  expect(rowsOf({ ...named, inputHash: hash(destination) })).toHaveLength(2);
  for (const unlike of [
    { inputHash: hash('ana.souza@psa.example') },
    { destination: 'b***@psa.example' },
    { destination: 'bia@psa.example' },
    { amountCents: 15_001 },
    { method: 'pix_turbo' as const },
    { status: 'denied' as const },
    { status: 'returned' as const },
  ])
    expect(rowsOf({ ...named, ...unlike })).toEqual([]);
});
