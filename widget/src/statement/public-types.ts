// The types that the package exports beside the element.
import type { Texts } from './locales/texts.ts';

export type { BoardPhase as StatementPhase } from '../board/board-host.ts';
export type {
  CheckoutConnection as StatementConnection,
  CheckoutError as StatementError,
} from '../checkout-state.ts';
export type { Transport } from '../follow/transport.ts';
export type { PsaStatementAttributes } from './attributes.ts';
export type { PsaStatementEventMap } from './events.ts';
export type { StatementSort, WalletEntry, WalletEntryFilter, WalletEntryKind } from './operations.ts';

/** The element's texts. */
export type StatementLabels = Texts;
