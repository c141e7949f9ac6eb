import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import { cents, centsAsReais, reaisFromCents } from '../kernel/money.ts';
import type { CardPayment } from './model.ts';

// ── A card payment in the REST interface (the document's 2.3) ───────────────────────────────────

/** What its creation answers. */
export const createdCardPaymentWire = z
  .object({
    orderCode: z
      .string()
      .meta({ description: 'Unique; looks the payment up', examples: ['PSC-8NY3SQZHKXF939DW6BZ7C980'] }),
    status: z
      .enum(['pending', 'paid', 'expired', 'refunded', 'failed'])
      .meta({ description: 'Always pending on creation' }),
    amountCents: cents,
    currency: z.literal('BRL'),
    checkoutUrl: z.string().meta({ format: 'uri', description: 'The page to which the payer is redirected' }),
    expiresAt: instant.meta({ description: 'Of the checkout session: 30 minutes after creation' }),
  })
  .meta({ id: 'CreatedCardPayment' });

/** What a lookup answers: the above, what was given at creation, and what its life added. */
export const cardPaymentWire = z
  .object({
    ...createdCardPaymentWire.shape,
    status: z.enum(['pending', 'paid', 'expired', 'refunded', 'failed']),
    amount: centsAsReais,
    description: z.string().nullable(),
    customer: z.object({ name: z.string(), email: z.string(), externalId: z.string() }).partial().nullable(),
    metadata: z.string().nullable().meta({ description: 'The string given at creation, byte for byte' }),
    paidAt: instant.nullable(),
    paidLate: z.boolean().meta({ description: 'Confirmed by the acquirer after it had expired' }),
    refundedAt: instant.nullable(),
    failureReason: z.string().nullable(),
    createdAt: instant,
  })
  .meta({ id: 'CardPayment' });

/** `publicUrl` is what the payer's browser calls this server. */
export function cardPaymentToWire(payment: CardPayment, publicUrl: string): z.output<typeof cardPaymentWire> {
  return {
    ...payment,
    currency: 'BRL',
    checkoutUrl: `${publicUrl}/checkout/${payment.orderCode}`,
    amount: payment.amountCents,
  };
}

// ── The webhook (section 6.2) ───────────────────────────────────────────────────────────────────

/** `card_payment.paid`, the one event of a card payment that a webhook reports; null for every other state. */
export function cardPaymentWebhook(payment: CardPayment) {
  if (payment.status !== 'paid' || !payment.paidAt) return null;
  const { name, email } = payment.customer ?? {};
  return {
    event: 'card_payment.paid',
    orderCode: payment.orderCode,
    amount: reaisFromCents(payment.amountCents),
    status: payment.status,
    paidAt: payment.paidAt.toISOString(),
    // What was given of it, where anything was.
    ...(name || email ? { customer: { ...(name && { name }), ...(email && { email }) } } : {}),
    metadata: payment.metadata,
  };
}
