/** With a test key, `test.` stands before the last word of an event of payments, charges and payouts. */
type Tested<Family extends string, Word extends string> = `${Family}.${Word}` | `${Family}.test.${Word}`;

type Ending = 'paid' | 'expired' | 'failed' | 'refunded';

interface Settled {
  status: Ending;
  paidAt?: string;
  expiredAt?: string;
  refundedAt?: string | null;
  failureReason?: string | null;
}

interface Payer {
  customer?: { name?: string; email?: string };
  /** The text that was given at creation. */
  metadata: string | null;
  /** The number of your order, where one was given. */
  externalId?: string;
}

/** The resource that a refund, dispute or delivery is of. */
export interface PaidResource {
  type: string;
  id: string;
}

/** `amount` is in reais: round `amount` × 100. */
export interface CardPaymentEvent extends Settled, Payer {
  event: `card_payment.${Ending}`;
  orderCode: string;
  amount: number;
}

export interface PaymentEvent extends Settled, Payer {
  event: Tested<'payment', Ending>;
  paymentId: string;
  amountCents: number;
}

export interface ChargeEvent extends Settled {
  event: Tested<'charge', Ending>;
  chargeId: string;
  amountCents: number;
  /** A split charge has `splits` in place of it. */
  metadata?: string | null;
  splits?: readonly Record<string, unknown>[];
  externalId?: string;
}

/** `amount` is in reais. `walletAddress` is the whole destination. */
export interface PayoutEvent {
  event: Tested<'withdrawal', 'requested' | 'processing' | 'completed' | 'denied'>;
  withdrawalId: string | null;
  code: string | null;
  amount: number;
  method: string;
  walletAddress: string | null;
  status: string;
  requestedAt?: string;
  processedAt?: string;
  externalId?: string;
}

export interface SubaccountPayoutEvent {
  event: 'subaccount.payout';
  code: string;
  [member: string]: unknown;
}

export interface RefundEvent {
  event: Tested<'refund', 'completed' | 'failed'>;
  refundId: string;
  resource: PaidResource;
  amountCents: number;
  status: 'completed' | 'failed';
  reason: string | null;
  failureReason: string | null;
  completedAt: string | null;
  metadata: string | null;
}

export interface DisputeEvent {
  event: `dispute.${'opened' | 'updated' | 'closed'}`;
  disputeId: string;
  resource: PaidResource | null;
  amountCents: number;
  status: string;
  reason: string | null;
  evidenceDueAt: string | null;
  createdAt: string;
  closedAt: string | null;
}

export interface SubscriptionEvent {
  event: Tested<
    'subscription',
    'activated' | 'paid' | 'payment_failed' | 'past_due' | 'canceled' | 'completed' | 'expired'
  >;
  subscriptionId: string;
  status: string;
  amountCents: number;
  cycle: { number: number; dueAt: string | null; status: string; paymentId: string | null } | null;
  cancelReason: string | null;
  metadata: string | null;
}

export interface DeliveryEvent {
  event: Tested<'delivery', 'delivered' | 'out_of_stock'>;
  deliveryId: string;
  productId: string | null;
  resource: PaidResource;
}

export interface CheckoutTokenEvent {
  event: 'checkout_token.paused';
  tokenId: string;
  reason: string;
  pausedAt: string;
  pausedUntil: string | null;
}

/** The events that are known by `event`. A newer server may send others: leave them out. */
export type WebhookEvent =
  | CardPaymentEvent
  | PaymentEvent
  | ChargeEvent
  | PayoutEvent
  | SubaccountPayoutEvent
  | RefundEvent
  | DisputeEvent
  | SubscriptionEvent
  | DeliveryEvent
  | CheckoutTokenEvent;
