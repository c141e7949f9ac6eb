// The rule by which the payments of an order decide whether it takes another one.

/** The members of a payment that tell whether it closes its order. */
export interface PaymentState {
  id: string;
  status: string;
  paidAt: Date | null;
  canceledAt: Date | null;
}

/**
 * Whether a payment closes its attempt or order, so that no other payment of it is accepted. A paid payment does, even after a
 * refund. A canceled one whose money was returned does not; one that is paid and not returned was accepted by a server of an
 * earlier version, which knows no cancellation.
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

/** The status of the order that these payments are of; null while none of them closes it. */
export function orderStatusOf(payments: readonly PaymentState[]): OrderStatus | null {
  const closing = payments.filter(closesOrder);
  if (closing.length === 0) return null;
  // A second payment that is returned by itself is refunded beside the one that is kept.
  return closing.every(({ status }) => status === 'refunded') ? 'refunded' : 'paid';
}
