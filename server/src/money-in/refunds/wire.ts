import { z } from 'zod';
import { exactlyOneOf } from '../../kernel/aliases.ts';
import { instant } from '../../kernel/instant.ts';
import {
  type JsonRecord,
  readCents,
  readInstant,
  readRecord,
  readRecords,
  readWholeText,
  readWord,
} from '../../kernel/lenient-json.ts';
import { cents } from '../../kernel/money.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { answeredWord } from '../../kernel/text.ts';
import { nameIn, webhookEvent } from '../../kernel/webhook-event.ts';
import {
  isRefundId,
  REFUND_STATUSES,
  REFUNDED_TYPES,
  type Refund,
  type RefundedResource,
  type RefundedType,
  type RefundSnapshot,
} from './model.ts';
import type { UpstreamRefund } from './upstream-refund.ts';

/** A refund in the REST interface. The document has none: it is an extension of this service. */
export const refundWire = z
  .object({
    refundId: z
      .string()
      .meta({ description: 'ref_ and 24 hex digits', examples: ['ref_0c7d1a5be2f94a3d8e6b7f10'] }),
    status: answeredWord(REFUND_STATUSES).meta({
      description:
        'processing: the money may have left; completed; failed: the amount is back where it was taken, but for a payment that is returned by itself: another refund of it is sent a day later',
    }),
    amountCents: cents,
    orderCode: z
      .string()
      .optional()
      .meta({ description: 'The refunded card payment; left out of any other' }),
    paymentId: z
      .string()
      .optional()
      .meta({ description: 'The refunded payment by PIX; left out of any other' }),
    chargeId: z.string().optional().meta({ description: 'The refunded charge; left out of any other' }),
    reason: z.string().nullable(),
    endToEndId: z.string().nullable().meta({ description: 'Of the return, at the bank; null for a card' }),
    failureReason: z.string().nullable(),
    createdAt: instant,
    completedAt: instant.nullable(),
    failedAt: instant
      .nullable()
      .meta({ description: 'The instant of the refusal; null unless it has failed' }),
  })
  .meta({ id: 'Refund', ...exactlyOneOf('orderCode', 'paymentId', 'chargeId') });

export function refundToWire(refund: Refund): z.output<typeof refundWire> {
  const { refundId, status, resource, amountCents, reason, endToEndId, failureReason } = refund;
  const { createdAt, completedAt, failedAt } = refund;
  return {
    refundId,
    status,
    amountCents,
    [REFERENCES[resource.type]]: resource.id,
    reason,
    endToEndId,
    failureReason,
    createdAt,
    completedAt,
    failedAt,
  };
}

/** The member that names the refunded resource. */
const REFERENCES = {
  card_payment: 'orderCode',
  payment: 'paymentId',
  charge: 'chargeId',
} as const satisfies Record<RefundedType, string>;

/** The events, with the members of each. */
export const refundWebhooks = {
  'refund.completed': refundEvent('completed', 'The amount of a refund has left'),
  'refund.failed': refundEvent(
    'failed',
    'A refund has failed: the amount is back where it was taken, but for a payment that is returned by itself: another refund of it is sent a day later',
  ),
};

function refundEvent(status: 'completed' | 'failed', summary: string) {
  const { refundId, reason, failureReason } = refundWire.shape;
  const hasFailed = status === 'failed';
  return webhookEvent(`refund.${status}`, {
    summary,
    optional: null,
    resource: 'refund',
    members: {
      refundId,
      of: z
        .object({ type: answeredWord(REFUNDED_TYPES), id: z.string() })
        .meta({ description: 'The refunded payment or charge' }),
      amountCents: cents,
      status: z.literal(status),
      reason,
      failureReason: hasFailed ? failureReason : z.null(),
      completedAt: hasFailed ? z.null() : instant,
      failedAt: hasFailed ? instant : z.null(),
      metadata: z.string().nullable().meta({ description: 'That of the payment, byte for byte' }),
    },
  });
}

/**
 * Encodes `refund.completed` and `refund.failed`; null for a refund that has not ended. The body has neither
 * `orderCode` nor `paymentId` at its top level: receivers recognize the event of a paid payment by these
 * names.
 */
export function refundWebhook(
  {
    refundId,
    status,
    resource: { type, id },
    amountCents,
    reason,
    failureReason,
    completedAt,
    failedAt,
    metadata,
  }: RefundSnapshot,
  environment: Environment,
) {
  if (status === 'processing') return null;
  return {
    event: nameIn(environment, `refund.${status}` as const),
    refundId,
    of: { type, id },
    amountCents,
    status,
    reason,
    failureReason,
    completedAt: completedAt?.toISOString() ?? null,
    failedAt: failedAt?.toISOString() ?? null,
    metadata,
  };
}

// ── Read from another service: members by name. Their names are this service's own, for the document shows none ──

/** Reads an answer; null if it is no refund. */
export function refundFromWire(body: unknown): UpstreamRefund | null {
  const record = readRecords(body).find(hasRefundId);
  return record ? readRefund(record) : null;
}

/**
 * Reads the event of a webhook: any event with a `refundId`, unless it is about a dispute. Null for any
 * other.
 */
export function refundEventFromWire(payload: unknown): UpstreamRefund | null {
  const record = readRecords(payload).find(hasRefundId);
  const isDispute = [readRecord(payload), record].some((each) => typeof each?.disputeId === 'string');
  return record && !isDispute ? readRefund(record) : null;
}

function hasRefundId(record: JsonRecord): record is JsonRecord & { refundId: string } {
  return typeof record.refundId === 'string' && isRefundId(record.refundId);
}

function readRefund(record: JsonRecord & { refundId: string }): UpstreamRefund {
  const status = readWord(record.status);
  return {
    refundId: record.refundId,
    status: REFUND_STATUSES.find((each) => each === status) ?? null,
    resource: readResource(record),
    amountCents: readCents(record.amountCents),
    reason: readWholeText(record.reason, { max: TEXT_MAX }),
    endToEndId: readWholeText(record.endToEndId, { max: TEXT_MAX }),
    failureReason: readWholeText(record.failureReason, { max: TEXT_MAX }),
    createdAt: readInstant(record.createdAt),
    completedAt: readInstant(record.completedAt),
    failedAt: readInstant(record.failedAt),
  };
}

const TEXT_MAX = 4_096;

/** The refunded resource: named by the member of its family, or in an event as `of`, or `resource` by older versions. */
function readResource(record: JsonRecord): RefundedResource | null {
  const named = readRecord(record.of) ?? readRecord(record.resource);
  for (const type of REFUNDED_TYPES) {
    const id = readWholeText(named?.type === type ? named.id : record[REFERENCES[type]], { max: 128 });
    if (id !== null) return { type, id };
  }
  return null;
}
