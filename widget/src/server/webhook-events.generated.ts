// Made from the descriptions of the webhooks in server/src; `npm run regenerate` writes it.

/**
 * The members that each event has. Those of a webhook that a server in front of another service relays are that
 * service's, and a webhook that was first sent by an older server has none: verifyWebhook reads their headers.
 */
export interface WebhookEnvelope<Type extends string = string> {
  /** The same as X-Webhook-Id, on each attempt: deduplicate by it. */
  id: string;
  /** When the change happened. */
  occurredAt: string;
  /** Grows with each change of `resource`: apply no older state. */
  version: number;
  /** Whether it belongs to a test key. */
  sandbox: boolean;
  /** The resource whose state the event reports. */
  resource: {
    type: Type;
    id: string;
  };
}

/** A card payment was paid, late too. */
export interface CardPaymentPaidEvent extends WebhookEnvelope<'card_payment'> {
  event: 'card_payment.paid';
  /** Unique; looks the payment up. */
  orderCode: string;
  /** BRL, at most two decimals. */
  amount: number;
  status: 'paid';
  /** ISO 8601 in UTC, with milliseconds. */
  paidAt: string;
  customer?: {
    name?: string;
    email?: string;
  };
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The number of your order, where one was given. */
  orderId?: string;
  /** orderId under its earlier name. */
  externalId?: string;
}

/** It was paid, late too. */
export interface PaymentPaidEvent extends WebhookEnvelope<'payment'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'payment.paid' | 'payment.test.paid';
  /** psa_ and 32 hex digits. */
  paymentId: string;
  amountCents: number;
  status: 'paid';
  /** ISO 8601 in UTC, with milliseconds. */
  paidAt: string;
  customer?: {
    name?: string;
    email?: string;
  };
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The number of your order, where one was given. */
  orderId?: string;
  /** orderId under its earlier name. */
  externalId?: string;
  /** Of payment.failed by LTC alone: the payment of the order that was kept; this one’s LTC wait for the operator. */
  keptPayment?: string;
}

/** It was paid, late too. */
export interface ChargePaidEvent extends WebhookEnvelope<'charge'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'charge.paid' | 'charge.test.paid';
  /** psc_, or psplit_ of a split charge, and 32 hex digits. */
  chargeId: string;
  amountCents: number;
  status: 'paid';
  /** ISO 8601 in UTC, with milliseconds. */
  paidAt: string;
  /** Of a split charge alone. */
  splits?: ReadonlyArray<{
    subaccountId: string;
    amountCents: number;
    /** Of the net amount, as it was asked for; null for a fixed amount. */
    percent: number | null;
    /** Of it, taken back from the subaccount by refunds, under way or completed. */
    refundedCents: number;
  }>;
  /** The string given at creation, byte for byte; a split charge has none. */
  metadata?: string | null;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** The amount of a refund has left. */
export interface RefundCompletedEvent extends WebhookEnvelope<'refund'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'refund.completed' | 'refund.test.completed';
  /** ref_ and 24 hex digits. */
  refundId: string;
  /** The refunded payment or charge. */
  of: {
    type: 'card_payment' | 'payment' | 'charge';
    id: string;
  };
  amountCents: number;
  status: 'completed';
  reason: string | null;
  failureReason: null;
  /** ISO 8601 in UTC, with milliseconds. */
  completedAt: string;
  failedAt: null;
  /** That of the payment, byte for byte. */
  metadata: string | null;
}

/** A refund has failed: the amount is back where it was taken, but for a payment that is returned by itself: another refund of it is sent a day later. */
export interface RefundFailedEvent extends WebhookEnvelope<'refund'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'refund.failed' | 'refund.test.failed';
  /** ref_ and 24 hex digits. */
  refundId: string;
  /** The refunded payment or charge. */
  of: {
    type: 'card_payment' | 'payment' | 'charge';
    id: string;
  };
  amountCents: number;
  status: 'failed';
  reason: string | null;
  failureReason: string | null;
  completedAt: null;
  /** ISO 8601 in UTC, with milliseconds. */
  failedAt: string;
  /** That of the payment, byte for byte. */
  metadata: string | null;
}

