// The widget's three GraphQL documents and the types of their results. The interfaces are written by hand so that the
// published types need no GraphQL library; operations.check.ts fails to compile when they differ from schema.graphql.

/** The status of a card payment. UNKNOWN is an upstream status that the server does not know. */
export type CardPaymentStatus = 'PENDING' | 'PAID' | 'EXPIRED' | 'REFUNDED' | 'FAILED' | 'UNKNOWN';

/** A card payment, as the holder of its payment token sees it. */
export interface CardPayment {
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
  /** Grows with each change: of two answers the one with the larger version is newer. */
  version: number;
}

/** The payer, as far as the shop knows. */
export interface CustomerInput {
  name?: string | null;
  email?: string | null;
  externalId?: string | null;
}

export interface StartCheckoutInput {
  attemptId: string;
  valueCents?: number | null;
  customer?: CustomerInput | null;
}

/** A refusal of startCheckout, with the members that the widget reads. */
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

export interface CardPaymentUpdate {
  /** The position of this update in the stream, for `after`. */
  cursor: string;
  cardPayment: CardPayment;
}

export interface GraphqlError {
  message: string;
  extensions?: Record<string, unknown>;
}

/** The result of a GraphQL operation over any transport. */
export interface ExecutionResult<T> {
  data?: T | null;
  errors?: readonly GraphqlError[];
}

const FIELDS =
  'orderCode status amountCents currency checkoutUrl expiresAt expiresInSeconds description paidAt paidLate refundedAt failureReason version';

export const START_CHECKOUT =
  `mutation StartCheckout($input:StartCheckoutInput!){startCheckout(input:$input){...on StartCheckoutSuccess{cardPayment{${FIELDS}}paymentToken}...on UserError{message code}...on RateLimitError{retryAfterSeconds}}}` as const;

export const CARD_PAYMENT =
  `query CardPayment($orderCode:String!){cardPayment(orderCode:$orderCode){${FIELDS}}}` as const;

export const CARD_PAYMENT_UPDATES =
  `subscription CardPaymentUpdates($orderCode:String!,$after:String){cardPaymentUpdates(orderCode:$orderCode,after:$after){cursor cardPayment{${FIELDS}}}}` as const;
