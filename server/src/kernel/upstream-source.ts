/** The source of what another service says of a resource: the service itself when it was asked, or a webhook when it arrived. */
export interface UpstreamSource {
  by: 'service' | 'event';
  at: Date;
  /** The instant at which the service itself last confirmed what is known; null where it never has. */
  knownAt?: Date | null;
}

/** The time by which the service's answers agree with its webhooks; after it, a contradicted webhook was wrong. */
export const CLAIM_HOLDS_MS = 2 * 60_000;

/** The last status that is known of a resource: where the service has used a word that is not, the one before. */
export function lastStatusOf<Status extends string>({
  status,
  lastStatus = null,
}: {
  status: Status | 'unknown';
  lastStatus?: Status | null;
}): Status | null {
  return status === 'unknown' ? lastStatus : status;
}

/** A known status that a claim contradicts: it cannot follow it. */
export interface Contradicted {
  /** Whether the claim may be of before the known status, and have arrived late. */
  isOlder: boolean;
  /** Whether the known status says that money has arrived. */
  isPaid?: boolean;
  /** The instant since which only a webhook says the known status; omitted where the service itself has said it. */
  claimedAt?: Date | undefined;
}

/**
 * Whether a claim prevails over a known status that it cannot follow: no status is final against a newer answer of the service
 * itself. A webhook is late as often as it is news, so it never does. Against an answer that may be older, what a webhook says
 * and the arrival of money hold for as long as answers may be behind them.
 */
export function prevails(
  { by, at, knownAt = null }: UpstreamSource,
  { isOlder, isPaid = false, claimedAt }: Contradicted,
): boolean {
  if (by === 'event') return false;
  const heldSince = isOlder ? (claimedAt ?? (isPaid ? knownAt : null)) : null;
  if (heldSince) return at.getTime() >= heldSince.getTime() + CLAIM_HOLDS_MS;
  return knownAt === null || at >= knownAt;
}

/** The source of a claim of no other: a webhook that has just arrived. */
export function eventAt(at: Date): UpstreamSource {
  return { by: 'event', at };
}
