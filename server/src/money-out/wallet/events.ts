import { type Balances, NO_BALANCES } from '../../state/ledger/postings.ts';
import { isWallet, type Wallet } from './model.ts';

/** The entries of the statement that a commit has written: the ids of its transactions, or the numbers of what was seen. */
interface WithEntries {
  entries?: readonly string[];
}

/** The balances after a commit. */
export type WalletSnapshot = Balances & WithEntries;

/** Another service's wallet as it was seen. */
export type SeenWallet = Wallet & WithEntries;

declare module '../../state/events/event.ts' {
  interface EventTypes {
    /**
     * The balances after postings, in one event for all postings of a commit. In front of another service:
     * the wallet as that service shows it.
     */
    wallet: {
      kind: 'wallet.changed';
      resourceId: 'wallet';
      previousStatus: null;
      snapshot: WalletSnapshot | SeenWallet;
    };
  }
}

export const walletSnapshots = { wallet: walletSnapshot };

function walletSnapshot(json: unknown): WalletSnapshot | SeenWallet {
  const snapshot = json as Partial<WalletSnapshot> | SeenWallet;
  // A snapshot lacks the accounts that were added after it was written.
  return isWallet(snapshot) ? snapshot : { ...NO_BALANCES, ...snapshot };
}
