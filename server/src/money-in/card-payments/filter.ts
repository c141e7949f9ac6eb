import { among, before, type Conditions, detailConditions, from, matches } from '../../kernel/list-filter.ts';
import type { CardPayment, CardPaymentFilter } from './model.ts';

/** The condition of each member of the filter, for lists and updates. */
export const cardPaymentConditions = {
  status: among('status'),
  ...detailConditions(['orderCode']),
  releasedAfter: from('releasedAt'),
  releasedBefore: before('releasedAt'),
} satisfies Conditions<CardPaymentFilter, CardPayment>;

/** Whether a filter selects a card payment. */
export function matchesFilter(payment: CardPayment, filter: CardPaymentFilter): boolean {
  return matches(cardPaymentConditions, payment, filter);
}
