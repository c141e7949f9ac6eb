import { describe, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import {
  decideEnd,
  decideRepeat,
  newRefund,
  nextLookAt,
} from '../../../server/src/money-in/refunds/decisions.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const LATER = plusMs(NOW, 60_000);
const NEW = newRefund({
  refundId: 'ref_1',
  resource: { type: 'payment', id: 'psa_1' },
  amountCents: 4990,
  reason: 'Um item',
  isAutomatic: true,
  railChargeId: 'E1',
  now: NOW,
});

test('A new refund is under way, and nothing is known of its end', () => {
  expect(NEW).toEqual({
    refundId: 'ref_1',
    resource: { type: 'payment', id: 'psa_1' },
    amountCents: 4990,
    reason: 'Um item',
    isAutomatic: true,
    railChargeId: 'E1',
    version: 1,
    status: 'processing',
    createdAt: NOW,
    completedAt: null,
    failedAt: null,
    endToEndId: null,
    failureReason: null,
  });
});

describe('an answer of the rail', () => {
  test('An answer that is final needs no other look', () => {
    expect(nextLookAt({ status: 'completed', endToEndId: null }, NOW)).toBeNull();
    expect(nextLookAt({ status: 'failed', reason: 'Não' }, NOW)).toBeNull();
  });

  test('A pending refund is looked up when the rail decides, and ten seconds later where it does not say', () => {
    expect(nextLookAt({ status: 'pending', settlesAt: plusMs(NOW, 1) }, NOW)).toEqual(plusMs(NOW, 1));
    for (const settlesAt of [null, NOW, plusMs(NOW, -1)])
      expect(nextLookAt({ status: 'pending', settlesAt }, NOW)).toEqual(plusMs(NOW, 10_000));
  });

  test('A completed refund has the bank’s identifier and the instant, and no reason', () => {
    expect(decideEnd(NEW, { status: 'completed', endToEndId: 'D1' }, LATER)).toEqual({
      ...NEW,
      version: 2,
      status: 'completed',
      endToEndId: 'D1',
      completedAt: LATER,
    });
  });

  test('A failed refund has a reason and the instant of its failure', () => {
    expect(decideEnd(NEW, { status: 'failed', reason: 'Não' }, LATER)).toEqual({
      ...NEW,
      version: 2,
      status: 'failed',
      failureReason: 'Não',
      failedAt: LATER,
    });
  });

  test.each(['completed', 'failed'] as const)('A refund that is %s never changes again', (status) => {
    const ended = { ...NEW, status };
    expect(decideEnd(ended, { status: 'completed', endToEndId: 'D2' }, LATER)).toBeNull();
    expect(decideEnd(ended, { status: 'failed', reason: 'Não' }, LATER)).toBeNull();
  });

  test('A refund that the payer must get is sent again a day later, under a new id that follows from the old one', () => {
    const failed = decideEnd(NEW, { status: 'failed', reason: 'Não' }, LATER)!;
    const { refund, sendAt } = decideRepeat(failed, LATER);
    expect(refund).toEqual({
      ...NEW,
      refundId: expect.stringMatching(/^ref_[0-9a-f]{24}$/),
      createdAt: LATER,
    });
    expect(sendAt).toEqual(plusMs(LATER, DAY_MS));
    // After a restored backup a rail that has already sent the money sends it no second time.
    expect(decideRepeat(failed, plusMs(LATER, 1)).refund.refundId).toBe(refund.refundId);
    const again = decideEnd(refund, { status: 'failed', reason: 'Não' }, LATER)!;
    expect(
      new Set([NEW, refund, decideRepeat(again, LATER).refund].map(({ refundId }) => refundId)).size,
    ).toBe(3);
  });
});
