import { totalsType } from '../../api/graphql/totals-schema.ts';
import { PaymentStatusEnum, SalesMethodEnum } from '../receiving/sale-schema.ts';

/** The totals of lists of sales: card payments, payments and charges. */
export const SalesTotals = totalsType('SalesTotals', {
  list: 'payments or charges',
  status: PaymentStatusEnum,
  method: SalesMethodEnum,
});
