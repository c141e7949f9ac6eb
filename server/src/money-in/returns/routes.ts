import { pageOf, pageQuery, type RestOperation, restOperation } from '../../api/http/rest.ts';
import type { ReturnService } from './model.ts';
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
      query: pageQuery,
      answers: { 200: { description: 'A page', schema: pageOf('returns', returnWire) } },
      async handle({ caller, query }) {
        const { items, total } = await returns.listPage(caller.tenant, query);
        return { status: 200, body: { returns: items.map(returnToWire), total, ...query } };
      },
    }),
  ];
}
