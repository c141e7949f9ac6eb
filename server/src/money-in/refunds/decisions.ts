import { DAY_MS, plusMs } from '../../kernel/clock.ts';
import { deterministicId } from '../../kernel/ids.ts';
import type { Cents } from '../../kernel/money.ts';
import { isFinal, type RefundedResource, type StoredRefund } from './model.ts';

/** Milliseconds after which a refund without an answer is looked up at its rail. */
const LOOK_UP_AFTER_MS = 10_000;
/** Milliseconds after which a refund that the payer must get is requested again, under a new id. */
const REPEAT_AFTER_MS = DAY_MS;

/** The outcome of a refund at the rail that sends it. */
export type RefundOutcome =
  | { status: 'completed'; endToEndId: string | null }
  | { status: 'pending'; settlesAt: Date | null }
  | { status: 'failed'; reason: string };

/** A new refund, before its rail is called. */
export function newRefund({
  now,
  ...refund
}: {
  refundId: string;
  resource: RefundedResource;
  amountCents: Cents;
  reason: string | null;
  isAutomatic: boolean;
  railChargeId: string;
  now: Date;
}): StoredRefund {
  return {
    ...refund,
    version: 1,
    status: 'processing',
    endToEndId: null,
    failureReason: null,
    createdAt: now,
    completedAt: null,
    failedAt: null,
  };
}

/** The instant of the next lookup at the rail; null if the outcome is final. */
export function nextLookAt(outcome: RefundOutcome, now: Date): Date | null {
  if (outcome.status !== 'pending') return null;
  const { settlesAt } = outcome;
  // An instant that has passed without a decision is ignored.
  return settlesAt && settlesAt > now ? settlesAt : plusMs(now, LOOK_UP_AFTER_MS);
}

/** Ends a refund; null if it has ended already, so that a repeated answer changes nothing. */
export function decideEnd(
  refund: StoredRefund,
  outcome: Exclude<RefundOutcome, { status: 'pending' }>,
  now: Date,
): StoredRefund | null {
  if (isFinal(refund.status)) return null;
  return {
    ...refund,
    version: refund.version + 1,
    status: outcome.status,
    endToEndId: outcome.status === 'completed' ? outcome.endToEndId : null,
    failureReason: outcome.status === 'failed' ? outcome.reason : null,
    completedAt: outcome.status === 'completed' ? now : null,
    failedAt: outcome.status === 'failed' ? now : null,
  };
}

/**
 * The refund that follows a failed one that the payer must get, and the instant at which it is sent. Its id
 * follows from the failed refund's: after a restored backup the rail recognizes it.
 */
export function decideRepeat(failed: StoredRefund, now: Date): { refund: StoredRefund; sendAt: Date } {
  const refundId = `ref_${deterministicId(24, 'repeat', failed.refundId)}`;
  const { resource, amountCents, reason, isAutomatic, railChargeId } = failed;
  return {
    refund: newRefund({ refundId, resource, amountCents, reason, isAutomatic, railChargeId, now }),
    sendAt: plusMs(now, REPEAT_AFTER_MS),
  };
}
