import type { LitElement } from 'lit';
import type { Payout } from './operations.ts';
import type { DenialReason } from './payout-cells.ts';

/** The element with the payouts, as the chunk of their details sees it. */
export interface PayoutsHost extends LitElement {
  methodOf(payout: Payout): string;
  reasonOf(payout: Payout): DenialReason;
}