/** A payout of the main account was requested. */
export interface WithdrawalRequestedEvent extends WebhookEnvelope<'payout'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'withdrawal.requested' | 'withdrawal.test.requested';
  /** 24 hex digits. */
  withdrawalId: string;
  /** What support asks for. */
  code: string;
  /** BRL, at most two decimals. */
  amount: number;
  method: 'pix' | 'pix_turbo' | 'ltc' | 'usd';
  /** The destination, whole. */
  walletAddress: string;
  status: 'pendente';
  /** ISO 8601 in UTC, with milliseconds. */
  requestedAt: string;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** The money has arrived. */
export interface WithdrawalCompletedEvent extends WebhookEnvelope<'payout'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'withdrawal.completed' | 'withdrawal.test.completed';
  /** 24 hex digits. */
  withdrawalId: string;
  /** What support asks for. */
  code: string;
  /** BRL, at most two decimals. */
  amount: number;
  method: 'pix' | 'pix_turbo' | 'ltc' | 'usd';
  /** The destination, whole. */
  walletAddress: string;
  status: 'concluido';
  /** ISO 8601 in UTC, with milliseconds. */
  processedAt: string;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** It was refused, and the amount is back in the balance. */
export interface WithdrawalDeniedEvent extends WebhookEnvelope<'payout'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'withdrawal.denied' | 'withdrawal.test.denied';
  /** 24 hex digits. */
  withdrawalId: string;
  /** What support asks for. */
  code: string;
  /** BRL, at most two decimals. */
  amount: number;
  method: 'pix' | 'pix_turbo' | 'ltc' | 'usd';
  /** The destination, whole. */
  walletAddress: string;
  status: 'negado';
  /** ISO 8601 in UTC, with milliseconds. */
  processedAt: string;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** The payout of a subaccount has a new status, or was reversed. */
export interface SubaccountPayoutEvent extends WebhookEnvelope<'subaccount_payout'> {
  event: 'subaccount.payout';
  /** The refId of its payout entry in the statement. */
  payoutId: string | null;
  /** 24 hex digits; null while the payout is still being created. */
  withdrawalId: string | null;
  /** TURBO-…; or SUB-… for a payout refused before reaching the bank. */
  code: string | null;
  subaccountId: string;
  /** processing: the money may have left, do not repeat the payout. failed: nothing was sent; with reversed true the amount is back. */
  status: 'completed' | 'processing' | 'failed';
  /** The amount went back to the subaccount. */
  reversed: boolean;
  /** Gross: what the subaccount was debited. */
  amountCents: number;
  /** Your own markup, included in the gross amount: markupCents in GraphQL. The service’s fee is platformFeeCents. */
  feeCents: number;
  /** The service’s fee, serviceFeeCents in GraphQL; null when the payout was never assembled for sending. */
  platformFeeCents: number | null;
  /** What the PIX key receives; null when the payout was never assembled for sending. */
  netAmountCents: number | null;
  /** Masked. */
  pixKey: string | null;
  /** The bank’s identifier of the PIX. */
  endToEndId: string | null;
  recipientName: string | null;
  recipientBankName: string | null;
  /** Only when the status is failed. */
  failureReason: string | null;
  /** When the subaccount was debited. */
  createdAt: string;
  completedAt: string | null;
  /** When the reversal was entered in the statement. */
  reversedAt: string | null;
  /** Your own number for it, where one was given. */
  externalId?: string;
  /** The kind of pixKey, as it was taken. */
  destinationKind?: 'cpf' | 'cnpj' | 'phone' | 'email' | 'random';
}

