import type { Cents } from '../kernel/money.ts';

/** A claim of the payer's bank for the return of a PIX (MED). */
export interface BankClaim {
  /** The bank's identifier of the claim, which is never reused. */
  claimId: string;
  /** The PIX that the bank claims. */
  endToEndId: string;
  amountCents: Cents;
  reason: 'fraud' | 'operational_error' | 'unknown';
  /** The decision of the banks; null while there is none. */
  outcome: 'won' | 'lost' | null;
  /** The instant at which the banks decide; null if it is unknown. */
  decidesAt: Date | null;
}

/**
 * The bank's side of disputes. The bank holds the claims, and the service reads them there when it is
 * notified: a notification that is lost, repeated or forged changes nothing.
 */
export interface ClaimRail {
  /** Lists every claim against the payments of a code, oldest first. */
  claimsOf(txid: string): Promise<BankClaim[]>;
}
