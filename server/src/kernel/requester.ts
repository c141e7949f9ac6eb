/** The payers who use one token from one network. They share a part of the budget. */
export interface BudgetSubject {
  /** The id of the token. Its payers' payment tokens count as the same token. */
  readonly token: string;
  /**
   * A digest of the network, after that of its IPv6 block and a slash; null if the server itself asks, as in
   * a lookup of a start in doubt.
   */
  readonly network: string | null;
}

/**
 * The caller for whom the service is read. Its priority decides the order of reads if the budget is short,
 * and `onRead` reports how old each answer is.
 */
export interface Requester {
  /** `merchant`: a person who works with the account. `payer`: a payer with a token of the merchant's page. */
  readonly priority: 'merchant' | 'payer';
  /** The payers whose share is capped; null for a merchant. */
  readonly subject: BudgetSubject | null;
  /** Reports the instant of an answer. `stale`: no newer answer could be read. */
  onRead(at: Date, stale: boolean): void;
}
