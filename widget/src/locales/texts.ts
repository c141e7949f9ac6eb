/** The texts of the element before its payment chunk is loaded, or where it cannot be loaded. */
export interface FirstTexts {
  pay: string;
  creating: string;
  loading: string;
  error: string;
  network: string;
  retry: string;
}

/** The texts about a payment. `{seconds}` is a placeholder. */
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
  cancel: string;
  paid: string;
  paidHint: string;
  paidLate: string;
  amount: string;
  order: string;
  time: string;
  expired: string;
  expiredHint: string;
  failed: string;
  failedHint: string;
  refunded: string;
  refundedHint: string;
  reconnecting: string;
  offline: string;
  server: string;
  rate_limited: string;
  unauthorized: string;
  conflict: string;
  unsafe_url: string;
  /** Shown for error codes that only the shop can resolve. */
  contact: string;
}

export type Texts = FirstTexts & PaymentTexts;
