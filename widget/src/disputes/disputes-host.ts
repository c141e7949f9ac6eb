import type { LitElement } from 'lit';
import type { Dispute } from './operations.ts';

/** The element, as the chunk of its details uses it: the chunk must not import what the first file has. */
export interface DisputesHost extends LitElement {
  /** Whether the page answers a request for which it is time. */
  offers(action: 'defence' | 'accept', dispute: Dispute): boolean;
  /** The time that is left for the defence, in words; empty if the banks have decided. */
  leftOf(dispute: Dispute): string;
  /** The kind of the claim, with the number or the code of the sale. */
  saleOf(dispute: Dispute): string;
}
