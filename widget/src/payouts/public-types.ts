// The types that the package exports beside the element.
import type { Texts } from './locales/texts.ts';

export type {
  CheckoutConnection as PayoutsConnection,
  CheckoutError as PayoutsError,
  CheckoutErrorCode as PayoutsErrorCode,
} from '../checkout-state.ts';
export type { Transport } from '../follow/transport.ts';
export type { PsaPayoutsAttributes } from './attributes.ts';
export type { PsaPayoutsEventMap } from './events.ts';
export type { PayoutMethod } from './methods.ts';
export type { Payout, PayoutFilter, PayoutStatus } from './operations.ts';
export type { PayoutSort } from './payout-list.ts';
export type { PayoutsPhase } from './payouts-host.ts';

/** The element's texts. */
export type PayoutsLabels = Texts;
