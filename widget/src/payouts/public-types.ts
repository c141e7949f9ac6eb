// The types that the package exports beside the element.
import type { Texts } from './locales/texts.ts';

export type { BoardPhase as PayoutsPhase } from '../board/board-host.ts';
export type {
  CheckoutConnection as PayoutsConnection,
  CheckoutError as PayoutsError,
  CheckoutErrorCode as PayoutsErrorCode,
} from '../checkout-state.ts';
export type { Transport } from '../follow/transport.ts';
export type { PsaPayoutsAttributes } from './attributes.ts';
export type { PsaPayoutsEventMap } from './events.ts';
export type { PayoutMethod } from './methods.ts';
export type { Payout, PayoutFilter, PayoutSort, PayoutStatus, PayoutTotals } from './operations.ts';

/** The element's texts. */
export type PayoutsLabels = Texts;
