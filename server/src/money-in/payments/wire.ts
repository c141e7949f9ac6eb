import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import { type JsonRecord, readRecords, readText, readWord } from '../../kernel/lenient-json.ts';
import { withMaskedTaxId } from '../../kernel/tax-id.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { answeredWord } from '../../kernel/text.ts';
import { ltcToWire, ltcWireShape, readLtcMembers } from '../ltc/wire.ts';
import type { ShownElsewhere } from '../pix/model.ts';
import { pixToWire, pixWebhook, pixWebhooks, pixWireShape, readPixMembers } from '../pix/wire.ts';
import {
  CONTENT_KINDS,
  DELIVERED_STATUSES,
  type DeliveredContent,
  type ShownRefund,
} from '../receiving/model.ts';
import {
  findEventRecord,
  kindOfEvent,
  orderEventShape,
  orderToEvent,
  orderToWire,
  orderWireShape,
  readPayment,
  readPaymentEvent,
  returnedWireShape,
} from '../receiving/wire.ts';
import { PAYMENT_METHODS } from './methods.ts';
import { isAnyPaymentId, type Payment, refundableCentsOf, type StoredPayment } from './model.ts';
import type { UpstreamPayment } from './upstream-payment.ts';

// ── A payment in the REST interface (the document's 2.5) ────────────────────────────────────────

/** The members that a response has under other names, or not at all. */
type Unshown =
  | ShownElsewhere
  | ('brCode' | 'ltc' | 'orderStatus' | 'version' | 'callbackUrl' | 'checkoutAttempt')
  | ('refundingCents' | 'disputedCents' | 'refundCount');

export const paymentWire = z
  .object({
    paymentId: z
      .string()
      .meta({ description: 'psa_ and 32 hex digits', examples: ['psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'] }),
    method: answeredWord(PAYMENT_METHODS),
    ...pixWireShape('30 minutes after creation'),
    ...ltcWireShape,
    ...orderWireShape,
    txid: z.string().nullable().meta({ description: 'The bank’s identifier of the code; null of LTC' }),
    customer: z
      .object({ name: z.string(), email: z.string(), externalId: z.string(), taxId: z.string() })
      .partial()
      .nullable(),
    metadata: z.string().nullable().meta({ description: 'The string given at creation, byte for byte' }),
    ...returnedWireShape,
    productId: z.string().nullable(),
    subscriptionId: z
      .string()
      .nullable()
      .meta({ description: 'The subscription whose cycle it pays; null of any other payment' }),
    successUrl: z.string().nullable(),
    cancelUrl: z.string().nullable(),
    delivered: z
      .array(
        z.object({
          kind: answeredWord(CONTENT_KINDS),
          status: answeredWord(DELIVERED_STATUSES),
          content: z.string().nullable().meta({ description: 'Null unless delivered' }),
          deliveredAt: instant.nullable(),
        }),
      )
      .nullable()
      .meta({ description: 'Content of its product; null where there is none, or it is not paid' }),
  } satisfies { [Member in Exclude<keyof StoredPayment, Unshown>]-?: z.ZodType } & Record<string, z.ZodType>)
  .meta({ id: 'Payment' });

/** Encodes a payment. `publicUrl` is the address of this server in the payer's browser. */
export function paymentToWire(
  payment: StoredPayment,
  { refunds, delivered }: { refunds: readonly ShownRefund[]; delivered: readonly DeliveredContent[] | null },
  publicUrl: string,
): z.output<typeof paymentWire> {
  return {
    ...pixToWire(payment, { id: payment.paymentId, refunds, publicUrl }),
    ...ltcToWire(payment.ltc),
    ...orderToWire(payment),
    // A payment by LTC has an address instead of a code, and the bank does not know it.
    ...(payment.method !== 'pix' && { txid: null }),
    refundableCents: refundableCentsOf(payment)!,
    customer: withMaskedTaxId(payment.customer),
    delivered: delivered && [...delivered],
    subscriptionId: payment.subscriptionId ?? null,
  };
}

// ── The webhook (section 6.2) ───────────────────────────────────────────────────────────────────

