// The rule that decides from the payments of an order whether the order accepts another payment.

/** The members of a payment that show whether it closes its order. */
export interface PaymentState {
  id: string;
  status: string;
  paidAt: Date | null;
  canceledAt: Date | null;
}

/**
 * Whether a payment closes its attempt or order, so that no other payment of it is accepted. A paid payment
 * does, even after a refund. A canceled payment whose money was returned does not. A canceled payment that is
 * paid and not returned was accepted by a server of an earlier version, which knows no cancellation: it does.
 */
export function closesOrder({
  status,
  paidAt,
  canceledAt,
}: Pick<PaymentState, 'status' | 'paidAt' | 'canceledAt'>): boolean {
  return paidAt !== null && !(canceledAt !== null && status === 'refunded');
}

/** The status of a closed order: paid, also after refunds of a part, or refunded in full. */
export type OrderStatus = 'paid' | 'refunded';

/** The status of the order with these payments; null while none of them closes it. */
export function orderStatusOf(payments: readonly PaymentState[]): OrderStatus | null {
  const closing = payments.filter(closesOrder);
  if (closing.length === 0) return null;
  // A second payment, which is returned automatically, is refunded beside the payment that the order keeps.
  return closing.every(({ status }) => status === 'refunded') ? 'refunded' : 'paid';
}
