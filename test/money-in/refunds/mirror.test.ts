import { expect, test } from 'vitest';
import type { RefundSnapshot } from '../../../server/src/money-in/refunds/model.ts';
import {
  mergeUpstreamRefund,
  type UpstreamRefund,
} from '../../../server/src/money-in/refunds/upstream-refund.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const CLAIM: UpstreamRefund = {
  refundId: 'ref_0c7d1a5be2f94a3d8e6b7f10',
  status: 'processing',
  resource: { type: 'payment', id: `psa_${'0123456789abcdef'.repeat(2)}` },
  amountCents: 400,
  reason: null,
  endToEndId: null,
  failureReason: null,
  createdAt: NOW,
  completedAt: null,
  failedAt: null,
};
const merged = (known: RefundSnapshot | null, status: UpstreamRefund['status']) =>
  mergeUpstreamRefund(known, { ...CLAIM, status }, NOW);

test.each(['completed', 'failed'] as const)(
  'A refund that is %s stays so, whatever a webhook says later',
  (status) => {
    const { resource: refund } = merged(null, status)!;
    expect(refund).toMatchObject({ status, version: 1 });
    for (const later of ['processing', 'completed', 'failed', null] as const)
      expect(merged(refund, later)).toBeNull();
  },
);

test('A newer answer of the service corrects the end of a refund, and one that is open only once it cannot be late', () => {
  const { resource: refund } = merged(null, 'failed')!;
  const answer = (status: UpstreamRefund['status'], ms: number) => {
    const at = new Date(NOW.getTime() + ms);
    const claim = { ...CLAIM, status, completedAt: status === 'completed' ? at : null };
    return mergeUpstreamRefund(refund, claim, at, { by: 'service', at, knownAt: NOW });
  };
  expect(answer('completed', 1)).toMatchObject({
    resource: { status: 'completed', version: 2, failedAt: null, failureReason: null },
    changed: { from: 'failed' },
  });
  expect(answer('completed', -1)).toBeNull();
  expect(answer('processing', 119_999)).toBeNull();
  expect(answer('processing', 120_000)).toMatchObject({ resource: { status: 'processing' } });
});

test('A failed refund has the instant that the service shows, as soon as it shows one', () => {
  const processing = merged(null, 'processing')!.resource;
  const { resource: refund } = merged(processing, 'failed')!;
  expect(refund.failedAt).toBeNull();
  const at = (failedAt: Date) => mergeUpstreamRefund(refund, { ...CLAIM, status: 'failed', failedAt }, NOW)!;
  expect(at(NOW).resource).toMatchObject({ failedAt: NOW, version: 3 });
  const late = { ...CLAIM, status: 'completed', failedAt: NOW } as const;
  expect(mergeUpstreamRefund(processing, late, NOW)!.resource.failedAt).toBeNull();
});

test('A refund that is processing ends as the service says, with the status that it had before', () => {
  const { resource: refund } = merged(null, null)!;
  expect(refund.status).toBe('processing');
  expect(merged(refund, 'completed')).toMatchObject({
    resource: { status: 'completed', version: 2 },
    changed: { from: 'processing' },
  });
});
