/**
 * The caller behind a read of the service: its priority decides the order where the budget is short, and it learns how
 * old each answer is.
 */
export interface Requester {
  /** `merchant`: a person at work with the account. `payer`: somebody who pays with a token of the merchant's page. */
  readonly priority: 'merchant' | 'payer';
  /** The token whose share is capped; null for an API key. */
  readonly subject: string | null;
  /** Reports the instant of an answer; `stale` where no newer one could be read. */
  onRead(at: Date, stale: boolean): void;
}
