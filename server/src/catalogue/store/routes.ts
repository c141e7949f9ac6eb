import { pageOf, pageQuery, type RestOperation, restOperation } from '../../api/http/rest.ts';
import type { StoreService } from './model.ts';
import { storeProductToWire, storeProductWire } from './wire.ts';

/** The products of the store in the REST interface (the document's 2.5 and 4.5). */
export function createStoreRoutes({ store }: { store: StoreService }): RestOperation[] {
  return [
    restOperation({
      method: 'GET',
      path: '/v1/store/products',
      operationId: 'listStoreProducts',
      summary: 'List the products of the chat platform’s store, in its own order',
      tag: 'Products',
      section: '4.5',
      query: pageQuery,
      answers: { 200: { description: 'A page', schema: pageOf('products', storeProductWire) } },
      async handle({ caller, query }) {
        const { items, total } = await store.listPage(caller.tenant, query);
        return { status: 200, body: { products: items.map(storeProductToWire), total, ...query } };
      },
    }),
  ];
}