/** Many cards were declined with a checkout token: its payers wait longer after a declined card. */
export interface CheckoutTokenPausedEvent extends WebhookEnvelope<'checkout_token'> {
  event: 'checkout_token.paused';
  tokenId: string;
  reason: 'declines';
  /** ISO 8601 in UTC, with milliseconds. */
  pausedAt: string;
  /** Null: until you resume it. */
  pausedUntil: string | null;
}

/** Its session has ended, or it was canceled. */
export interface CardPaymentExpiredEvent extends WebhookEnvelope<'card_payment'> {
  event: 'card_payment.expired';
  /** Unique; looks the payment up. */
  orderCode: string;
  /** BRL, at most two decimals. */
  amount: number;
  status: 'expired';
  /** ISO 8601 in UTC, with milliseconds. */
  expiredAt: string;
  /** Where it was canceled. */
  canceledAt?: string;
  customer?: {
    name?: string;
    email?: string;
  };
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The number of your order, where one was given. */
  orderId?: string;
  /** orderId under its earlier name. */
  externalId?: string;
}

/** It cannot be paid any more. */
export interface CardPaymentFailedEvent extends WebhookEnvelope<'card_payment'> {
  event: 'card_payment.failed';
  /** Unique; looks the payment up. */
  orderCode: string;
  /** BRL, at most two decimals. */
  amount: number;
  status: 'failed';
  failureReason: string | null;
  customer?: {
    name?: string;
    email?: string;
  };
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The number of your order, where one was given. */
  orderId?: string;
  /** orderId under its earlier name. */
  externalId?: string;
}

/** The whole amount was given back. */
export interface CardPaymentRefundedEvent extends WebhookEnvelope<'card_payment'> {
  event: 'card_payment.refunded';
  /** Unique; looks the payment up. */
  orderCode: string;
  /** BRL, at most two decimals. */
  amount: number;
  status: 'refunded';
  /** ISO 8601 in UTC, with milliseconds. */
  paidAt?: string;
  refundedAt: string | null;
  customer?: {
    name?: string;
    email?: string;
  };
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The number of your order, where one was given. */
  orderId?: string;
  /** orderId under its earlier name. */
  externalId?: string;
}

/** Nobody has paid it in time, or it was canceled. */
export interface PaymentExpiredEvent extends WebhookEnvelope<'payment'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'payment.expired' | 'payment.test.expired';
  /** psa_ and 32 hex digits. */
  paymentId: string;
  amountCents: number;
  status: 'expired';
  /** ISO 8601 in UTC, with milliseconds. */
  expiredAt: string;
  /** Where it was canceled. */
  canceledAt?: string;
  customer?: {
    name?: string;
    email?: string;
  };
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The number of your order, where one was given. */
  orderId?: string;
  /** orderId under its earlier name. */
  externalId?: string;
  /** Of payment.failed by LTC alone: the payment of the order that was kept; this one’s LTC wait for the operator. */
  keptPayment?: string;
}

/** It cannot be paid any more. */
export interface PaymentFailedEvent extends WebhookEnvelope<'payment'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'payment.failed' | 'payment.test.failed';
  /** psa_ and 32 hex digits. */
  paymentId: string;
  amountCents: number;
  status: 'failed';
  failureReason: string | null;
  customer?: {
    name?: string;
    email?: string;
  };
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The number of your order, where one was given. */
  orderId?: string;
  /** orderId under its earlier name. */
  externalId?: string;
  /** Of payment.failed by LTC alone: the payment of the order that was kept; this one’s LTC wait for the operator. */
  keptPayment?: string;
}

