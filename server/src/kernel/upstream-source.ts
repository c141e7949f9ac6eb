/** The source of what another service says of a payout: the service itself when it was asked, or a webhook when it arrived. */
export interface UpstreamSource {
  by: 'service' | 'event';
  at: Date;
  /** The instant at which the service itself last confirmed what is known; null where it never has. */
  knownAt?: Date | null;
}

/** The time by which the service's answers agree with its webhooks; after it, a contradicted webhook was wrong. */
export const CLAIM_HOLDS_MS = 2 * 60_000;
