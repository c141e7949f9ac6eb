import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import { cents } from '../kernel/money.ts';
import type { Environment } from '../kernel/tenant.ts';
import { answeredWord } from '../kernel/text.ts';
import { REFUND_STATUSES, type Refund, type RefundedType, type RefundSnapshot } from './model.ts';

/** A refund in the REST interface. The document has none: it is an extension of this service. */
export const refundWire = z
  .object({
    refundId: z
      .string()
      .meta({ description: 'ref_ and 24 hex digits', examples: ['ref_0c7d1a5be2f94a3d8e6b7f10'] }),
    status: answeredWord(REFUND_STATUSES).meta({
      description:
        'processing: the money may have left; completed; failed: the amount is back where it was taken',
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
  })
  .meta({ id: 'Refund' });

export function refundToWire(refund: Refund): z.output<typeof refundWire> {
  const { refundId, status, resource, amountCents, reason, endToEndId, failureReason } = refund;
  const { createdAt, completedAt } = refund;
  return {
    ...{ refundId, status, amountCents, [REFERENCES[resource.type]]: resource.id },
    ...{ reason, endToEndId, failureReason, createdAt, completedAt },
  };
}

/** The member that names the refunded resource. */
const REFERENCES = {
  card_payment: 'orderCode',
  payment: 'paymentId',
  charge: 'chargeId',
} as const satisfies Record<RefundedType, string>;

/**
 * Encodes `refund.completed` and `refund.failed`; null for a refund that has not ended. It has neither `orderCode`
 * nor `paymentId` at its top: by these names receivers know the event of a paid payment.
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
    metadata,
  }: RefundSnapshot,
  environment: Environment,
) {
  if (status === 'processing') return null;
  const isTest = environment === 'sandbox';
  return {
    event: `refund.${isTest ? 'test.' : ''}${status}`,
    refundId,
    resource: { type, id },
    amountCents,
    status,
    reason,
    failureReason,
    completedAt: completedAt?.toISOString() ?? null,
    metadata,
    ...(isTest && { sandbox: true }),
  };
}