/** The whole amount was given back. */
export interface PaymentRefundedEvent extends WebhookEnvelope<'payment'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'payment.refunded' | 'payment.test.refunded';
  /** psa_ and 32 hex digits. */
  paymentId: string;
  amountCents: number;
  status: 'refunded';
  /** ISO 8601 in UTC, with milliseconds. */
  paidAt?: string;
  refundedAt: string | null;
  customer?: {
    name?: string;
    email?: string;
  };
  /** The string given at creation, byte for byte. */
  metadata: string | null;
  /** The number of your order, where one was given. */
  orderId?: string;
  /** orderId under its earlier name. */
  externalId?: string;
  /** Of payment.failed by LTC alone: the payment of the order that was kept; this one’s LTC wait for the operator. */
  keptPayment?: string;
}

/** Nobody has paid it in time, or it was canceled. */
export interface ChargeExpiredEvent extends WebhookEnvelope<'charge'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'charge.expired' | 'charge.test.expired';
  /** psc_, or psplit_ of a split charge, and 32 hex digits. */
  chargeId: string;
  amountCents: number;
  status: 'expired';
  /** ISO 8601 in UTC, with milliseconds. */
  expiredAt: string;
  /** Where it was canceled. */
  canceledAt?: string;
  /** Of a split charge alone. */
  splits?: ReadonlyArray<{
    subaccountId: string;
    amountCents: number;
    /** Of the net amount, as it was asked for; null for a fixed amount. */
    percent: number | null;
    /** Of it, taken back from the subaccount by refunds, under way or completed. */
    refundedCents: number;
  }>;
  /** The string given at creation, byte for byte; a split charge has none. */
  metadata?: string | null;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** It cannot be paid any more. */
export interface ChargeFailedEvent extends WebhookEnvelope<'charge'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'charge.failed' | 'charge.test.failed';
  /** psc_, or psplit_ of a split charge, and 32 hex digits. */
  chargeId: string;
  amountCents: number;
  status: 'failed';
  failureReason: string | null;
  /** Of a split charge alone. */
  splits?: ReadonlyArray<{
    subaccountId: string;
    amountCents: number;
    /** Of the net amount, as it was asked for; null for a fixed amount. */
    percent: number | null;
    /** Of it, taken back from the subaccount by refunds, under way or completed. */
    refundedCents: number;
  }>;
  /** The string given at creation, byte for byte; a split charge has none. */
  metadata?: string | null;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** The whole amount was given back. */
export interface ChargeRefundedEvent extends WebhookEnvelope<'charge'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'charge.refunded' | 'charge.test.refunded';
  /** psc_, or psplit_ of a split charge, and 32 hex digits. */
  chargeId: string;
  amountCents: number;
  status: 'refunded';
  /** ISO 8601 in UTC, with milliseconds. */
  paidAt?: string;
  refundedAt: string | null;
  /** Of a split charge alone. */
  splits?: ReadonlyArray<{
    subaccountId: string;
    amountCents: number;
    /** Of the net amount, as it was asked for; null for a fixed amount. */
    percent: number | null;
    /** Of it, taken back from the subaccount by refunds, under way or completed. */
    refundedCents: number;
  }>;
  /** The string given at creation, byte for byte; a split charge has none. */
  metadata?: string | null;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** Money that did not pay went back to its payer. */
export interface ReturnCompletedEvent extends WebhookEnvelope<'return'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'return.completed' | 'return.test.completed';
  /** ret_ and 24 hex digits. */
  returnId: string;
  amountCents: number;
  cause: 'already_paid' | 'amount_mismatch' | 'canceled' | 'not_payable' | 'paid_elsewhere';
  /** The number of your order; null of a charge or a subscription, which belong to none. */
  orderId: string | null;
  /** The same; of a charge your own label for it. */
  externalId: string | null;
  /** The payment of the same order that was kept; null where none was. */
  keptPayment: string | null;
  /** Of the PIX that came, at the bank; null of a card. */
  endToEndId: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  receivedAt: string;
  /** The resource that it came for. */
  of: {
    type: 'card_payment' | 'payment' | 'charge' | 'subscription';
    id: string;
  };
  /** ISO 8601 in UTC, with milliseconds. */
  returnedAt: string;
  /** That of the resource, byte for byte. */
  metadata: string | null;
}

