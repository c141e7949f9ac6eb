/** The payers of one token behind one network, who share a part of the budget. */
export interface BudgetSubject {
  /** The id of the token, which its payers' payment tokens count to as well. */
  readonly token: string;
  /** A digest of the network, behind that of its IPv6 block and a slash; null where the server asks for itself, as in a lookup of a start in doubt. */
  readonly network: string | null;
}

/**
 * The caller behind a read of the service: its priority decides the order where the budget is short, and it learns how
 * old each answer is.
 */
export interface Requester {
  /** `merchant`: a person at work with the account. `payer`: somebody who pays with a token of the merchant's page. */
  readonly priority: 'merchant' | 'payer';
  /** The payers whose share is capped; null for a merchant. */
  readonly subject: BudgetSubject | null;
  /** Reports the instant of an answer; `stale` where no newer one could be read. */
  onRead(at: Date, stale: boolean): void;
}
