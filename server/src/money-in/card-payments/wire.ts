import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import {
  type JsonRecord,
  readCents,
  readInstant,
  readPage,
  readReais,
  readRecord,
  readRecords,
} from '../../kernel/lenient-json.ts';
import { type Cents, cents, centsAsReais, reais, reaisFromCents } from '../../kernel/money.ts';
import { withMaskedTaxId } from '../../kernel/tax-id.ts';
import { answeredWord } from '../../kernel/text.ts';
import { type WebhookEvent, webhookEvent } from '../../kernel/webhook-event.ts';
import { refundableCents } from '../receiving/model.ts';
import {
  answeredLanguage,
  findEventRecord,
  orderEventShape,
  orderToEvent,
  orderToWire,
  orderWireShape,
  readPayment,
  readPaymentEvent,
  returnedWireShape,
} from '../receiving/wire.ts';
import { CARD_FEE_CENTS, type CardPayment, isAnyOrderCode, type StoredCardPayment } from './model.ts';
import type { UpstreamCardPayment } from './upstream-card-payment.ts';

// ── A card payment in the REST interface (the document's 2.3) ───────────────────────────────────

/** The response to a creation. */
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

/** The response to a lookup: the above, the details given at creation, and the later states. */
export const cardPaymentWire = z
  .object({
    ...createdCardPaymentWire.shape,
    status: answeredWord(['pending', 'paid', 'expired', 'refunded', 'failed']),
    amount: centsAsReais,
    description: z.string().nullable(),
    customer: z
      .object({
        name: z.string(),
        email: z.string(),
        externalId: z.string(),
        taxId: z.string().meta({
          description: 'CPF or CNPJ, masked',
          examples: ['***.456.789-**', '**.***.678/0001-**'],
        }),
      })
      .partial()
      .nullable(),
    metadata: z.string().nullable().meta({ description: 'The string given at creation, byte for byte' }),
    language: answeredLanguage,
    ...orderWireShape,
    paidAt: instant.nullable(),
    paidLate: z.boolean().meta({ description: 'Confirmed by the acquirer after it had expired' }),
    refundedAt: instant.nullable(),
    canceledAt: instant
      .nullable()
      .meta({ description: 'When you canceled it: it is expired since then; null otherwise' }),
    feeCents: cents.meta({
      description: 'The service’s fee, serviceFeeCents in GraphQL: none for a card payment',
    }),
    netAmountCents: cents,
    refundedCents: cents.meta({
      description: 'Given back to the payer by completed refunds; one under way does not count yet',
    }),
    refundableCents: cents.meta({
      description:
        'What a refund may still take: without refunds under way or done, and without disputes that were not won',
    }),
    failureReason: z.string().nullable().meta({
      description: 'The acquirer’s, or of a payment that is returned paid_elsewhere or canceled',
    }),
    ...returnedWireShape,
    createdAt: instant,
  })
  .meta({ id: 'CardPayment' });

/** Encodes a payment. `publicUrl` is the address of this server in the payer's browser. */
export function cardPaymentToWire(
  payment: StoredCardPayment,
  publicUrl: string,
): z.output<typeof cardPaymentWire> {
  return {
    ...payment,
    customer: withMaskedTaxId(payment.customer),
    ...orderToWire(payment),
    currency: 'BRL',
    checkoutUrl: `${publicUrl}/checkout/${payment.orderCode}`,
    amount: payment.amountCents,
    feeCents: CARD_FEE_CENTS,
    netAmountCents: payment.amountCents - CARD_FEE_CENTS,
    refundableCents: refundableCents(payment)!,
  };
}

// ── The webhook (section 6.2) ───────────────────────────────────────────────────────────────────

/** The events, with the members of each. */
export const cardPaymentWebhooks = {
  'card_payment.paid': cardPaymentEvent('paid', {
    summary: 'A card payment was paid, late too',
    optional: null,
    own: { paidAt: instant },
  }),
  'card_payment.expired': cardPaymentEvent('expired', {
    summary: 'Its session has ended, or it was canceled',
    optional:
      ', also for a canceled payment, unless its order is paid. For one that is paid late, card_payment.paid follows; for one whose money is returned, return.completed.',
    own: {
      expiredAt: instant,
      canceledAt: instant.optional().meta({ description: 'Where it was canceled' }),
    },
  }),
  'card_payment.failed': cardPaymentEvent('failed', {
    summary: 'It cannot be paid any more',
    optional: '; not for a payment whose money is returned: return.completed.',
    own: { failureReason: z.string().nullable() },
  }),
  'card_payment.refunded': cardPaymentEvent('refunded', {
    summary: 'The whole amount was given back',
    optional: '',
    own: { paidAt: instant.optional(), refundedAt: instant.nullable() },
  }),
};

