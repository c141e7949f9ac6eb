import { type Balances, NO_BALANCES } from '../../state/ledger/postings.ts';
import { isWallet, type Wallet } from './model.ts';

/** The balances after a commit, with the ids of its transactions that are entries of the statement. */
export type WalletSnapshot = Balances & { entries?: readonly string[] };

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
      snapshot: WalletSnapshot | Wallet;
    };
  }
}

export const walletSnapshots = { wallet: walletSnapshot };

function walletSnapshot(json: unknown): WalletSnapshot | Wallet {
  const snapshot = json as Partial<WalletSnapshot> | Wallet;
  // A snapshot lacks the accounts that were added after it was written.
  return isWallet(snapshot) ? snapshot : { ...NO_BALANCES, ...snapshot };
}
