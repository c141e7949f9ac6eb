import { builder } from '../../api/graphql/builder.ts';
import { BOTH_WAYS, connectionArguments, readConnection, totalOf } from '../../api/graphql/paging.ts';
import { callerOf } from '../../kernel/caller.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { CustomerFilter, receivedFilterFields } from '../checkout/filter-schema.ts';
import { PaymentStatusEnum, SaleRef, SalesMethodEnum } from '../receiving/sale-schema.ts';
import { readableKinds, SALE_MEMBERS, type SaleFilter, type SaleService } from './model.ts';

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    sales: SaleService;
  }
}

const SaleConnection = builder.connectionObject(
  {
    type: SaleRef,
    name: 'SaleConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'SaleEdge' },
);

export const SaleFilterInput = builder.inputType('SaleFilter', {
  description:
    'Conditions of a list of sales, which a sale has to fulfill all at once. A list with dates is in the order of these dates; without dates, one with a range of amounts has the largest first.',
  fields: (t) =>
    ({
      ...receivedFilterFields(
        t,
        'Selects the sale with this orderCode, paymentId or chargeId, or paid by the PIX with this endToEndId.',
      ),
      orderId: t.string({
        description: 'Selects the card payments and payments of the order with this number.',
      }),
      externalId: t.string({ description: 'Selects the charges with this label.' }),
      customer: t.field({
        type: CustomerFilter,
        description: 'Selects the card payments and payments of this customer: a charge has none.',
      }),
      method: t.field({ type: [SalesMethodEnum], description: 'Selects sales by any of these methods.' }),
      status: t.field({
        type: [PaymentStatusEnum],
        description: 'Selects sales that have any of these statuses now.',
      }),
    }) satisfies { [Member in keyof SaleFilter]-?: unknown },
});

/** Reads the filter as the port has it. @throws ValidationError naming the argument */
export function saleFilterOf(filter: typeof SaleFilterInput.$inferInput | null | undefined): SaleFilter {
  return readFilter<SaleFilter>(filter, SALE_MEMBERS);
}

/** The kinds that a credential gets, in the description of each field over all of them. */
export const READABLE =
  'A credential that may not read card payments, or not the others, gets those that it may read.';

builder.queryField('sales', (t) =>
  t.field({
    type: SaleConnection,
    description: `All sales in one list, newest first: card payments, payments by PIX and LTC, and charges. ${BOTH_WAYS} ${READABLE} In remote mode: what this server has seen, in the order in which it first saw it.`,
    args: { ...connectionArguments(t.arg), filter: t.arg({ type: SaleFilterInput }) },
    resolve: (_, { filter: given, ...args }, context) => {
      const caller = callerOf(context);
      const kinds = readableKinds(caller);
      const filter = saleFilterOf(given);
      const { sales } = context.services;
      return readConnection(context.listCursors('sales'), args, {
        list: (range) => sales.list(caller.tenant, kinds, { ...filter, ...range }),
        node: ({ sale }) => sale,
        total: () => sales.count(caller.tenant, kinds, filter),
      });
    },
  }),
);
