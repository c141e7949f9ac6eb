// The widget's three documents, and what they answer with. The interfaces are written by hand so that the
// published types need no GraphQL library; operations.check.ts fails to compile when they part from schema.graphql.

/** UNKNOWN is a status that the server itself does not know yet. */
export type CardPaymentStatus = 'PENDING' | 'PAID' | 'EXPIRED' | 'REFUNDED' | 'FAILED' | 'UNKNOWN';

/** One card payment, as the server tells it to the holder of its payment token. */
export interface CardPayment {
  orderCode: string;
  status: CardPaymentStatus;
  amountCents: number;
  currency: 'BRL';
  /** The hosted page on which the payer types the card. */
  checkoutUrl: string | null;
  expiresAt: string;
  /** Seconds until `expiresAt` by the server's clock, at the moment of its answer. */
  expiresInSeconds: number;
  description: string | null;
  paidAt: string | null;
  /** Confirmed by the acquirer after `expiresAt`. */
  paidLate: boolean;
  refundedAt: string | null;
  failureReason: string | null;
  /** Grows with each change: of two answers the larger is the newer. */
  version: number;
}

/** Who pays, as far as the shop knows. */
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

/** The refusals of startCheckout, by the members that the widget reads. */
export interface Refusal {
  message: string;
  code: string;
  retryAfterSeconds?: number;
}

export interface StartCheckoutSuccess {
  cardPayment: CardPayment;
  /** Reads and follows this payment alone. */
  paymentToken: string;
}

export type StartCheckoutResult = StartCheckoutSuccess | Refusal;

export interface CardPaymentUpdate {
  /** Where this update stands in the stream; `after` it comes the next one. */
  cursor: string;
  cardPayment: CardPayment;
}

export interface GraphqlError {
  message: string;
  extensions?: Record<string, unknown>;
}

/** What any GraphQL transport answers with. */
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
