import type { CheckoutErrorCode } from '../checkout-state.ts';

/** The texts of the element before its payment chunk is loaded, or if it cannot be loaded. */
export interface FirstTexts {
  pay: string;
  payPix: string;
  /** The names of the methods, on the second of two buttons. */
  card: string;
  pix: string;
  creating: string;
  loading: string;
  error: string;
  network: string;
  retry: string;
  cancel: string;
  /** Shown for error codes that only the shop can resolve. */
  contact: string;
  /** Shown at successUrl if this browser has stored nothing of the payment that the address names. */
  shopConfirms: string;
}

/** The texts about a payment. `{seconds}` and `{age}` are placeholders. */
export interface PaymentTexts {
  pending: string;
  pendingHint: string;
  cancelledHint: string;
  blocked: string;
  openPage: string;
  openPageAgain: string;
  newTab: string;
  expiresIn: string;
  expiresHint: string;
  checking: string;
  paid: string;
  paidHint: string;
  paidLate: string;
  amount: string;
  order: string;
  time: string;
  expired: string;
  expiredHint: string;
  /** Shown if the merchant canceled the payment. */
  canceledHint: string;
  failed: string;
  failedHint: string;
  refunded: string;
  refundedHint: string;
  reconnecting: string;
  offline: string;
  /** Shown if the service behind the server gives nothing newer. `{age}` is a placeholder. */
  stale: string;
  server: string;
  rate_limited: string;
  unauthorized: string;
  conflict: string;
  order_paid: string;
  /** Shown if the order is paid, and the money of this payment returned. */
  returnedHint: string;
  order_refunded: string;
  unsafe_url: string;
  /** Shown if the token has ended on an open page, with a button that loads the page again. */
  ended: string;
  reload: string;
}

/** The texts of a payment by PIX. Those named as others take their place. `{amount}` and `{payee}` are placeholders. */
export interface PixTexts {
  pendingHint: string;
  /** The hint in place of `pendingHint` on a phone, which cannot read the QR code of its own screen. */
  phoneHint: string;
  preparing: string;
  copy: string;
  copied: string;
  openBank: string;
  selected: string;
  code: string;
  qr: string;
  showQr: string;
  payee: string;
  lastMinutes: string;
  lastMinute: string;
  returned: string;
  returning: string;
  expiredHint: string;
  renew: string;
  failed: string;
  failedHint: string;
  refundedHint: string;
}

/** The texts about the content that a paid payment has delivered. */
export interface DeliveredTexts {
  delivered: string;
  deliveredPending: string;
  deliveredCode: string;
  deliveredText: string;
  deliveredLink: string;
  deliveredCopy: string;
  deliveredCopied: string;
  deliveredSaved: string;
  deliveredSelected: string;
}

export type Texts = FirstTexts & PaymentTexts;

/** The element's texts, and one for each error code. */
export type Labels = Record<keyof Texts | keyof PixTexts | keyof DeliveredTexts | CheckoutErrorCode, string>;
