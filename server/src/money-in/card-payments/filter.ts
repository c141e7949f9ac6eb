import { isOneOf, isWithin, matchesDetails } from '../../kernel/list-filter.ts';
import type { CardPayment, CardPaymentFilter } from './model.ts';

/** Whether a card payment is one that a filter selects. */
export function matchesFilter(payment: CardPayment, filter: CardPaymentFilter): boolean {
  return (
    isOneOf(payment.status, filter.status) &&
    isWithin(payment.createdAt, filter.createdAfter, filter.createdBefore) &&
    isWithin(payment.releasedAt, filter.releasedAfter, filter.releasedBefore) &&
    matchesDetails(payment, [payment.orderCode], filter)
  );
}
