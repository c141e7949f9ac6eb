/** What the element says before its payment chunk is there, and if that chunk cannot be loaded. */
export interface FirstTexts {
  pay: string;
  creating: string;
  loading: string;
  error: string;
  network: string;
  retry: string;
}

/** What it says about a payment. `{seconds}` is filled in. */
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
  /** For the codes that only the shop can mend. */
  contact: string;
}

export type Texts = FirstTexts & PaymentTexts;