/** The payer has authorized it, and paid its first cycle. */
export interface SubscriptionActivatedEvent extends WebhookEnvelope<'subscription'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'subscription.activated' | 'subscription.test.activated';
  /** psa_sub_ and 32 hex digits. */
  subscriptionId: string;
  status: 'pending' | 'active' | 'past_due' | 'canceled' | 'completed' | 'expired';
  /** The amount of each cycle. */
  amountCents: number;
  /** The cycle that has changed; null where none has. */
  cycle: {
    /** 1, 2, 3, …. */
    number: number;
    /** 00:00 of its day in São Paulo. */
    dueAt: string | null;
    status: 'scheduled' | 'retrying' | 'paid' | 'failed' | 'canceled';
    /** Of 4: when due, and three more in the seven days after. */
    attempts: number;
    nextAttemptAt: string | null;
    /** The payment that it has made, which is refunded as any; null until it is paid. */
    paymentId: string | null;
    /** The reason of the last failed attempt; null once it is paid. */
    failureReason: string | null;
  } | null;
  cancelReason: 'merchant' | 'payer' | 'unpaid' | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
}

/** A cycle was paid: no payment.paid is sent for its payment. */
export interface SubscriptionPaidEvent extends WebhookEnvelope<'subscription'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'subscription.paid' | 'subscription.test.paid';
  /** psa_sub_ and 32 hex digits. */
  subscriptionId: string;
  status: 'pending' | 'active' | 'past_due' | 'canceled' | 'completed' | 'expired';
  /** The amount of each cycle. */
  amountCents: number;
  /** The cycle that has changed; null where none has. */
  cycle: {
    /** 1, 2, 3, …. */
    number: number;
    /** 00:00 of its day in São Paulo. */
    dueAt: string | null;
    status: 'scheduled' | 'retrying' | 'paid' | 'failed' | 'canceled';
    /** Of 4: when due, and three more in the seven days after. */
    attempts: number;
    nextAttemptAt: string | null;
    /** The payment that it has made, which is refunded as any; null until it is paid. */
    paymentId: string | null;
    /** The reason of the last failed attempt; null once it is paid. */
    failureReason: string | null;
  } | null;
  cancelReason: 'merchant' | 'payer' | 'unpaid' | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
}

/** An attempt to debit a cycle has failed, or a cycle has ended without one. */
export interface SubscriptionPaymentFailedEvent extends WebhookEnvelope<'subscription'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'subscription.payment_failed' | 'subscription.test.payment_failed';
  /** psa_sub_ and 32 hex digits. */
  subscriptionId: string;
  status: 'pending' | 'active' | 'past_due' | 'canceled' | 'completed' | 'expired';
  /** The amount of each cycle. */
  amountCents: number;
  /** The cycle that has changed; null where none has. */
  cycle: {
    /** 1, 2, 3, …. */
    number: number;
    /** 00:00 of its day in São Paulo. */
    dueAt: string | null;
    status: 'scheduled' | 'retrying' | 'paid' | 'failed' | 'canceled';
    /** Of 4: when due, and three more in the seven days after. */
    attempts: number;
    nextAttemptAt: string | null;
    /** The payment that it has made, which is refunded as any; null until it is paid. */
    paymentId: string | null;
    /** The reason of the last failed attempt; null once it is paid. */
    failureReason: string | null;
  } | null;
  cancelReason: 'merchant' | 'payer' | 'unpaid' | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
}

