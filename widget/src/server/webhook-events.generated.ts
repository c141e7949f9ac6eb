// Made from the descriptions of the webhooks in server/src; `npm run regenerate` writes it.

/** A card payment was paid, late too. */
export interface CardPaymentPaidEvent {
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
  externalId?: string;
}

/** It was paid, late too. */
export interface PaymentPaidEvent {
  /** The second with a test key. */
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
  externalId?: string;
  /** Of payment.failed by LTC alone: the payment of the order that was kept; this one’s LTC wait for the operator. */
  keptPayment?: string;
  /** With a test key alone. */
  sandbox?: true;
}

/** It was paid, late too. */
export interface ChargePaidEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** The amount of a refund has left. */
export interface RefundCompletedEvent {
  /** The second with a test key. */
  event: 'refund.completed' | 'refund.test.completed';
  /** ref_ and 24 hex digits. */
  refundId: string;
  resource: {
    type: 'card_payment' | 'payment' | 'charge';
    id: string;
  };
  amountCents: number;
  status: 'completed';
  reason: string | null;
  failureReason: string | null;
  completedAt: string | null;
  failedAt: string | null;
  /** That of the payment, byte for byte. */
  metadata: string | null;
  /** With a test key alone. */
  sandbox?: true;
}

/** A refund has failed: the amount is back where it was taken, but for a payment that is returned by itself: another refund of it is sent a day later. */
export interface RefundFailedEvent {
  /** The second with a test key. */
  event: 'refund.failed' | 'refund.test.failed';
  /** ref_ and 24 hex digits. */
  refundId: string;
  resource: {
    type: 'card_payment' | 'payment' | 'charge';
    id: string;
  };
  amountCents: number;
  status: 'failed';
  reason: string | null;
  failureReason: string | null;
  completedAt: string | null;
  failedAt: string | null;
  /** That of the payment, byte for byte. */
  metadata: string | null;
  /** With a test key alone. */
  sandbox?: true;
}

