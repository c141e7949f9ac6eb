import type { Cents } from '../kernel/money.ts';

/** A claim by which the payer's bank wants a PIX back (MED). */
export interface BankClaim {
  /** The bank's identifier of the claim, unique for good. */
  claimId: string;
  /** The PIX that it wants back. */
  endToEndId: string;
  amountCents: Cents;
  reason: 'fraud' | 'operational_error' | 'unknown';
  /** The decision of the banks; null before it. */
  outcome: 'won' | 'lost' | null;
  /** The instant at which they decide; null where it is unknown. */
  decidesAt: Date | null;
}

/**
 * The bank's side of disputes. It holds the claims; the service looks there when it is notified, so that a notification which
 * is lost, repeated or forged changes nothing.
 */
export interface ClaimRail {
  /** Lists every claim against what a code has paid, oldest first. */
  claimsOf(txid: string): Promise<BankClaim[]>;
}
