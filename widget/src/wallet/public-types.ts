// The types that the package exports beside the element.
import type { Texts } from './locales/texts.ts';

export type { BoardPhase as WalletPhase } from '../board/board-host.ts';
export type {
  CheckoutConnection as WalletConnection,
  CheckoutError as WalletError,
} from '../checkout-state.ts';
export type { Transport } from '../follow/transport.ts';
export type { PsaWalletAttributes } from './attributes.ts';
export type { PsaWalletEventMap } from './events.ts';
export type { Figure as WalletFigure } from './figures.ts';
export type { Wallet } from './operations.ts';

/** The element's texts. */
export type WalletLabels = Texts;
