/** The source of a statement about a payout: the service itself when it was asked, or a webhook when it arrived. */
export interface Source {
  by: 'service' | 'event';
  at: Date;
  /** When the service itself last said what is known; null where nothing is known, or only a webhook has said it. */
  knownAt?: Date | null;
}

/** The time after which the service's own answers agree with its webhooks, or the webhook was wrong. */
export const CLAIM_HOLDS_MS = 2 * 60_000;
