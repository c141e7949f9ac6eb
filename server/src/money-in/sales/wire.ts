import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import { cents } from '../../kernel/money.ts';
import { withMaskedTaxId } from '../../kernel/tax-id.ts';
import { answeredWord } from '../../kernel/text.ts';
import type { Payment } from '../payments/model.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../receiving/model.ts';
import { kindOfSale, METHOD_OF, SALE_KINDS, SALES_METHODS, type Sale, type SalesMethod } from './model.ts';

/** A sale in a list over all kinds: the members that all of them have. */
export const saleWire = z
  .object({
    type: answeredWord(SALE_KINDS).meta({ description: 'Which list has all of it' }),
    id: z.string().meta({ description: 'Its orderCode, chargeId or paymentId' }),
    status: answeredWord(PAYMENT_STATUSES),
    method: answeredWord(SALES_METHODS),
    amountCents: cents,
    refundedCents: cents.nullable().meta({ description: 'Given back to the payer by completed refunds' }),
    currency: z.literal('BRL'),
    customer: z
      .object({ name: z.string(), email: z.string(), externalId: z.string(), taxId: z.string() })
      .partial()
      .nullable()
      .meta({ description: 'Null of a charge' }),
    orderId: z.string().nullable().meta({
      description: 'The number of your order; null where none was given, and of a charge',
    }),
    externalId: z.string().nullable().meta({ description: 'Your label of a charge; null otherwise' }),
    description: z.string().nullable(),
    metadata: z.string().nullable(),
    createdAt: instant.nullable(),
    paidAt: instant.nullable(),
    refundedAt: instant.nullable(),
  })
  .meta({ id: 'Sale' });

/** Encodes a sale of the embedded service, which knows the status and the method of each. */
export function saleToWire(sale: Sale): z.output<typeof saleWire> {
  const { amountCents, refundedCents, description, metadata, createdAt, paidAt, refundedAt } = sale;
  const { externalId = null } = sale;
  const type = kindOfSale(sale);
  const isCharge = type === 'charge';
  return {
    ...{ type, amountCents, refundedCents, description, metadata, createdAt, paidAt, refundedAt },
    id: 'orderCode' in sale ? sale.orderCode : 'chargeId' in sale ? sale.chargeId : sale.paymentId,
    status: sale.status as PaymentStatus,
    method: METHOD_OF[type] ?? ((sale as Payment).method as SalesMethod),
    currency: 'BRL',
    customer: 'customer' in sale ? withMaskedTaxId(sale.customer) : null,
    orderId: isCharge ? null : externalId,
    externalId: isCharge ? externalId : null,
  };
}
