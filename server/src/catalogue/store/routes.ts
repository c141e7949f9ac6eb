import { booleanQuery, centsQuery, listQuery, readListQuery } from '../../api/http/list-query.ts';
import { pageOf, type RestOperation, restOperation } from '../../api/http/rest.ts';
import type { StoreProductFilter, StoreService } from './model.ts';
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
      query: listQuery({
        available: booleanQuery(
          'Selects products that the store sells now where true, and those that it does not where false',
        ),
        ...centsQuery('products at a price', 'Price'),
      }),
      answers: { 200: { description: 'A page', schema: pageOf('products', storeProductWire) } },
      async handle({ caller, query }) {
        const page = readListQuery<StoreProductFilter>(query);
        const { items, total } = await store.listPage(caller.tenant, page);
        return { status: 200, body: { products: items.map(storeProductToWire), total, ...query } };
      },
    }),
  ];
}
