import type { CardPayment } from './model.ts';

// ── The webhook (section 6.2) ───────────────────────────────────────────────────────────────────

/** `card_payment.paid`, the one event of a card payment that a webhook reports; null for every other state. */
export function cardPaymentWebhook(payment: CardPayment) {
  if (payment.status !== 'paid' || !payment.paidAt) return null;
  const { name, email } = payment.customer ?? {};
  return {
    event: 'card_payment.paid',
    orderCode: payment.orderCode,
    // Reais. A division by 100 gives the double next to the decimal, which JSON writes as that decimal.
    amount: payment.amountCents / 100,
    status: payment.status,
    paidAt: payment.paidAt.toISOString(),
    // What was given of it, where anything was.
    ...(name || email ? { customer: { ...(name && { name }), ...(email && { email }) } } : {}),
    metadata: payment.metadata,
  };
}
