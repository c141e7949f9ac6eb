import type { Cents } from '../../kernel/money.ts';
import { isUnchanged } from '../../kernel/objects.ts';
import type { DestinationVariant } from '../../kernel/payout-methods/method.ts';
import { CLAIM_HOLDS_MS, type UpstreamSource } from '../../kernel/upstream-source.ts';
import { fingerprintOf, mergeDestination } from './destinations.ts';
import { isFinal, leavesUnconfirmed, type Payout, variantOf } from './model.ts';

// Rules for a server in front of another service: how its descriptions of a payout change the known state.

/**
 * A payout as the service behind a facade, or its webhook, describes it; members are null if it does not show
 * them.
 */
export interface UpstreamPayout {
  withdrawalId: string;
  code: string | null;
  method: Payout['method'] | null;
  status: Payout['status'] | null;
  amountCents: Cents | null;
  feeCents: Cents | null;
  litoshi: number | null;
  destination: string | null;
  requestedAt: Date | null;
  processedAt: Date | null;
  returnedAt: Date | null;
  deniedReason: string | null;
  endToEndId: string | null;
  /** The merchant's own number, from our own request: the service has no member for it. */
  externalId?: string | null | undefined;
  /** The variant of the destination, as the service or our own request names it. */
  destinationKind?: DestinationVariant | null | undefined;
}

/**
 * Merges another description of a payout into the known state; null if that changes nothing, or if the payout
 * is new and the description names no amount. A status follows the document's transitions, also across states
 * that were not seen. Only the service itself corrects an end, in an answer that is newer than the known
 * state. All other members, once known, are kept.
 */
export function mergeUpstreamPayout(
  known: Payout | null,
  upstream: UpstreamPayout,
  source: UpstreamSource,
): Payout | null {
  const { withdrawalId } = upstream;
  const amountCents = known?.amountCents ?? upstream.amountCents;
  if (amountCents === null) return null;
  const method = known && known.method !== 'unknown' ? known.method : (upstream.method ?? 'unknown');
  const status = mergeStatus(known, method, upstream.status, source);
  const claimedAt = mergeClaimedAt(known, status, statusFor(method, upstream.status), source);
  const isCorrected = known !== null && isFinal(known.status) && known.status !== status;
  // A payout that was returned had been completed.
  const isReturned = status === 'returned' && known?.status === 'completed';
  const kept = isCorrected && !isReturned ? null : known;
  const inputHash = known?.inputHash ?? fingerprintOf(method, amountCents, upstream.destination);
  const isNew = known?.status !== status || known.claimedAt?.getTime() !== claimedAt?.getTime();
  const merged: Payout = {
    withdrawalId,
    code: known?.code ?? upstream.code,
    // A member that becomes known later does not change the version: each version is announced once.
    version: (known?.version ?? 0) + (isNew ? 1 : 0),
    method,
    status,
    amountCents,
    feeCents: upstream.feeCents ?? known?.feeCents ?? null,
    litoshi: known?.litoshi ?? (method === 'ltc' ? upstream.litoshi : null),
    destination: mergeDestination(known, method, upstream.destination),
    requestedAt: known?.requestedAt ?? upstream.requestedAt,
    processedAt: kept?.processedAt ?? (isFinal(status) ? upstream.processedAt : null),
    returnedAt: status === 'returned' ? (known?.returnedAt ?? upstream.returnedAt) : null,
    deniedReason: kept?.deniedReason ?? (status === 'denied' ? upstream.deniedReason : null),
    endToEndId:
      kept?.endToEndId ?? (status === 'completed' || status === 'returned' ? upstream.endToEndId : null),
    externalId: known?.externalId ?? upstream.externalId ?? null,
    destinationKind:
      known?.destinationKind ??
      upstream.destinationKind ??
      (upstream.destination === null ? null : variantOf(method, upstream.destination)),
    ...(known?.requestId !== undefined && { requestId: known.requestId }),
    ...(claimedAt && { claimedAt }),
    ...(inputHash !== null && { inputHash }),
  };
  return known && isUnchanged({ ...known, version: null }, { ...merged, version: null }) ? null : merged;
}

function mergeStatus(
  known: Payout | null,
  method: Payout['method'],
  upstreamStatus: UpstreamPayout['status'],
  source: UpstreamSource,
): Payout['status'] {
  const next = statusFor(method, upstreamStatus);
  if (!known) return next ?? 'unknown';
  const status = statusFor(method, known.status);
  if (next === null || next === status) return status;
  if (isFinal(status)) return isCorrection(known, next, source) ? next : status;
  return next === 'pending' ? status : next;
}

/**
 * Whether a source corrects a known end. If the service itself has reported the end, an answer without an end
 * is older, and corrects nothing.
 */
function isCorrection({ claimedAt }: Payout, next: Payout['status'], source: UpstreamSource): boolean {
  if (source.by === 'event') return false;
  if (!isFinal(next))
    return claimedAt !== undefined && source.at.getTime() >= claimedAt.getTime() + CLAIM_HOLDS_MS;
  // The service prevails over a webhook of the same millisecond.
  if (claimedAt) return source.at >= claimedAt;
  return !source.knownAt || source.at > source.knownAt;
}

/** The instant since which only a webhook says that the payout has ended. */
function mergeClaimedAt(
  known: Payout | null,
  status: Payout['status'],
  upstreamStatus: Payout['status'] | null,
  source: UpstreamSource,
): Date | undefined {
  if (!isFinal(status)) return undefined;
  if (source.by === 'event') return known?.status === status ? known.claimedAt : source.at;
  return upstreamStatus === status ? undefined : known?.claimedAt;
}

/**
 * The status for a method. A payout is `processing` only if its method sends money before it is confirmed;
 * for any other method the status is `unknown`.
 */
function statusFor<Status extends UpstreamPayout['status']>(
  method: Payout['method'],
  status: Status,
): Status | 'unknown' {
  return status === 'processing' && !leavesUnconfirmed(method) ? 'unknown' : status;
}

// ── Requests whose outcome is unknown ───────────────────────────────────────────────────────────

/** The payout of a request whose outcome is unknown: the money may have left. */
export function payoutInDoubt({
  requestId,
  requestedAt,
  ...request
}: Pick<Payout, 'method' | 'amountCents' | 'destination' | 'externalId' | 'destinationKind'> & {
  requestId: string;
  requestedAt: Date;
}): Payout {
  return {
    ...request,
    requestId,
    requestedAt,
    inDoubt: true,
    version: 1,
    status: 'processing',
    withdrawalId: null,
    code: null,
    feeCents: null,
    litoshi: null,
    processedAt: null,
    returnedAt: null,
    deniedReason: null,
    endToEndId: null,
  };
}

/** The payout of a request that the service never received: nothing was debited. */
export function neverMade(doubted: Payout, now: Date): Payout {
  return {
    ...doubted,
    inDoubt: false,
    version: doubted.version + 1,
    status: 'denied',
    processedAt: now,
    deniedReason: 'O pedido de saque não chegou ao serviço de pagamentos',
  };
}

/** The payout that a request in doubt has made: it keeps the request's id. */
export function identified(payout: Payout, doubted: Payout): Payout {
  return {
    ...payout,
    externalId: payout.externalId ?? doubted.externalId,
    destinationKind: payout.destinationKind ?? doubted.destinationKind,
    requestId: doubted.requestId,
    version: Math.max(payout.version, doubted.version) + 1,
  };
}