/** It is past due from then on. */
export interface SubscriptionPastDueEvent extends WebhookEnvelope<'subscription'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'subscription.past_due' | 'subscription.test.past_due';
  /** psa_sub_ and 32 hex digits. */
  subscriptionId: string;
  status: 'pending' | 'active' | 'past_due' | 'canceled' | 'completed' | 'expired';
  /** The amount of each cycle. */
  amountCents: number;
  /** The cycle that has changed; null where none has. */
  cycle: {
    /** 1, 2, 3, …. */
    number: number;
    /** 00:00 of its day in São Paulo. */
    dueAt: string | null;
    status: 'scheduled' | 'retrying' | 'paid' | 'failed' | 'canceled';
    /** Of 4: when due, and three more in the seven days after. */
    attempts: number;
    nextAttemptAt: string | null;
    /** The payment that it has made, which is refunded as any; null until it is paid. */
    paymentId: string | null;
    /** The reason of the last failed attempt; null once it is paid. */
    failureReason: string | null;
  } | null;
  cancelReason: 'merchant' | 'payer' | 'unpaid' | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
}

/** It was canceled. */
export interface SubscriptionCanceledEvent extends WebhookEnvelope<'subscription'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'subscription.canceled' | 'subscription.test.canceled';
  /** psa_sub_ and 32 hex digits. */
  subscriptionId: string;
  status: 'pending' | 'active' | 'past_due' | 'canceled' | 'completed' | 'expired';
  /** The amount of each cycle. */
  amountCents: number;
  /** The cycle that has changed; null where none has. */
  cycle: {
    /** 1, 2, 3, …. */
    number: number;
    /** 00:00 of its day in São Paulo. */
    dueAt: string | null;
    status: 'scheduled' | 'retrying' | 'paid' | 'failed' | 'canceled';
    /** Of 4: when due, and three more in the seven days after. */
    attempts: number;
    nextAttemptAt: string | null;
    /** The payment that it has made, which is refunded as any; null until it is paid. */
    paymentId: string | null;
    /** The reason of the last failed attempt; null once it is paid. */
    failureReason: string | null;
  } | null;
  cancelReason: 'merchant' | 'payer' | 'unpaid' | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
}

/** Its last cycle has ended. */
export interface SubscriptionCompletedEvent extends WebhookEnvelope<'subscription'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'subscription.completed' | 'subscription.test.completed';
  /** psa_sub_ and 32 hex digits. */
  subscriptionId: string;
  status: 'pending' | 'active' | 'past_due' | 'canceled' | 'completed' | 'expired';
  /** The amount of each cycle. */
  amountCents: number;
  /** The cycle that has changed; null where none has. */
  cycle: {
    /** 1, 2, 3, …. */
    number: number;
    /** 00:00 of its day in São Paulo. */
    dueAt: string | null;
    status: 'scheduled' | 'retrying' | 'paid' | 'failed' | 'canceled';
    /** Of 4: when due, and three more in the seven days after. */
    attempts: number;
    nextAttemptAt: string | null;
    /** The payment that it has made, which is refunded as any; null until it is paid. */
    paymentId: string | null;
    /** The reason of the last failed attempt; null once it is paid. */
    failureReason: string | null;
  } | null;
  cancelReason: 'merchant' | 'payer' | 'unpaid' | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
}

/** Nobody has authorized it in time, or the bank gave no code. */
export interface SubscriptionExpiredEvent extends WebhookEnvelope<'subscription'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'subscription.expired' | 'subscription.test.expired';
  /** psa_sub_ and 32 hex digits. */
  subscriptionId: string;
  status: 'pending' | 'active' | 'past_due' | 'canceled' | 'completed' | 'expired';
  /** The amount of each cycle. */
  amountCents: number;
  /** The cycle that has changed; null where none has. */
  cycle: {
    /** 1, 2, 3, …. */
    number: number;
    /** 00:00 of its day in São Paulo. */
    dueAt: string | null;
    status: 'scheduled' | 'retrying' | 'paid' | 'failed' | 'canceled';
    /** Of 4: when due, and three more in the seven days after. */
    attempts: number;
    nextAttemptAt: string | null;
    /** The payment that it has made, which is refunded as any; null until it is paid. */
    paymentId: string | null;
    /** The reason of the last failed attempt; null once it is paid. */
    failureReason: string | null;
  } | null;
  cancelReason: 'merchant' | 'payer' | 'unpaid' | null;
  /** The string given at creation, byte for byte. */
  metadata: string | null;
}

