import { z } from 'zod';
import { parseBrCode } from '../kernel/br-code.ts';
import { instant } from '../kernel/instant.ts';
import {
  findMember,
  type JsonRecord,
  readCents,
  readInstant,
  readRecord,
  readRecords,
  readText,
  readWord,
} from '../kernel/lenient-json.ts';
import { cents } from '../kernel/money.ts';
import { withMaskedTaxId } from '../kernel/tax-id.ts';
import type { Environment } from '../kernel/tenant.ts';
import { answeredWord } from '../kernel/text.ts';
import { isPayable, type ReturnedCredit, txidOf } from '../pix/model.ts';
import { PAYMENT_STATUSES, RETURN_CAUSES, refundableCents } from '../receiving/model.ts';
import { findEventRecord, kindOfEvent, readPayment, readPaymentEvent } from '../receiving/wire.ts';
import { isAnyPaymentId, PAYMENT_METHODS, type Payment, type StoredPayment } from './model.ts';
import type { UpstreamPayment } from './upstream-payment.ts';

// ── A payment in the REST interface (the document's 2.5) ────────────────────────────────────────

/** A refund as its payment shows it. */
const shownRefund = z.object({
  refundId: z.string(),
  amountCents: cents,
  status: z.string(),
});
type ShownRefund = z.output<typeof shownRefund>;

export const paymentWire = z
  .object({
    paymentId: z
      .string()
      .meta({ description: 'psa_ and 32 hex digits', examples: ['psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'] }),
    status: answeredWord(PAYMENT_STATUSES),
    method: answeredWord(PAYMENT_METHODS),
    amountCents: cents,
    feeCents: cents.meta({ description: 'The part that the service keeps' }),
    netAmountCents: cents,
    currency: z.literal('BRL'),
    description: z.string().nullable(),
    customer: z
      .object({ name: z.string(), email: z.string(), externalId: z.string(), taxId: z.string() })
      .partial()
      .nullable(),
    metadata: z.string().nullable().meta({ description: 'The string given at creation, byte for byte' }),
    externalId: z
      .string()
      .nullable()
      .meta({ description: 'The number of your order; null where none was given' }),
    productId: z.string().nullable(),
    checkoutUrl: z.string().meta({ format: 'uri', description: 'The page where the payer finds the code' }),
    successUrl: z.string().nullable(),
    cancelUrl: z.string().nullable(),
    pixCopyPaste: z
      .string()
      .nullable()
      .meta({ description: 'PIX Copia e Cola, the text of the QR code; null once it can no more be paid' }),
    txid: z.string().meta({ description: 'The bank’s identifier of the code' }),
    createdAt: instant,
    expiresAt: instant.meta({ description: '30 minutes after creation' }),
    paidAt: instant.nullable(),
    paidLate: z.boolean().meta({ description: 'Paid after it had expired' }),
    endToEndId: z.string().nullable().meta({ description: 'The bank’s identifier of the PIX that paid it' }),
    refundedAt: instant.nullable(),
    refundedCents: cents.meta({ description: 'Given back to the payer so far' }),
    refundableCents: cents.meta({
      description: 'What a refund may still take: without refunds under way or done',
    }),
    refunds: z.array(shownRefund).meta({ description: 'Oldest first' }),
    returnedCredits: z
      .array(
        z.object({
          endToEndId: z.string(),
          amountCents: cents,
          cause: answeredWord(RETURN_CAUSES),
          receivedAt: instant,
          returnedAt: instant.nullable(),
        }),
      )
      .meta({ description: 'Money that came for it and is sent back; of many the last 20, oldest first' }),
    failureReason: z.string().nullable(),
  })
  .meta({ id: 'Payment' });

/** Encodes a payment. `publicUrl` is the address of this server in the payer's browser. */
export function paymentToWire(
  payment: StoredPayment,
  refunds: readonly ShownRefund[],
  publicUrl: string,
): z.output<typeof paymentWire> {
  return {
    ...payment,
    customer: withMaskedTaxId(payment.customer),
    netAmountCents: payment.amountCents - payment.feeCents,
    currency: 'BRL',
    checkoutUrl: `${publicUrl}/checkout/${payment.paymentId}`,
    pixCopyPaste: isPayable(payment) ? payment.brCode : null,
    txid: txidOf(payment.paymentId),
    refundableCents: refundableCents(payment)!,
    refunds: refunds.map(({ refundId, amountCents, status }) => ({ refundId, amountCents, status })),
    returnedCredits: payment.returnedCredits.map((credit) => ({ ...credit })),
  };
}

