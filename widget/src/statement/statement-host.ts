import type { LitElement } from 'lit';
import type { WalletEntry } from './operations.ts';

/** The element with the statement, as the chunk of the details sees it. */
export interface StatementHost extends LitElement {
  /** The signed change of the balance, in words. */
  amountOf(entry: WalletEntry): string;
  /** The fee, and what else the entry has moved, in words. */
  movesOf(entry: WalletEntry): string;
}
