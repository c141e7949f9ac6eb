/** The source of a claim about a resource: an answer of another service or its webhook, and the time. */
export interface UpstreamSource {
  by: 'service' | 'event';
  at: Date;
  /**
   * The instant of the last answer in which the service itself confirmed the known state; null if there was
   * none.
   */
  knownAt?: Date | null;
}

/** A resource after a claim. `changed`: the status before, if subscribers get an update. */
export interface Merged<Resource extends { status: string }> {
  resource: Resource;
  changed: { from: Resource['status'] | null } | null;
}

/**
 * The time within which the service's answers catch up with its webhooks. An answer that contradicts a webhook
 * after that time shows that the webhook was wrong.
 */
export const CLAIM_HOLDS_MS = 2 * 60_000;

/** The last known status of a resource. If the service uses an unknown word, it is the status before that. */
export function lastStatusOf<Status extends string>({
  status,
  lastStatus = null,
}: {
  status: Status | 'unknown';
  lastStatus?: Status | null;
}): Status | null {
  return status === 'unknown' ? lastStatus : status;
}

/** A known status after which the claimed status cannot come. */
export interface Contradicted {
  /** Whether the claim may describe a time before the known status, and have arrived late. */
  isOlder: boolean;
  /** Whether the known status says that money has arrived. */
  isPaid?: boolean;
  /**
   * The instant since which the known status rests on a webhook alone; omitted if the service itself has
   * confirmed it.
   */
  claimedAt?: Date | undefined;
}

/**
 * Whether a claim replaces a known status that it cannot follow. A newer answer of the service always does:
 * against it no status is final. A webhook never does, since it may be late. An answer that may be older
 * does, except while a status from a webhook, or one that says that money has arrived, may still be ahead of
 * the answers.
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

/** The source of a claim by a webhook that has just arrived. */
export function eventAt(at: Date): UpstreamSource {
  return { by: 'event', at };
}
