import { type Change, type Collection, put, type Writes } from '../../state/commit/commit.ts';
import type { RefundSnapshot, RefundStatus, RefundTask, StoredRefund } from './model.ts';
import { refundTable } from './store.ts';

/** Refunds, as a decision reads and writes them. */
export const refunds: Collection<StoredRefund> = refundTable;

/** The details of a refunded resource that the events of its refunds hold. */
export type ResourceDetails = Pick<RefundSnapshot, 'metadata' | 'callbackUrl'>;

/** The writes of a new refund, or of its end: its record, its event and, with `sendAt`, its task. */
export function writesOf(
  refund: StoredRefund,
  previousStatus: RefundStatus | null,
  details: ResourceDetails,
  sendAt: Date | null = null,
): Required<Pick<Writes, 'events' | 'tasks'>> & { records: Change[] } {
  const { isAutomatic, railChargeId, ...shown } = refund;
  return {
    records: [put(refunds, refund)],
    events: [
      {
        kind: `refund.${refund.status}`,
        resource: 'refund',
        resourceId: refund.refundId,
        previousStatus,
        snapshot: { ...shown, ...details },
      },
    ],
    tasks: sendAt ? [sendTask(refund.refundId, sendAt)] : [],
  };
}

/** The next call of the rail for a refund. */
export function sendTask(refundId: string, at: Date) {
  return { kind: 'refund.send' satisfies RefundTask, key: refundId, at };
}
