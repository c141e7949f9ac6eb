import type { BoardEventMap } from '../board/events.ts';
import type { PsaCheckoutEventMap } from '../events.ts';
import type { Wallet } from './operations.ts';

/** The events of `<psa-wallet>`. All bubble and are composed. */
export interface PsaWalletEventMap extends BoardEventMap {
  'psa-wallet-update': CustomEvent<{ wallet: Wallet; previous: Wallet }>;
}

declare global {
  interface HTMLElementEventMap
    extends Omit<PsaWalletEventMap, keyof PsaCheckoutEventMap | 'psa-token-expired'> {}
}
