import { expect, test } from 'vitest';
import type { RefundSnapshot } from '../../server/src/refunds/model.ts';
import { mergeUpstreamRefund, type UpstreamRefund } from '../../server/src/refunds/upstream-refund.ts';

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
};
const merged = (known: RefundSnapshot | null, status: UpstreamRefund['status']) =>
  mergeUpstreamRefund(known, { ...CLAIM, status }, NOW);

test.each(['completed', 'failed'] as const)(
  'A refund that is %s stays so, whatever the service says later',
  (status) => {
    const { payment } = merged(null, status)!;
    expect(payment).toMatchObject({ status, version: 1 });
    for (const later of ['processing', 'completed', 'failed', null] as const)
      expect(merged(payment, later)).toBeNull();
  },
);

test('A refund that is processing ends as the service says, with the status that it had before', () => {
  const { payment } = merged(null, null)!;
  expect(payment.status).toBe('processing');
  expect(merged(payment, 'completed')).toMatchObject({
    payment: { status: 'completed', version: 2 },
    changed: { from: 'processing' },
  });
});
