// The widget's GraphQL documents and the types of their results. The interfaces are written by hand so that the
// published types need no GraphQL library; operations.check.ts fails to compile when they differ from schema.graphql.

/** The status of a card payment. UNKNOWN is an upstream status that the server does not know. */
export type CardPaymentStatus = 'PENDING' | 'PAID' | 'EXPIRED' | 'REFUNDED' | 'FAILED' | 'UNKNOWN';

/** The status of a payment by PIX, in the words of a card payment. */
export type PaymentStatus = CardPaymentStatus;

/** A card payment, as the holder of its payment token sees it. */
export interface CardPayment {
  __typename: 'CardPayment';
  /** A payment by PIX alone has these three, so that code for both may read them. */
  paymentId?: undefined;
  pix?: undefined;
  returnedCredits?: undefined;
  orderCode: string;
  status: CardPaymentStatus;
  amountCents: number;
  currency: 'BRL';
  /** The hosted page on which the payer types the card. */
  checkoutUrl: string | null;
  expiresAt: string;
  /** Seconds until `expiresAt` by the server's clock, when it answered. */
  expiresInSeconds: number;
  description: string | null;
  paidAt: string | null;
  /** Whether the acquirer confirmed the payment after `expiresAt`. */
  paidLate: boolean;
  refundedAt: string | null;
  failureReason: string | null;
  /** Whether another payment has paid the order while this one was open, had expired or was returned, so that nobody can pay this one. */
  orderPaid: boolean;
  /** Whether that payment was refunded in full since. */
  orderRefunded: boolean;
  /** Whether its money came too late and is returned: the status is FAILED. Null if the server does not know. */
  returned: boolean | null;
  /** The time at which the merchant canceled it: it is EXPIRED since then, and its token starts no other one. */
  canceledAt: string | null;
  /** Grows with each change: of two answers the one with the larger version is newer. */
  version: number;
  /** Whether the service behind the server could give nothing newer. Undefined if the server itself knows the payment. */
  stale?: boolean | undefined;
  /** The time of this state by the device's clock, in milliseconds, if it is `stale`. */
  staleSince?: number | undefined;
}

/** A payment by PIX, as the holder of its payment token sees it. */
export interface Payment {
  __typename: 'Payment';
  /** A card payment alone has these two, so that code for both may read them. */
  orderCode?: undefined;
  checkoutUrl?: undefined;
  paymentId: string;
  status: PaymentStatus;
  amountCents: number;
  currency: 'BRL';
  expiresAt: string;
  /** Seconds until `expiresAt` by the server's clock, when it answered. */
  expiresInSeconds: number;
  description: string | null;
  paidAt: string | null;
  /** Whether the payer paid after `expiresAt`. */
  paidLate: boolean;
  refundedAt: string | null;
  /** The code; null until the bank has given it, and once no more can be paid. */
  pix: PixCode | null;
  /** Money that came and is sent back: twice, another amount, or for an order that is paid. */
  returnedCredits: ReturnedCredit[];
  /** Whether another payment has paid the order while this one was open, had expired or was returned, so that nobody can pay this one. */
  orderPaid: boolean;
  /** Whether that payment was refunded in full since. */
  orderRefunded: boolean;
  /** Whether its money came too late and is returned: the status is FAILED. Null if the server does not know. */
  returned: boolean | null;
  /** The time at which the merchant canceled it: it is EXPIRED since then, and its token starts no other one. */
  canceledAt: string | null;
  /** Grows with each change: of two answers the one with the larger version is newer. */
  version: number;
  /** Whether the service behind the server could give nothing newer. Undefined if the server itself knows the payment. */
  stale?: boolean | undefined;
  /** The time of this state by the device's clock, in milliseconds, if it is `stale`. */
  staleSince?: number | undefined;
}

/** The code that the payer's bank reads. */
export interface PixCode {
  /** PIX Copia e Cola. */
  copyPaste: string;
  /** The same as a QR code, as the path of an SVG with `size` modules on a side; null if it is too long to draw. */
  qr: { path: string; size: number } | null;
}

export interface ReturnedCredit {
  amountCents: number;
  /** Null while the bank is sending it back. */
  returnedAt: string | null;
}

/** Content of the product, as its payer is given it. */
export interface DeliveredContent {
  kind: 'TEXT' | 'LINK' | 'CODES' | 'UNKNOWN';
  /** PENDING while a code is out of stock. */
  status: 'DELIVERED' | 'PENDING' | 'REVOKED' | 'UNKNOWN';
  /** The merchant's text; null unless DELIVERED. */
  content: string | null;
}

