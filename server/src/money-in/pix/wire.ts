import { z } from 'zod';
import { parseBrCode } from '../../kernel/br-code.ts';
import { instant } from '../../kernel/instant.ts';
import {
  findMember,
  isEndToEndId,
  type JsonRecord,
  readCents,
  readId,
  readInstant,
  readRecord,
} from '../../kernel/lenient-json.ts';
import { cents } from '../../kernel/money.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { answeredWord } from '../../kernel/text.ts';
import { nameIn, type WebhookEvent, webhookEvent } from '../../kernel/webhook-event.ts';
import { PAYMENT_STATUSES, RETURN_CAUSES, refundableCents, type ShownRefund } from '../receiving/model.ts';
import { answeredLanguage } from '../receiving/wire.ts';
import { isPayable, type PixResource, type ReturnedCredit, type StoredPixResource, txidOf } from './model.ts';

// ── The members of all resources that a PIX code pays, in the REST interface (the document's 2.5) ──

/** A refund as its resource shows it. */
const shownRefund = z.object({
  refundId: z.string(),
  amountCents: cents,
  status: z.string(),
});

/** Creates the members. `expiry` describes how long the code can be paid. */
export function pixWireShape(expiry: string) {
  return {
    status: answeredWord(PAYMENT_STATUSES),
    amountCents: cents,
    feeCents: cents.meta({ description: 'The service’s fee: serviceFeeCents in GraphQL' }),
    netAmountCents: cents,
    currency: z.literal('BRL'),
    description: z.string().nullable(),
    checkoutUrl: z.string().meta({ format: 'uri', description: 'The page where the payer finds the code' }),
    language: answeredLanguage,
    pixCopyPaste: z
      .string()
      .nullable()
      .meta({ description: 'PIX Copia e Cola, the text of the QR code; null once it can no more be paid' }),
    txid: z.string().meta({ description: 'The bank’s identifier of the code' }),
    createdAt: instant,
    expiresAt: instant.meta({ description: expiry }),
    paidAt: instant.nullable(),
    paidLate: z.boolean().meta({ description: 'Paid after it had expired' }),
    canceledAt: instant
      .nullable()
      .meta({ description: 'When you canceled it: it is expired since then; null otherwise' }),
    endToEndId: z.string().nullable().meta({ description: 'The bank’s identifier of the PIX that paid it' }),
    refundedAt: instant.nullable(),
    refundedCents: cents.meta({
      description: 'Given back to the payer by completed refunds; one under way does not count yet',
    }),
    refundableCents: cents.meta({
      description:
        'What a refund may still take: without refunds under way or done, and without disputes that were not won',
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
  };
}

/** Encodes these members. `publicUrl` is the address of this server in the payer's browser. */
export function pixToWire<R extends StoredPixResource>(
  resource: R,
  { id, refunds, publicUrl }: { id: string; refunds: readonly ShownRefund[]; publicUrl: string },
) {
  return {
    ...resource,
    netAmountCents: resource.amountCents - resource.feeCents,
    currency: 'BRL' as const,
    checkoutUrl: `${publicUrl}/checkout/${id}`,
    pixCopyPaste: isPayable(resource) ? resource.brCode : null,
    txid: txidOf(id),
    refundableCents: refundableCents(resource)!,
    refunds: refunds.map(({ refundId, amountCents, status }) => ({ refundId, amountCents, status })),
    returnedCredits: resource.returnedCredits.map((credit) => ({ ...credit })),
  };
}

// ── The webhook (section 6.2) ───────────────────────────────────────────────────────────────────

type OptionalStatus = 'expired' | 'failed' | 'refunded';

/**
 * Describes the events of a family: `names` has the identifier, `details` the family's own members, `optional` the
 * name in GraphQL of each event that an account opts into.
 */
export function pixWebhooks<const Family extends 'payment' | 'charge'>(
  family: Family,
  {
    names,
    optional,
    details,
  }: { names: z.ZodRawShape; optional: Record<OptionalStatus, string>; details: z.ZodRawShape },
) {
  const eventOf = (status: 'paid' | OptionalStatus, summary: string, own: z.ZodRawShape) =>
    webhookEvent(`${family}.${status}`, {
      summary,
      optional: status === 'paid' ? null : optional[status],
      resource: family,
      members: { ...names, amountCents: cents, status: z.literal(status), ...own, ...details },
    });
  return {
    [`${family}.paid`]: eventOf('paid', 'It was paid, late too', { paidAt: instant }),
    [`${family}.expired`]: eventOf('expired', 'Nobody has paid it in time, or it was canceled', {
      expiredAt: instant,
      canceledAt: instant.optional().meta({ description: 'Where it was canceled' }),
    }),
    [`${family}.failed`]: eventOf('failed', 'It cannot be paid any more', {
      failureReason: z.string().nullable(),
    }),
    [`${family}.refunded`]: eventOf('refunded', 'The whole amount was given back', {
      paidAt: instant.optional(),
      refundedAt: instant.nullable(),
    }),
  } as Record<`${Family}.paid`, WebhookEvent<null>> &
    Record<`${Family}.${OptionalStatus}`, WebhookEvent<string>>;
}

/**
 * Encodes the event of a new status. `names` has the identifier, `details` the family's own members. Null for a status
 * without an event, and for a change inside a status.
 */
export function pixWebhook<
  const Family extends 'payment' | 'charge',
  Names extends object,
  Details extends object,
>(
  resource: PixResource,
  previousStatus: PixResource['status'] | null,
  {
    environment,
    family,
    names,
    details,
  }: { environment: Environment; family: Family; names: Names; details: Details },
) {
  const { status, paidAt, canceledAt } = resource;
  if (status === previousStatus || status === 'pending' || status === 'unknown') return null;
  if (status === 'paid' && !paidAt) return null;
  return {
    event: nameIn(environment, `${family}.${status}` as const),
    ...names,
    amountCents: resource.amountCents,
    status,
    ...(paidAt && { paidAt: paidAt.toISOString() }),
    ...(status === 'expired' && { expiredAt: (canceledAt ?? resource.expiresAt).toISOString() }),
    ...(canceledAt && { canceledAt: canceledAt.toISOString() }),
    ...(status === 'refunded' && { refundedAt: resource.refundedAt?.toISOString() ?? null }),
    ...(status === 'failed' && { failureReason: resource.failureReason }),
    ...details,
  };
}

// ── Read from another service: documented members by name, others by form ────────────────────────

/** Reads the members of a code, its payment and its returned credits. */
export function readPixMembers(record: JsonRecord) {
  return {
    // Only an amount in cents: an amount in reais belongs to a card payment (2.1.2).
    amountCents: readCents(record.amountCents) ?? readCents(record.valueCents),
    feeCents: readCents(record.feeCents),
    brCode: codeIn(record),
    txid: typeof record.txid === 'string' && /^[A-Za-z0-9]{1,35}$/.test(record.txid) ? record.txid : null,
    canceledAt: readInstant(record.canceledAt),
    endToEndId: findMember(record, isEndToEndId, ['endToEndId']),
    refundIds: refundIdsIn(record.refunds),
    returnedCredits: Array.isArray(record.returnedCredits)
      ? record.returnedCredits.flatMap(returnedCreditFromWire)
      : null,
  };
}

/** The ids of all refunds; null if one has none. */
function refundIdsIn(refunds: unknown): string[] | null {
  if (!Array.isArray(refunds)) return null;
  const ids = refunds.flatMap((each) => readId(readRecord(each)?.refundId) ?? []);
  return ids.length === refunds.length ? ids : null;
}

/** A BR Code with a correct CRC, found by one of its usual names, here or in a member. */
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

function returnedCreditFromWire(value: unknown): ReturnedCredit[] {
  const record = readRecord(value);
  const [amountCents, receivedAt] = [readCents(record?.amountCents), readInstant(record?.receivedAt)];
  const endToEndId = readId(record?.endToEndId);
  if (!record || amountCents === null || !receivedAt || endToEndId === null) return [];
  const cause = RETURN_CAUSES.find((each) => each === record.cause) ?? 'unknown';
  return [{ endToEndId, amountCents, cause, receivedAt, returnedAt: readInstant(record.returnedAt) }];
}
