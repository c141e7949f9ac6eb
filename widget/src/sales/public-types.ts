// The types that the package exports beside the element.
import type { Texts } from './locales/texts.ts';

export type { BoardPhase as SalesPhase } from '../board/board-host.ts';
export type { Answerable, PageAnswer } from '../board/page-request.ts';
export type {
  CheckoutConnection as SalesConnection,
  CheckoutError as SalesError,
} from '../checkout-state.ts';
export type { Transport } from '../follow/transport.ts';
export type { PsaSalesAttributes } from './attributes.ts';
export type { PsaSalesEventMap, RefundRequest } from './events.ts';
export type { Sale, SaleFilter, SaleSort, SaleStatus, SalesMethod, SalesTotals } from './operations.ts';

/** The element's texts. */
export type SalesLabels = Texts;
