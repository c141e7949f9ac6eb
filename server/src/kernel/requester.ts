/**
 * The caller behind a read of the service: its priority decides the order where the budget is short, and it learns how
 * old each answer is.
 */
export interface Requester {
  /** A person at work with the merchant's account, or somebody who pays with a token of the merchant's page. */
  readonly priority: 'merchant' | 'payer';
  /** The token whose share is capped; null for an API key. */
  readonly subject: string | null;
  /** Called with the instant of each answer that it gets; `stale` where no newer one could be read. */
  onRead(at: Date, stale: boolean): void;
}