function cardPaymentEvent<Optional extends string | null>(
  status: CardPayment['status'],
  { own, ...said }: { summary: string; optional: Optional; own: z.ZodRawShape },
): WebhookEvent<Optional> {
  const { orderCode, metadata } = cardPaymentWire.shape;
  return webhookEvent(`card_payment.${status}`, {
    ...said,
    resource: 'card_payment',
    members: {
      orderCode,
      amount: reais,
      status: z.literal(status),
      ...own,
      customer: z.object({ name: z.string(), email: z.string() }).partial().optional(),
      metadata,
      ...orderEventShape,
    },
    named: 'alike',
  });
}

/**
 * Encodes the event of a payment's status: the document's `card_payment.paid`, and the optional events, which
 * have its members and one of their own. Null for a status without an event, and for a change inside a
 * status. Null also for the end of a payment whose order another has paid, and for one whose money is
 * returned, which `return.completed` announces.
 */
export function cardPaymentWebhook(payment: CardPayment, previousStatus: CardPayment['status'] | null) {
  const { status, paidAt, canceledAt } = payment;
  if (status === previousStatus) return null;
  if (status === 'pending' || status === 'unknown' || (status === 'paid' && !paidAt)) return null;
  if (payment.returned || (status === 'expired' && payment.keptPayment)) return null;
  const { name, email } = payment.customer ?? {};
  return {
    event: `card_payment.${status}` as const,
    orderCode: payment.orderCode,
    amount: reaisFromCents(payment.amountCents),
    status,
    ...(paidAt && { paidAt: paidAt.toISOString() }),
    ...(status === 'expired' && { expiredAt: (canceledAt ?? payment.expiresAt).toISOString() }),
    ...(canceledAt && { canceledAt: canceledAt.toISOString() }),
    ...(status === 'refunded' && { refundedAt: payment.refundedAt?.toISOString() ?? null }),
    ...(status === 'failed' && { failureReason: payment.failureReason }),
    // The parts that were given, if any.
    ...(name || email ? { customer: { ...(name && { name }), ...(email && { email }) } } : {}),
    metadata: payment.metadata,
    ...orderToEvent(payment),
  };
}

// ── Read from another service: documented members by name, others by form ────────────────────────

/** Reads the response to a creation or a lookup; null if it is not one. */
export function cardPaymentFromWire(body: unknown): UpstreamCardPayment | null {
  const record = readRecords(body).find(hasOrderCode);
  if (!record) return null;
  const { orderCode } = record;
  return {
    orderCode,
    amountCents: amountOf(record),
    feeCents: readCents(record.feeCents),
    canceledAt: readInstant(record.canceledAt),
    ...readPayment(record),
  };
}

/** Reads a page of a list, without items that cannot be read; null if it is not one. */
export function cardPaymentsFromWire(
  body: unknown,
): { items: (UpstreamCardPayment & { said: JsonRecord })[]; length: number; total: number | null } | null {
  const page = readPage(body, 'cardPayments');
  if (!page) return null;
  const items = page.items.flatMap((each) => {
    const [claim, said] = [cardPaymentFromWire(each), readRecord(each)];
    return claim && said ? [{ ...claim, said }] : [];
  });
  return { items, length: page.items.length, total: page.total };
}

/**
 * Reads the event of a webhook (section 6.2): any event with an `orderCode`, whatever its name, unless it is
 * about a resource of another family. Null for any other.
 */
export function cardPaymentEventFromWire(payload: unknown): UpstreamCardPayment | null {
  const record = findEventRecord(payload, hasOrderCode);
  if (!record) return null;
  const { orderCode } = record;
  return {
    orderCode,
    amountCents: amountOf(record),
    canceledAt: readInstant(record.canceledAt),
    ...readPaymentEvent(record, 'card_payment'),
  };
}

function hasOrderCode(record: JsonRecord): record is JsonRecord & { orderCode: string } {
  const { orderCode } = record;
  return typeof orderCode === 'string' && isAnyOrderCode(orderCode);
}

/**
 * The amount in cents (2.3), or in reais as in the document's records (2.1.2). It is rounded, because
 * products of floats are not exact.
 */
function amountOf({ amountCents, valueCents, amount }: JsonRecord): Cents | null {
  return readCents(amountCents) ?? readCents(valueCents) ?? readReais(amount);
}