/** A payout of the main account was requested. */
export interface WithdrawalRequestedEvent {
  /** The second with a test key. */
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
  sandbox: boolean;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** The money has arrived. */
export interface WithdrawalCompletedEvent {
  /** The second with a test key. */
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
export interface WithdrawalDeniedEvent {
  /** The second with a test key. */
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
export interface SubaccountPayoutEvent {
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
  /** The subaccount markup, included in the gross amount. */
  feeCents: number;
  /** Null when the payout was never assembled for sending. */
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
export interface CheckoutTokenPausedEvent {
  event: 'checkout_token.paused';
  tokenId: string;
  reason: 'declines';
  /** ISO 8601 in UTC, with milliseconds. */
  pausedAt: string;
  /** Null: until you resume it. */
  pausedUntil: string | null;
}

/** Its session has ended, or it was canceled. */
export interface CardPaymentExpiredEvent {
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
  externalId?: string;
}

/** It cannot be paid any more. */
export interface CardPaymentFailedEvent {
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
  externalId?: string;
}

/** The whole amount was given back. */
export interface CardPaymentRefundedEvent {
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
  externalId?: string;
}

/** Nobody has paid it in time, or it was canceled. */
export interface PaymentExpiredEvent {
  /** The second with a test key. */
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
  externalId?: string;
  /** Of payment.failed by LTC alone: the payment of the order that was kept; this one’s LTC wait for the operator. */
  keptPayment?: string;
  /** With a test key alone. */
  sandbox?: true;
}

/** It cannot be paid any more. */
export interface PaymentFailedEvent {
  /** The second with a test key. */
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
  externalId?: string;
  /** Of payment.failed by LTC alone: the payment of the order that was kept; this one’s LTC wait for the operator. */
  keptPayment?: string;
  /** With a test key alone. */
  sandbox?: true;
}

/** The whole amount was given back. */
export interface PaymentRefundedEvent {
  /** The second with a test key. */
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
  externalId?: string;
  /** Of payment.failed by LTC alone: the payment of the order that was kept; this one’s LTC wait for the operator. */
  keptPayment?: string;
  /** With a test key alone. */
  sandbox?: true;
}

/** Nobody has paid it in time, or it was canceled. */
export interface ChargeExpiredEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** It cannot be paid any more. */
export interface ChargeFailedEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** The whole amount was given back. */
export interface ChargeRefundedEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** Money that did not pay went back to its payer. */
export interface ReturnCompletedEvent {
  /** The second with a test key. */
  event: 'return.completed' | 'return.test.completed';
  /** ret_ and 24 hex digits. */
  returnId: string;
  amountCents: number;
  cause: 'already_paid' | 'amount_mismatch' | 'canceled' | 'not_payable' | 'paid_elsewhere';
  /** The number of your order, or of the charge. */
  externalId: string | null;
  /** The payment of the same order that was kept; null where none was. */
  keptPayment: string | null;
  /** Of the PIX that came, at the bank; null of a card. */
  endToEndId: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  receivedAt: string;
  resource: {
    type: 'card_payment' | 'payment' | 'charge' | 'subscription';
    id: string;
  };
  /** ISO 8601 in UTC, with milliseconds. */
  returnedAt: string;
  /** That of the resource, byte for byte. */
  metadata: string | null;
  /** With a test key alone. */
  sandbox?: true;
}

/** The payer has authorized it, and paid its first cycle. */
export interface SubscriptionActivatedEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** A cycle was paid: no payment.paid is sent for its payment. */
export interface SubscriptionPaidEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** An attempt to debit a cycle has failed, or a cycle has ended without one. */
export interface SubscriptionPaymentFailedEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** It is past due from then on. */
export interface SubscriptionPastDueEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** It was canceled. */
export interface SubscriptionCanceledEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** Its last cycle has ended. */
export interface SubscriptionCompletedEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** Nobody has authorized it in time, or the bank gave no code. */
export interface SubscriptionExpiredEvent {
  /** The second with a test key. */
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
  /** With a test key alone. */
  sandbox?: true;
}

/** It was sent: the money may have left. */
export interface WithdrawalProcessingEvent {
  /** The second with a test key. */
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
  sandbox: boolean;
  /** Your own number for it, where one was given. */
  externalId?: string;
}

/** It came back after it had arrived, and the amount is back in the balance. */
export interface WithdrawalReturnedEvent {
  /** The second with a test key. */
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
export interface DisputeOpenedEvent {
  event: 'dispute.opened';
  /** dsp_ and 24 hex digits. */
  disputeId: string;
  /** The disputed payment; null where it is not known. */
  resource: {
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
export interface DisputeUpdatedEvent {
  event: 'dispute.updated';
  /** dsp_ and 24 hex digits. */
  disputeId: string;
  /** The disputed payment; null where it is not known. */
  resource: {
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
export interface DisputeClosedEvent {
  event: 'dispute.closed';
  /** dsp_ and 24 hex digits. */
  disputeId: string;
  /** The disputed payment; null where it is not known. */
  resource: {
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
export interface DeliveryDeliveredEvent {
  /** The second with a test key. */
  event: 'delivery.delivered' | 'delivery.test.delivered';
  /** 24 hex digits. */
  deliveryId: string;
  productId: string;
  /** The payment; the content is not in the event. */
  resource: {
    type: 'card_payment' | 'payment';
    id: string;
  };
  /** With a test key alone. */
  sandbox?: true;
}

/** A paid payment waits for a code. */
export interface DeliveryOutOfStockEvent {
  /** The second with a test key. */
  event: 'delivery.out_of_stock' | 'delivery.test.out_of_stock';
  /** 24 hex digits. */
  deliveryId: string;
  productId: string;
  /** The payment; the content is not in the event. */
  resource: {
    type: 'card_payment' | 'payment';
    id: string;
  };
  /** With a test key alone. */
  sandbox?: true;
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

/** The resource that a refund, dispute or delivery is of. */
export type PaidResource = RefundEvent['resource'];

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
  | DeliveryEvent;