/** The events, with the members of each. */
export const paymentWebhooks = pixWebhooks('payment', {
  names: { paymentId: paymentWire.shape.paymentId },
  optional: {
    expired: ', unless its order is paid. For a payment that is paid late, payment.paid follows.',
    failed:
      ': the bank refused it; by LTC, less than the amount came in time, or it came after another payment of the order was paid, with keptPayment. Not for a payment whose money is returned: return.completed.',
    refunded: '',
  },
  details: {
    customer: z.object({ name: z.string(), email: z.string() }).partial().optional(),
    metadata: paymentWire.shape.metadata,
    ...orderEventShape,
    keptPayment: z.string().optional().meta({
      description:
        'Of payment.failed by LTC alone: the payment of the order that was kept; this one’s LTC wait for the operator',
    }),
  },
});

/**
 * Encodes the event of a payment's new status: `payment.paid`, which differs from a card's in the two members
 * that the document names, and the optional events. Null for a status without an event, and for a change
 * inside a status. Null also for the paid cycle of a subscription, which `subscription.paid` announces, for
 * the end of a payment whose order another has paid, and for one whose money is returned, which
 * `return.completed` announces.
 */
export function paymentWebhook(
  payment: Payment,
  previousStatus: Payment['status'] | null,
  environment: Environment,
) {
  if (payment.returned || (payment.status === 'paid' && payment.subscriptionId)) return null;
  if (payment.status === 'expired' && payment.keptPayment) return null;
  const { name, email } = payment.customer ?? {};
  return pixWebhook(payment, previousStatus, {
    environment,
    family: 'payment',
    names: { paymentId: payment.paymentId },
    details: {
      // The parts that were given, if any.
      ...(name || email ? { customer: { ...(name && { name }), ...(email && { email }) } } : {}),
      metadata: payment.metadata,
      ...orderToEvent(payment),
      ...(payment.keptPayment != null && { keptPayment: payment.keptPayment }),
    },
  });
}

// ── Read from another service: documented members by name, others by form ────────────────────────

/** Reads the response to a lookup; null if it is not one. */
export function paymentFromWire(body: unknown): UpstreamPayment | null {
  const record = readRecords(body).find(hasPaymentId);
  return record ? { ...ownMembersOf(record), ...readPayment(record) } : null;
}

/**
 * Reads the event of a webhook (section 6.2): any event with a `paymentId`, unless it is about a resource of
 * another family. An event whose name begins with `payment.` may call it `id`. Null for any other.
 */
export function paymentEventFromWire(payload: unknown): UpstreamPayment | null {
  const record = findEventRecord(payload, isEventRecord);
  return record ? { ...ownMembersOf(record), ...readPaymentEvent(record, 'payment') } : null;
}

type Identified = JsonRecord & ({ paymentId: string } | { id: string });

function hasPaymentId(record: JsonRecord): record is Identified {
  return paymentIdOf(record) !== null;
}

function isEventRecord(record: JsonRecord): record is Identified {
  const isNamed = Object.values(record).some(
    (value) => typeof value === 'string' && kindOfEvent(value, 'payment') !== null,
  );
  return isNamed ? hasPaymentId(record) : typeof record.paymentId === 'string' && hasPaymentId(record);
}

function paymentIdOf({ paymentId, id }: JsonRecord): string | null {
  const found = [paymentId, id].find((text) => typeof text === 'string' && isAnyPaymentId(text));
  return (found as string | undefined) ?? null;
}

/** The members that the service does not show: they come from the request, or follow from others. */
type Unread = 'version' | 'callbackUrl' | 'externalId' | 'language' | 'refundingCents' | 'disputedCents';

function ownMembersOf(record: Identified) {
  return {
    paymentId: paymentIdOf(record)!,
    ...readPixMembers(record),
    ltc: readLtcMembers(record),
    method: methodOf(record.method),
    productId: readText(record.productId),
    subscriptionId: readText(record.subscriptionId),
    orderStatus: orderStatusOf(record),
  } satisfies {
    [Member in Exclude<
      keyof Payment,
      keyof ReturnType<typeof readPayment> | ShownElsewhere | Unread
    >]-?: unknown;
  } & Record<string, unknown>;
}

function orderStatusOf({ orderPaid, orderRefunded }: JsonRecord): 'paid' | 'refunded' | null {
  if (orderPaid !== true) return null;
  return orderRefunded === true ? 'refunded' : 'paid';
}

function methodOf(value: unknown): Payment['method'] | null {
  const word = readWord(value);
  if (word === null) return null;
  return PAYMENT_METHODS.find((method) => method === word) ?? 'unknown';
}