/** A payment by any method; `__typename` says which. */
export type CheckoutPayment = CardPayment | Payment;

/** The payer, as far as the shop knows. */
export interface CustomerInput {
  name?: string | null;
  email?: string | null;
  externalId?: string | null;
}

export interface StartCheckoutInput {
  attemptId: string;
  amountCents?: number | null;
  customer?: CustomerInput | null;
}

/** A refusal of startCheckout or startPixCheckout, with the members that the widget reads. */
export interface Refusal {
  message: string;
  code: string;
  retryAfterSeconds?: number;
}

export interface StartCheckoutSuccess {
  cardPayment: CardPayment;
  /** A token that reads and follows this payment alone. */
  paymentToken: string;
}

export type StartCheckoutResult = StartCheckoutSuccess | Refusal;

export interface StartPixCheckoutSuccess {
  payment: Payment;
  /** A token that reads and follows this payment alone. */
  paymentToken: string;
}

export type StartPixCheckoutResult = StartPixCheckoutSuccess | Refusal;

export interface CardPaymentUpdate {
  /** The position of this update in the stream, for `after`. */
  cursor: string;
  cardPayment: CardPayment;
}

export interface PaymentUpdate {
  /** The position of this update in the stream, for `after`. */
  cursor: string;
  payment: Payment;
}

export interface GraphqlError {
  message: string;
  extensions?: { code?: unknown; retryAfterSeconds?: unknown };
}

/** The result of a GraphQL operation over any transport. */
export interface ExecutionResult<T> {
  data?: T | null;
  errors?: readonly GraphqlError[];
  /** The age of the answer, if the server asks another service. */
  extensions?: { upstream?: UpstreamAge };
}

export interface UpstreamAge {
  /** Null if nothing was read from the service. */
  ageSeconds: number | null;
  /** Whether something newer was wanted and could not be read. */
  stale: boolean;
  /** Whether the service has refused the server's key; no payer is shown that. */
  keyRefused?: boolean;
}

const SHARED =
  '__typename status amountCents currency expiresAt expiresInSeconds description paidAt paidLate refundedAt version orderPaid orderRefunded returned canceledAt';
const FIELDS = `${SHARED} orderCode checkoutUrl failureReason` as const;
const PIX_FIELDS =
  `${SHARED} paymentId pix{copyPaste qr{path size}}returnedCredits{amountCents returnedAt}` as const;
const DELIVERED = 'delivered{kind status content}';
const REFUSALS = '...on UserError{message code}...on RateLimitError{retryAfterSeconds}';

export const START_CHECKOUT =
  `mutation StartCheckout($input:StartCheckoutInput!){startCheckout(input:$input){...on StartCheckoutSuccess{cardPayment{${FIELDS}}paymentToken}${REFUSALS}}}` as const;

export const CARD_PAYMENT =
  `query CardPayment($orderCode:String!){cardPayment(orderCode:$orderCode){${FIELDS}}}` as const;

export const CARD_PAYMENT_UPDATES =
  `subscription CardPaymentUpdates($orderCode:String!,$after:String){cardPaymentUpdates(orderCode:$orderCode,after:$after){cursor cardPayment{${FIELDS}}}}` as const;

export const CARD_PAYMENT_DELIVERED =
  `query CardPaymentDelivered($orderCode:String!){cardPayment(orderCode:$orderCode){${DELIVERED}}}` as const;

export const START_PIX_CHECKOUT =
  `mutation StartPixCheckout($input:StartCheckoutInput!){startPixCheckout(input:$input){...on StartPixCheckoutSuccess{payment{${PIX_FIELDS}}paymentToken}${REFUSALS}}}` as const;

export const PAYMENT =
  `query Payment($paymentId:String!){payment(paymentId:$paymentId){${PIX_FIELDS}}}` as const;

export const PAYMENT_UPDATES =
  `subscription PaymentUpdates($paymentId:String!,$after:String){paymentUpdates(paymentId:$paymentId,after:$after){cursor payment{${PIX_FIELDS}}}}` as const;

export const PAYMENT_DELIVERED =
  `query PaymentDelivered($paymentId:String!){payment(paymentId:$paymentId){${DELIVERED}}}` as const;
