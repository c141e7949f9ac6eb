// The types that the package exports beside the element.
export type { PsaCheckoutAttributes } from './attributes.ts';
export type {
  CheckoutConnection,
  CheckoutError,
  CheckoutErrorCode,
  CheckoutPhase,
} from './checkout-state.ts';
export type { PsaCheckoutEventMap } from './events.ts';
export type { Transport } from './follow/transport.ts';
export type { Labels } from './locales/texts.ts';
export type { CheckoutMethod } from './methods.ts';
export type {
  CardPayment,
  CardPaymentStatus,
  CheckoutPayment,
  CustomerInput,
  Payment,
  PaymentStatus,
  PixCode,
  ReturnedCredit,
} from './operations.ts';
export type { CheckoutMode } from './payment-window.ts';