// ── The webhook (section 6.2) ───────────────────────────────────────────────────────────────────

/**
 * Encodes the event of a payment's new status: `payment.paid`, which differs from a card's in the two members that the
 * document names, and the optional ones. Null for a status without an event, and for a change inside a status.
 */
export function paymentWebhook(
  payment: Payment,
  previousStatus: Payment['status'] | null,
  environment: Environment,
) {
  const { status, paidAt } = payment;
  if (status === previousStatus || status === 'pending' || status === 'unknown') return null;
  if (status === 'paid' && !paidAt) return null;
  const isTest = environment === 'sandbox';
  const { name, email } = payment.customer ?? {};
  return {
    event: `payment.${isTest ? 'test.' : ''}${status}`,
    paymentId: payment.paymentId,
    amountCents: payment.amountCents,
    status,
    ...(paidAt && { paidAt: paidAt.toISOString() }),
    ...(status === 'expired' && { expiredAt: payment.expiresAt.toISOString() }),
    ...(status === 'refunded' && { refundedAt: payment.refundedAt?.toISOString() ?? null }),
    ...(status === 'failed' && { failureReason: payment.failureReason }),
    // The parts that were given, if any.
    ...(name || email ? { customer: { ...(name && { name }), ...(email && { email }) } } : {}),
    metadata: payment.metadata,
    ...(isTest && { sandbox: true }),
  };
}

// ── Read from another service: documented members by name, others by form ────────────────────────

/** Reads the response to a lookup; null where it is none. */
export function paymentFromWire(body: unknown): UpstreamPayment | null {
  const record = readRecords(body).find(hasPaymentId);
  return record ? { ...ownMembersOf(record), ...readPayment(record) } : null;
}

/**
 * Reads the event of a webhook (section 6.2): any with a `paymentId` is one, unless it is about a resource of another
 * family. One whose name says that it is a payment's may call it `id`. Null: it is none.
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

function ownMembersOf(record: Identified) {
  return {
    paymentId: paymentIdOf(record)!,
    // Only what is in cents: the amount in reais is a card payment's (2.1.2).
    amountCents: readCents(record.amountCents) ?? readCents(record.valueCents),
    method: methodOf(record.method),
    feeCents: readCents(record.feeCents),
    productId: readText(record.productId),
    brCode: codeIn(record),
    txid: typeof record.txid === 'string' && /^[A-Za-z0-9]{1,35}$/.test(record.txid) ? record.txid : null,
    endToEndId: findMember(record, isEndToEndId, ['endToEndId']),
    returnedCredits: Array.isArray(record.returnedCredits)
      ? record.returnedCredits.flatMap(returnedCreditFromWire)
      : null,
  };
}

function methodOf(value: unknown): Payment['method'] | null {
  const word = readWord(value);
  if (word === null) return null;
  return PAYMENT_METHODS.find((method) => method === word) ?? 'unknown';
}

/** A BR Code with a right CRC, under a name by which it is called, here or in a member. */
function codeIn(record: JsonRecord): string | null {
  const members = Object.entries(record).flatMap(([name, value]) => [
    [name, value] as const,
    ...Object.entries(readRecord(value) ?? {}).map(([inner, each]) => [`${name} ${inner}`, each] as const),
  ]);
  const code = members.find(
    ([name, value]) =>
      /pix|br.?code|copy|copi|emv|qr|payload/i.test(name) &&
      typeof value === 'string' &&
      parseBrCode(value) !== null,
  )?.[1];
  return typeof code === 'string' ? code.trim() : null;
}

/** The bank's identifier of a PIX: E, the bank, the minute, and letters and digits. */
function isEndToEndId(text: string): boolean {
  return /^E\d{20}[0-9A-Za-z]{11}$/.test(text);
}

function returnedCreditFromWire(value: unknown): ReturnedCredit[] {
  const record = readRecord(value);
  const [amountCents, receivedAt] = [readCents(record?.amountCents), readInstant(record?.receivedAt)];
  const endToEndId = readText(record?.endToEndId);
  if (!record || amountCents === null || !receivedAt || endToEndId === null) return [];
  const cause = RETURN_CAUSES.find((each) => each === record.cause) ?? 'unknown';
  return [{ endToEndId, amountCents, cause, receivedAt, returnedAt: readInstant(record.returnedAt) }];
}
