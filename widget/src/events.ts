import type { CheckoutConnection, CheckoutError, CheckoutPhase } from './checkout-state.ts';
import type { Transport } from './follow/transport.ts';
import type { CheckoutMethod } from './methods.ts';
import type { CardPaymentStatus, CheckoutPayment } from './operations.ts';

interface PaymentDetail {
  /** `__typename` says which of the two it is. */
  payment: CheckoutPayment;
  method: CheckoutMethod;
}

/** The events of `<psa-checkout>`. All bubble and are composed. */
export interface PsaCheckoutEventMap {
  /** Cancelable: no payment is started. */
  'psa-before-start': CustomEvent<{ method: CheckoutMethod | undefined }>;
  /** Cancelable: the page is not left. */
  'psa-before-redirect': CustomEvent<PaymentDetail & { url: string }>;
  'psa-created': CustomEvent<PaymentDetail>;
  'psa-checkout-open': CustomEvent<PaymentDetail>;
  'psa-checkout-close': CustomEvent<PaymentDetail>;
  'psa-popup-blocked': CustomEvent<PaymentDetail & { url: string }>;
  /** The payer has chosen a method, of several. */
  'psa-method-change': CustomEvent<{ method: CheckoutMethod }>;
  'psa-pix-copied': CustomEvent<PaymentDetail>;
  'psa-status-change': CustomEvent<
    PaymentDetail & { status: CardPaymentStatus; previous: CardPaymentStatus | undefined }
  >;
  'psa-paid': CustomEvent<PaymentDetail>;
  'psa-expired': CustomEvent<PaymentDetail>;
  'psa-refunded': CustomEvent<PaymentDetail>;
  'psa-failed': CustomEvent<PaymentDetail>;
  'psa-connection-change': CustomEvent<{
    connection: CheckoutConnection;
    transport: Transport | undefined;
  }>;
  'psa-phase-change': CustomEvent<{ phase: CheckoutPhase; previous: CheckoutPhase }>;
  'psa-error': CustomEvent<Pick<CheckoutError, 'code' | 'reason' | 'message' | 'retryable'>>;
}

declare global {
  // They bubble, so that any element may listen.
  interface HTMLElementEventMap extends PsaCheckoutEventMap {}
}
