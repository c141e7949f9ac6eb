import { isUnchanged } from '../../kernel/objects.ts';
import {
  eventAt,
  lastStatusOf,
  type Merged,
  prevails,
  type UpstreamSource,
} from '../../kernel/upstream-source.ts';
import { canFollow, type Dispute, type DisputeStatus, isFinal } from './model.ts';

/** A dispute as another service shows it in a response or a webhook. Null: not shown. */
export interface UpstreamDispute {
  disputeId: string;
  status: Dispute['status'] | null;
  reason: Dispute['reason'] | null;
  amountCents: Dispute['amountCents'] | null;
  resource: Dispute['resource'];
  evidence: Dispute['evidence'] | null;
  files: Dispute['files'] | null;
  evidenceDueAt: Date | null;
  createdAt: Date | null;
  closedAt: Date | null;
}

/**
 * Merges what the service shows into the known state; null if nothing changes, or if the dispute is unknown
 * and too little of it is shown. Evidence and files never decrease, and only a newer answer of the service itself
 * moves a status back.
 */
export function mergeUpstreamDispute(
  known: Dispute | null,
  claim: UpstreamDispute,
  now: Date,
  source: UpstreamSource = eventAt(now),
): Merged<Dispute> | null {
  // The amount grows if a refund fails that held some of it, and never shrinks: a smaller amount is an older
  // one.
  const amountCents = Math.max(known?.amountCents ?? 0, claim.amountCents ?? 0);
  if (amountCents === 0) return null;
  const before = known && lastStatusOf<DisputeStatus>(known);
  const status = statusAfter(known, before, claim.status, source);
  const isDecided = status === 'won' || status === 'lost' || status === 'forgiven';
  // A lost dispute that is forgiven keeps the instant of its decision.
  const decidedAt = status === known?.status || status === 'forgiven' ? (known?.closedAt ?? null) : null;
  const dispute: Dispute = {
    disputeId: claim.disputeId,
    version: known?.version ?? 1,
    status,
    ...(status === 'unknown' && { lastStatus: before }),
    reason: known && known.reason !== 'unknown' ? known.reason : (claim.reason ?? 'unknown'),
    resource: known?.resource ?? claim.resource,
    amountCents,
    evidence:
      claim.evidence && claim.evidence.length >= (known?.evidence.length ?? 0)
        ? claim.evidence
        : (known?.evidence ?? []),
    files:
      claim.files && claim.files.length >= (known?.files.length ?? 0) ? claim.files : (known?.files ?? []),
    evidenceDueAt: known?.evidenceDueAt ?? claim.evidenceDueAt,
    createdAt: known?.createdAt ?? claim.createdAt,
    // An older claim names an earlier decision.
    closedAt: isDecided ? (decidedAt ?? (claim.status === status ? claim.closedAt : null)) : null,
  };
  if (!known) return { resource: dispute, changed: { from: null } };
  if (isUnchanged(known, dispute)) return null;
  return { resource: { ...dispute, version: known.version + 1 }, changed: { from: known.status } };
}

function statusAfter(
  known: Dispute | null,
  before: DisputeStatus | null,
  claimed: UpstreamDispute['status'],
  source: UpstreamSource,
): Dispute['status'] {
  if (claimed === null) return known?.status ?? 'unknown';
  if (before === null || claimed === before) return claimed;
  if (claimed === 'unknown') return isFinal(before) ? before : 'unknown';
  // An answer from before the known status may arrive late.
  const isOlder = canFollow(claimed, before);
  return canFollow(before, claimed) || prevails(source, { isOlder, isPaid: true }) ? claimed : known!.status;
}
