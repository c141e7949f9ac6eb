import { idOf } from './checkout-state.ts';
import type { CheckoutPayment } from './operations.ts';

/** The payments whose outcome an event has announced to this page. */
const announced = new Set<string>();

/** Whether no element has reported the payment's outcome to the page yet. From now on one has. */
export function isNews(payment: CheckoutPayment): boolean {
  const { size } = announced;
  return announced.add(`${idOf(payment)} ${payment.status}`).size > size;
}
