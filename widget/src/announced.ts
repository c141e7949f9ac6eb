import { idOf } from './checkout-state.ts';
import type { CardPaymentStatus, CheckoutPayment } from './operations.ts';

/** The last status of each payment that this page was given an event of: an element that is mounted again gives none twice. */
const announced = new Map<string, CardPaymentStatus>();

/** Takes a payment's status for announced. Returns it, and the one before; undefined where the page has heard of it. */
export function takeNews(
  payment: CheckoutPayment,
): { status: CardPaymentStatus; previous: CardPaymentStatus | undefined } | undefined {
  const { status } = payment;
  const id = idOf(payment);
  const previous = announced.get(id);
  announced.set(id, status);
  return previous === status ? undefined : { status, previous };
}
