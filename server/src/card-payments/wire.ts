import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import {
  type JsonRecord,
  readCents,
  readInstant,
  readPage,
  readReais,
  readRecord,
  readRecords,
  readWholeText,
  readWord,
} from '../kernel/lenient-json.ts';
import { type Cents, cents, centsAsReais, reaisFromCents } from '../kernel/money.ts';
import {
  type CardPayment,
  type CardPaymentStatus,
  type Customer,
  isAnyOrderCode,
  type StoredCardPayment,
} from './model.ts';
import type { UpstreamCardPayment } from './upstream-card-payment.ts';

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
export function cardPaymentToWire(
  payment: StoredCardPayment,
  publicUrl: string,
): z.output<typeof cardPaymentWire> {
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

// ── Read from another service: what the document shows by its name, the rest by its shape ──────────

/** The answer to a creation or a lookup; null where it is none. */
export function cardPaymentFromWire(body: unknown): UpstreamCardPayment | null {
  const told = recordOf(body);
  if (!told) return null;
  const status = statusOf(told.status);
  const namedCreated = readInstant(told.createdAt);
  const namedPaid = readInstant(told.paidAt);
  // Dates whose names the document does not show: a payment that waits has one, a paid one has a second.
  const expected = DATES_AT[status ?? 'unknown'] ?? 0;
  const missing = expected > 0 && (!namedCreated || (!namedPaid && expected > 1));
  const dates = missing ? datesOf(told) : [];
  const [created = null, paid = null] = dates.length === expected ? dates : [];
  // In this order: what is added behind a spread is ten times as dear as what stands before one.
  return {
    status,
    checkoutUrl: urlOf(told.checkoutUrl),
    createdAt: namedCreated ?? created,
    expiresAt: readInstant(told.expiresAt),
    paidAt: namedPaid ?? paid,
    paidLate: typeof told.paidLate === 'boolean' ? told.paidLate : null,
    refundedAt: readInstant(told.refundedAt),
    ...commonOf(told),
  };
}

/** A page of a list, as far as its items can be read; null where it is none. */
export function cardPaymentsFromWire(
  body: unknown,
): { items: (UpstreamCardPayment & { said: JsonRecord })[]; length: number; total: number | null } | null {
  const page = readPage(body);
  if (!page) return null;
  const items = page.items.flatMap((each) => {
    const [claim, said] = [cardPaymentFromWire(each), readRecord(each)];
    return claim && said ? [{ ...claim, said }] : [];
  });
  return { items, length: page.items.length, total: page.total };
}

/** A webhook's event (section 6.2): whatever has an `orderCode` is one, whatever else is called how. Null: it is none. */
export function cardPaymentEventFromWire(payload: unknown): UpstreamCardPayment | null {
  const told = recordOf(payload);
  if (!told) return null;
  const words = Object.values(told).filter((value) => typeof value === 'string');
  const kind = words.find((word) => word.startsWith('card_payment.'))?.slice('card_payment.'.length);
  const status = told.status ?? kind ?? words.find((word) => STATUSES.has(readWord(word)));
  return {
    ...commonOf(told),
    status: statusOf(status),
    paidAt: readInstant(told.paidAt) ?? datesOf(told)[0] ?? null,
  };
}

const DATES_AT: Partial<Record<string, number>> = { pending: 1, paid: 2 };
const STATUSES: ReadonlySet<unknown> = new Set<CardPaymentStatus>([
  'pending',
  'paid',
  'expired',
  'refunded',
  'failed',
]);

function statusOf(word: unknown): UpstreamCardPayment['status'] {
  if (typeof word !== 'string') return null;
  const status = readWord(word);
  return STATUSES.has(status) ? (status as CardPaymentStatus) : 'unknown';
}

/** What has an order code: the answer, or what lies in it. */
function recordOf(body: unknown): (JsonRecord & { orderCode: string }) | null {
  return readRecords(body).find(hasOrderCode) ?? null;
}

function hasOrderCode(told: JsonRecord): told is JsonRecord & { orderCode: string } {
  const { orderCode } = told;
  return typeof orderCode === 'string' && isAnyOrderCode(orderCode);
}

function commonOf(told: JsonRecord & { orderCode: string }) {
  return {
    orderCode: told.orderCode,
    amountCents: amountOf(told),
    customer:
      customerOf(told.customer) ??
      Object.values(told)
        .map(customerOf)
        .find((each) => each) ??
      null,
    description: textOf(told.description),
    metadata: textOf(told.metadata),
    successUrl: urlOf(told.successUrl),
    cancelUrl: urlOf(told.cancelUrl),
    failureReason: textOf(told.failureReason),
  };
}

/** In cents (2.3), or in reais as the document's 2.1.2 has it of records: rounded, for products are not exact. */
function amountOf({ amountCents, valueCents, amount }: JsonRecord): Cents | null {
  return readCents(amountCents) ?? readCents(valueCents) ?? readReais(amount);
}

function customerOf(value: unknown): Customer | null {
  const told = readRecord(value);
  if (!told) return null;
  const members = (['name', 'email', 'externalId'] as const).flatMap((name) => {
    const text = textOf(told[name]);
    return text === null ? [] : [[name, text] as const];
  });
  return members.some(([name]) => name !== 'externalId') ? Object.fromEntries(members) : null;
}

/** Longer than anything that the document has, it is nothing of ours to keep. */
function textOf(value: unknown): string | null {
  return readWholeText(value, { max: 4_096 });
}

function urlOf(value: unknown): string | null {
  const text = textOf(value);
  return text !== null && /^https?:/i.test(text) && URL.canParse(text) ? text : null;
}

/** Earliest first, each once; none of an expiry. */
function datesOf(told: JsonRecord): Date[] {
  const times = Object.entries(told).flatMap(([name, value]) =>
    /expir|valid|venc/i.test(name) ? [] : (readInstant(value)?.getTime() ?? []),
  );
  return [...new Set(times)].sort((left, right) => left - right).map((time) => new Date(time));
}
