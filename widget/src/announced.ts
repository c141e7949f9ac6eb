import { idOf } from './checkout-state.ts';
import type { CheckoutPayment } from './operations.ts';

/** The payments whose outcome an event has announced to this page. */
const announced = new Set<string>();

/** Whether the page has not heard of a payment's outcome yet, from any element. From now on it has. */
export function isNews(payment: CheckoutPayment): boolean {
  const { size } = announced;
  return announced.add(`${idOf(payment)} ${payment.status}`).size > size;
}
