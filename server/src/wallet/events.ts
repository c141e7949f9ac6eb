import { type Balances, NO_BALANCES } from '../ledger/postings.ts';
import { isWallet, type Wallet } from './model.ts';

declare module '../events/event.ts' {
  interface EventTypes {
    /**
     * Something was posted: the balances after it, one event for all that was posted at once. In front of another service,
     * the wallet as that service shows it now.
     */
    wallet: {
      kind: 'wallet.changed';
      resourceId: 'wallet';
      previousStatus: null;
      snapshot: Balances | Wallet;
    };
  }
}

export const walletSnapshots = { wallet: walletSnapshot };

function walletSnapshot(json: unknown): Balances | Wallet {
  const snapshot = json as Partial<Balances> | Wallet;
  // A snapshot from before an account existed has nothing in it.
  return isWallet(snapshot) ? snapshot : { ...NO_BALANCES, ...snapshot };
}
