import { z } from 'zod';
import { anyOf, listQuery, periodQuery, readListQuery } from '../../api/http/list-query.ts';
import { byKey, pageOf, pageOrKeyed, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { UpstreamError } from '../../kernel/errors.ts';
import type { RequestKeys } from '../../kernel/request-keys.ts';
import { productIdText } from '../../money-in/checkout/model.ts';
import { CONTENT_KINDS } from '../../money-in/receiving/model.ts';
import {
  createDeliveryInput,
  DELIVERY_STOCKS,
  type DeliveryFilter,
  type DeliveryService,
  deliveryIdText,
  type StoredDelivery,
} from './model.ts';
import { deliveryWire } from './wire.ts';

const TAG = 'Deliveries';

/** Deliveries in the REST interface (the document's 2.5 and 4.5). */
export function createDeliveryRoutes({
  deliveries,
  requestKeys,
}: {
  deliveries: DeliveryService<StoredDelivery>;
  requestKeys: RequestKeys;
}): RestOperation[] {
  return [
    restOperation({
      method: 'POST',
      path: '/v1/deliveries',
      operationId: 'createDelivery',
      summary: 'Tie content to a product, or add codes to its stock',
      description:
        'Payers of the product are given it from now on. A code is given to one payment alone; payments that wait for one are served first, the oldest before the others.',
      tag: TAG,
      section: '4.5',
      body: createDeliveryInput,
      example: {
        productId: '0c7d1a5be2f94a3d8e6b7f10',
        content: { codes: ['AAAA-1111', 'BBBB-2222'] },
      },
      answers: { 201: { description: 'The delivery, with its stock', schema: deliveryWire } },
      errors: {
        404: 'No such product of this account in this environment',
        409: 'The product has 10 deliveries or 10,000 codes in stock, or the idempotency key was used with another input',
      },
      async handle({ caller, body }) {
        const { delivery, replayed } = await deliveries.create(caller.tenant, body);
        return { status: 201, body: delivery, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/deliveries',
      operationId: 'listDeliveries',
      summary: 'List deliveries, newest first',
      tag: TAG,
      section: '4.5',
      query: listQuery({
        productId: productIdText.optional(),
        kind: anyOf(CONTENT_KINDS, 'deliveries'),
        stock: anyOf(DELIVERY_STOCKS, 'deliveries'),
        ...periodQuery('created', 'deliveries created'),
        ...byKey,
      }),
      answers: { 200: { description: 'A page', schema: pageOf('deliveries', deliveryWire) } },
      async handle({ caller, query }) {
        const { tenant } = caller;
        const { items, total } = await pageOrKeyed(query, {
          list: (page) => deliveries.listPage(tenant, readListQuery<DeliveryFilter>(page)),
          async made(key) {
            const id = await requestKeys.resourceOf(tenant, 'createDelivery', key);
            const [found = null] = id === null ? [] : await deliveries.findMany(tenant, [id]);
            if (found instanceof UpstreamError) throw found;
            return found;
          },
        });
        return { status: 200, body: { deliveries: items, total, ...query } };
      },
    }),
    restOperation({
      method: 'DELETE',
      path: '/v1/deliveries/{id}',
      operationId: 'deleteDelivery',
      summary: 'End a delivery',
      description: 'An extension of the document. What was delivered stays readable.',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: deliveryIdText }),
      answers: { 200: { description: 'It is gone', schema: z.object({ deleted: z.boolean() }) } },
      errors: { 404: 'No such delivery of this account in this environment' },
      async handle({ caller, params }) {
        await deliveries.delete(caller.tenant, params.id);
        return { status: 200, body: { deleted: true } };
      },
    }),
  ];
}