/** It was sent: the money may have left. */
export interface WithdrawalProcessingEvent extends WebhookEnvelope<'payout'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'withdrawal.processing' | 'withdrawal.test.processing';
  /** 24 hex digits. */
  withdrawalId: string;
  /** What support asks for. */
  code: string;
  /** BRL, at most two decimals. */
  amount: number;
  method: 'pix' | 'pix_turbo' | 'ltc' | 'usd';
  /** The destination, whole. */
  walletAddress: string;
  status: 'processing';
  /** ISO 8601 in UTC, with milliseconds. */
  requestedAt: string;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** It came back after it had arrived, and the amount is back in the balance. */
export interface WithdrawalReturnedEvent extends WebhookEnvelope<'payout'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'withdrawal.returned' | 'withdrawal.test.returned';
  /** 24 hex digits. */
  withdrawalId: string;
  /** What support asks for. */
  code: string;
  /** BRL, at most two decimals. */
  amount: number;
  method: 'pix' | 'pix_turbo' | 'ltc' | 'usd';
  /** The destination, whole. */
  walletAddress: string;
  status: 'concluido';
  /** ISO 8601 in UTC, with milliseconds. */
  processedAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  returnedAt: string;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** A dispute blocks an amount. */
export interface DisputeOpenedEvent extends WebhookEnvelope<'dispute'> {
  event: 'dispute.opened';
  /** dsp_ and 24 hex digits. */
  disputeId: string;
  /** The disputed payment; null where it is not known. */
  of: {
    type: 'card_payment' | 'payment' | 'charge';
    id: string;
  } | null;
  amountCents: number;
  /** open: evidence can be submitted; under_review: the banks decide; won; lost: still held, until it is forgiven; forgiven. */
  status: 'open' | 'under_review' | 'won' | 'lost' | 'forgiven';
  reason: 'fraud' | 'operational_error' | 'unknown';
  /** No evidence is taken from then on. */
  evidenceDueAt: string | null;
  createdAt: string | null;
  /** When it was decided; a lost one keeps it when it is forgiven. */
  closedAt: string | null;
}

/** Evidence was submitted, or the time for it is over. */
export interface DisputeUpdatedEvent extends WebhookEnvelope<'dispute'> {
  event: 'dispute.updated';
  /** dsp_ and 24 hex digits. */
  disputeId: string;
  /** The disputed payment; null where it is not known. */
  of: {
    type: 'card_payment' | 'payment' | 'charge';
    id: string;
  } | null;
  amountCents: number;
  /** open: evidence can be submitted; under_review: the banks decide; won; lost: still held, until it is forgiven; forgiven. */
  status: 'open' | 'under_review' | 'won' | 'lost' | 'forgiven';
  reason: 'fraud' | 'operational_error' | 'unknown';
  /** No evidence is taken from then on. */
  evidenceDueAt: string | null;
  createdAt: string | null;
  /** When it was decided; a lost one keeps it when it is forgiven. */
  closedAt: string | null;
}

/** It is won or lost, or a lost one is forgiven. */
export interface DisputeClosedEvent extends WebhookEnvelope<'dispute'> {
  event: 'dispute.closed';
  /** dsp_ and 24 hex digits. */
  disputeId: string;
  /** The disputed payment; null where it is not known. */
  of: {
    type: 'card_payment' | 'payment' | 'charge';
    id: string;
  } | null;
  amountCents: number;
  /** open: evidence can be submitted; under_review: the banks decide; won; lost: still held, until it is forgiven; forgiven. */
  status: 'open' | 'under_review' | 'won' | 'lost' | 'forgiven';
  reason: 'fraud' | 'operational_error' | 'unknown';
  /** No evidence is taken from then on. */
  evidenceDueAt: string | null;
  createdAt: string | null;
  /** When it was decided; a lost one keeps it when it is forgiven. */
  closedAt: string | null;
}

