import type { Cents } from '../../kernel/money.ts';
import { isUnchanged } from '../../kernel/objects.ts';
import { eventAt, type Merged, prevails, type UpstreamSource } from '../../kernel/upstream-source.ts';
import {
  isFinal,
  type Refund,
  type RefundedResource,
  type RefundInput,
  type RefundSnapshot,
} from './model.ts';

/** A refund as another service shows it in a response or a webhook. Null: not shown. */
export interface UpstreamRefund {
  refundId: string;
  /** Null also for an unknown word: its money may have left. */
  status: Refund['status'] | null;
  resource: RefundedResource | null;
  amountCents: Cents | null;
  reason: string | null;
  endToEndId: string | null;
  failureReason: string | null;
  createdAt: Date | null;
  completedAt: Date | null;
  failedAt: Date | null;
}

/** The request of a refund, stored before it is sent. */
export interface WantedRefund {
  resource: RefundedResource;
  /** The amount; null means all that is refundable. */
  amountCents: Cents | null;
  reason: string | null;
}

export function toWanted(resource: RefundedResource, { amountCents, reason }: RefundInput): WantedRefund {
  return { resource, amountCents: amountCents ?? null, reason: reason ?? null };
}

/** The reason why an answer does not belong to the request; null if it does. */
export function contradictionOf(
  claim: UpstreamRefund,
  { resource, amountCents }: WantedRefund,
): string | null {
  if (claim.resource?.type !== resource.type || claim.resource.id !== resource.id)
    return 'another payment, or none';
  if (claim.amountCents === null || claim.amountCents < 1) return 'no amount';
  return amountCents === null || claim.amountCents === amountCents ? null : 'another amount';
}

/**
 * Merges what the service shows into the known state; null if nothing changes, or if the refund is unknown
 * and too little of it is shown. A refund that has ended stays so, unless a newer answer of the service
 * itself says otherwise.
 */
export function mergeUpstreamRefund(
  known: RefundSnapshot | null,
  claim: UpstreamRefund,
  now: Date,
  source: UpstreamSource = eventAt(now),
): Merged<RefundSnapshot> | null {
  const resource = known?.resource ?? claim.resource;
  const amountCents = known?.amountCents ?? claim.amountCents;
  if (!resource || amountCents === null) return null;
  const hasEnded = known !== null && isFinal(known.status);
  const isOlder = claim.status !== null && !isFinal(claim.status);
  const isStep = !hasEnded || prevails(source, { isOlder, isPaid: true });
  const status = (isStep ? claim.status : null) ?? known?.status ?? 'processing';
  const kept = hasEnded && known.status !== status ? null : known;
  const refund: RefundSnapshot = {
    refundId: claim.refundId,
    version: known?.version ?? 1,
    status,
    resource,
    amountCents,
    reason: known?.reason ?? claim.reason,
    endToEndId: kept?.endToEndId ?? claim.endToEndId,
    failureReason: kept?.failureReason ?? (status === 'failed' ? claim.failureReason : null),
    createdAt: known?.createdAt ?? claim.createdAt ?? now,
    completedAt: kept?.completedAt ?? (status === 'completed' ? claim.completedAt : null),
    failedAt: kept?.failedAt ?? (status === 'failed' ? claim.failedAt : null),
    metadata: null,
    callbackUrl: null,
  };
  if (!known) return { resource: refund, changed: { from: null } };
  if (isUnchanged(known, refund)) return null;
  return {
    resource: { ...refund, version: known.version + 1 },
    changed: status === known.status ? null : { from: known.status },
  };
}
