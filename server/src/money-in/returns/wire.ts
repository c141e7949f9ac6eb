import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import { cents } from '../../kernel/money.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { answeredWord } from '../../kernel/text.ts';
import { nameIn, webhookEvent } from '../../kernel/webhook-event.ts';
import { RETURN_CAUSES } from '../receiving/model.ts';
import {
  orderIdOf,
  type PaymentReturn,
  RETURNED_TYPES,
  type ReturnedType,
  type ReturnSnapshot,
} from './model.ts';

const shape = {
  returnId: z
    .string()
    .meta({ description: 'ret_ and 24 hex digits', examples: ['ret_0c7d1a5be2f94a3d8e6b7f10'] }),
  amountCents: cents,
  cause: answeredWord(RETURN_CAUSES),
  orderId: z.string().nullable().meta({
    description: 'The number of your order; null of a charge or a subscription, which belong to none',
  }),
  externalId: z.string().nullable().meta({ description: 'The same; of a charge your own label for it' }),
  keptPayment: z
    .string()
    .nullable()
    .meta({ description: 'The payment of the same order that was kept; null where none was' }),
  endToEndId: z
    .string()
    .nullable()
    .meta({ description: 'Of the PIX that came, at the bank; null of a card' }),
  receivedAt: instant,
};

const named = (of: string) =>
  z
    .string()
    .optional()
    .meta({ description: `${of}; left out of any other` });

/** A return in the REST interface. The document has none: it is an extension of this service. */
export const returnWire = z
  .object({
    ...shape,
    orderCode: named('The card payment that the money came for'),
    paymentId: named('The payment by PIX that it came for'),
    chargeId: named('The charge that it came for'),
    subscriptionId: named('The subscription that it came for'),
    returnedAt: instant
      .nullable()
      .meta({ description: 'When the payer had it; null while it is being sent back' }),
  })
  .meta({ id: 'Return' });

/** The member that names the resource. */
const REFERENCES = {
  card_payment: 'orderCode',
  payment: 'paymentId',
  charge: 'chargeId',
  subscription: 'subscriptionId',
} as const satisfies Record<ReturnedType, string>;

export function returnToWire({ resource, ...members }: PaymentReturn): z.output<typeof returnWire> {
  const orderId = orderIdOf({ resource, ...members });
  return { ...members, orderId, [REFERENCES[resource.type]]: resource.id };
}

/**
 * Encodes `return.completed`. The body has neither `orderCode` nor `paymentId` at its top level: receivers
 * recognize the event of a paid payment by these names.
 */
export const returnWebhooks = {
  'return.completed': webhookEvent('return.completed', {
    summary: 'Money that did not pay went back to its payer',
    optional:
      ': money that did not pay, such as that of a second payment of an order, is back with its payer. It is no refund.',
    resource: 'return',
    members: {
      ...shape,
      of: z
        .object({ type: answeredWord(RETURNED_TYPES), id: z.string() })
        .meta({ description: 'The resource that it came for' }),
      returnedAt: instant,
      metadata: z.string().nullable().meta({ description: 'That of the resource, byte for byte' }),
    },
  }),
};

/**
 * Encodes `return.completed`. It has neither `orderCode` nor `paymentId` at its top: by these names receivers know the event of
 * a paid payment.
 */
export function returnWebhook(
  {
    returnId,
    resource: { type, id },
    amountCents,
    cause,
    externalId,
    keptPayment,
    endToEndId,
    receivedAt,
    returnedAt,
    metadata,
  }: ReturnSnapshot,
  environment: Environment,
) {
  return {
    event: nameIn(environment, 'return.completed'),
    returnId,
    of: { type, id },
    amountCents,
    cause,
    orderId: orderIdOf({ resource: { type, id }, externalId }),
    externalId,
    keptPayment,
    endToEndId,
    receivedAt: receivedAt.toISOString(),
    returnedAt: returnedAt?.toISOString() ?? null,
    metadata,
  };
}
