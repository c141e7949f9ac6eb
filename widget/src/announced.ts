import { idOf } from './checkout-state.ts';
import type { CheckoutPayment } from './operations.ts';

/** The outcomes that this page was given an event of. */
const announced = new Set<string>();

/** Whether the page has not heard of a payment's outcome yet, from whichever element; it has from now on. */
export function isNews(payment: CheckoutPayment): boolean {
  const { size } = announced;
  return announced.add(`${idOf(payment)} ${payment.status}`).size > size;
}
