import {
  anyOf,
  centsQuery,
  listQuery,
  periodQuery,
  readListQuery,
  textQuery,
} from '../../api/http/list-query.ts';
import { pageOf, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { RETURN_CAUSES } from '../receiving/model.ts';
import { type ReturnFilter, type ReturnService, typesOfOrders } from './model.ts';
import { returnToWire, returnWire } from './wire.ts';

/** Returns in the REST interface: an extension of the document, which has no operation for them. */
export function createReturnRoutes({ returns }: { returns: ReturnService }): RestOperation[] {
  return [
    restOperation({
      method: 'GET',
      path: '/v1/returns',
      operationId: 'listReturns',
      summary: 'List money that did not pay and is returned to its payer, newest first',
      description:
        'Money that came after its order was paid, a second PIX of one code, another amount: none of it ever gets into the balance. It is in no list of refunds. An extension of the document.',
      tag: 'Refunds',
      section: '4.5',
      query: listQuery({
        cause: anyOf(RETURN_CAUSES, 'returns'),
        orderId: textQuery('Selects returns of the order with this number'),
        externalId: textQuery(
          'Selects returns of the charges with this label, and of the order with this number',
        ),
        reference: textQuery('Selects the return with this returnId or endToEndId'),
        ...centsQuery('returns'),
        ...periodQuery('received', 'returns of money that arrived'),
        ...periodQuery('returned', 'returns whose payer had the money'),
      }),
      answers: { 200: { description: 'A page', schema: pageOf('returns', returnWire) } },
      async handle({ caller, query }) {
        const isOfOrder = query.orderId !== undefined;
        const page = {
          ...readListQuery<ReturnFilter>(query),
          types: isOfOrder ? typesOfOrders(undefined) : undefined,
        };
        const { items, total } = await returns.listPage(caller.tenant, page);
        return { status: 200, body: { returns: items.map(returnToWire), total, ...query } };
      },
    }),
  ];
}