/** A payment was given content of its product. */
export interface DeliveryDeliveredEvent extends WebhookEnvelope<'delivery'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'delivery.delivered' | 'delivery.test.delivered';
  /** 24 hex digits. */
  deliveryId: string;
  productId: string;
  /** The payment; the content is not in the event. */
  of: {
    type: 'card_payment' | 'payment';
    id: string;
  };
}

/** A paid payment waits for a code. */
export interface DeliveryOutOfStockEvent extends WebhookEnvelope<'delivery'> {
  /** The second with a test key; `sandbox` says the same. */
  event: 'delivery.out_of_stock' | 'delivery.test.out_of_stock';
  /** 24 hex digits. */
  deliveryId: string;
  productId: string;
  /** The payment; the content is not in the event. */
  of: {
    type: 'card_payment' | 'payment';
    id: string;
  };
}

/** An endpoint has failed for five days: its events are held until it answers again. */
export interface WebhookEndpointDisabledEvent extends WebhookEnvelope<'webhook_endpoint'> {
  event: 'webhook_endpoint.disabled';
  endpointId: string;
  /** The host of its URL; path and query, which may be secrets, are ***. */
  url: string;
  /** The first failure after its last success. */
  failingSince: string;
  /** The attempts that have failed since then. */
  failedAttempts: number;
  /** ISO 8601 in UTC, with milliseconds. */
  disabledAt: string;
}

export type CardPaymentEvent =
  | CardPaymentPaidEvent
  | CardPaymentExpiredEvent
  | CardPaymentFailedEvent
  | CardPaymentRefundedEvent;

export type PaymentEvent =
  | PaymentPaidEvent
  | PaymentExpiredEvent
  | PaymentFailedEvent
  | PaymentRefundedEvent;

export type ChargeEvent =
  | ChargePaidEvent
  | ChargeExpiredEvent
  | ChargeFailedEvent
  | ChargeRefundedEvent;

export type RefundEvent =
  | RefundCompletedEvent
  | RefundFailedEvent;

export type PayoutEvent =
  | WithdrawalRequestedEvent
  | WithdrawalCompletedEvent
  | WithdrawalDeniedEvent
  | WithdrawalProcessingEvent
  | WithdrawalReturnedEvent;

export type CheckoutTokenEvent = CheckoutTokenPausedEvent;

export type ReturnEvent = ReturnCompletedEvent;

export type SubscriptionEvent =
  | SubscriptionActivatedEvent
  | SubscriptionPaidEvent
  | SubscriptionPaymentFailedEvent
  | SubscriptionPastDueEvent
  | SubscriptionCanceledEvent
  | SubscriptionCompletedEvent
  | SubscriptionExpiredEvent;

export type DisputeEvent =
  | DisputeOpenedEvent
  | DisputeUpdatedEvent
  | DisputeClosedEvent;

export type DeliveryEvent =
  | DeliveryDeliveredEvent
  | DeliveryOutOfStockEvent;

export type WebhookEndpointEvent = WebhookEndpointDisabledEvent;

/** The resource that a refund, dispute or delivery is of. */
export type PaidResource = RefundEvent['of'];

/** The events that are known by `event`. A newer server may send others: leave them out. */
export type WebhookEvent =
  | CardPaymentEvent
  | PaymentEvent
  | ChargeEvent
  | RefundEvent
  | PayoutEvent
  | SubaccountPayoutEvent
  | CheckoutTokenEvent
  | ReturnEvent
  | SubscriptionEvent
  | DisputeEvent
  | DeliveryEvent
  | WebhookEndpointEvent;
