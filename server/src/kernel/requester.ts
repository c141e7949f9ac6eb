/**
 * Who waits for an answer of the service behind the facade: that decides whose turn it is where turns are few, and who is
 * told how old the answer is.
 */
export interface Requester {
  /** A person at work with the merchant's account, or somebody who pays with a token of the merchant's page. */
  readonly priority: 'merchant' | 'payer';
  /** The token whose share is capped; null for an API key. */
  readonly subject: string | null;
  /** Told of each answer that it gets: when the service said so; `stale` where a newer one could not be had. */
  onRead(at: Date, stale: boolean): void;
}
