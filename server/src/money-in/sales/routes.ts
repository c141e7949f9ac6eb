import {
  anyOf,
  customerQuery,
  listQuery,
  readListQuery,
  receivedQuery,
  textQuery,
} from '../../api/http/list-query.ts';
import { pageOf, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import { readableKinds, SALE_MEMBERS, SALES_METHODS, type SaleFilter, type SaleService } from './model.ts';
import { saleToWire, saleWire } from './wire.ts';

/** The sales of all methods in the REST interface: an extension of the document, which has a list for each. */
export function createSaleRoutes({ sales }: { sales: SaleService }): RestOperation[] {
  return [
    restOperation({
      method: 'GET',
      path: '/v1/sales',
      operationId: 'listSales',
      summary: 'List all sales, newest first',
      description:
        'Card payments, payments and charges in one list, with the members that all of them have; the list of its type has the rest of each. An extension of the document.',
      tag: 'Sales',
      section: '4.5',
      query: listQuery({
        ...receivedQuery(
          PAYMENT_STATUSES,
          'Selects the sale with this orderCode, paymentId or chargeId, or paid by the PIX with this endToEndId',
        ),
        orderId: textQuery('Selects the card payments and payments of the order with this number'),
        externalId: textQuery('Selects the charges with this label'),
        ...customerQuery,
        method: anyOf(SALES_METHODS, 'sales'),
      }),
      answers: { 200: { description: 'A page', schema: pageOf('sales', saleWire) } },
      async handle({ caller, query }) {
        const { items, total } = await sales.listPage(
          caller.tenant,
          readableKinds(caller),
          readListQuery<SaleFilter>(query, SALE_MEMBERS),
        );
        return { status: 200, body: { sales: items.map(saleToWire), total, ...query } };
      },
    }),
  ];
}
