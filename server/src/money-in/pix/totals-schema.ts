import { builder, UNKNOWN } from '../../api/graphql/builder.ts';
import { totalsType } from '../../api/graphql/totals-schema.ts';
import { PaymentStatusEnum } from './fields-schema.ts';

const SalesMethodEnum = builder.enumType('SalesMethod', {
  description: 'The method by which a sale is paid.',
  values: {
    CARD: { value: 'card', description: 'A card, on the hosted page.' },
    LTC: { value: 'ltc', description: 'Litecoin.' },
    PIX: { value: 'pix', description: 'A PIX code, or a debit of a subscription.' },
    UNKNOWN,
  } as const,
});

/** The totals of lists of sales: card payments, payments and charges. */
export const SalesTotals = totalsType('SalesTotals', {
  list: 'payments or charges',
  status: PaymentStatusEnum,
  method: SalesMethodEnum,
});
