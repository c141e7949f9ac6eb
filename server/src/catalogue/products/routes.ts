import { z } from 'zod';
import { centsQuery, listQuery, periodQuery, readListQuery } from '../../api/http/list-query.ts';
import { pageOf, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { productIdText } from '../../money-in/checkout/model.ts';
import {
  assertFound,
  createProductInput,
  type ProductFilter,
  type ProductService,
  type StoredProduct,
} from './model.ts';
import { productWire } from './wire.ts';

const TAG = 'Products';
const NOT_FOUND = 'Product not found: none of this account in this environment';

const byId = z.object({ id: productIdText });

/** Products in the REST interface (the document's 4.4 and 4.5). */
export function createProductRoutes({
  products,
}: {
  products: ProductService<StoredProduct>;
}): RestOperation[] {
  return [
    restOperation({
      method: 'POST',
      path: '/v1/products',
      operationId: 'createProduct',
      summary: 'Create a billing product',
      tag: TAG,
      section: '4.5',
      body: createProductInput,
      example: { name: 'Caneca de cerâmica', description: '300 ml', priceCents: 4990 },
      answers: { 201: { description: 'The product', schema: productWire } },
      errors: { 409: 'The account has 500 products in this environment' },
      async handle({ caller, body }) {
        return { status: 201, body: await products.create(caller.tenant, body) };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/products',
      operationId: 'listProducts',
      summary: 'List billing products, newest first',
      tag: TAG,
      section: '4.5',
      query: listQuery({
        ...centsQuery('products at a price', 'Price'),
        ...periodQuery('created', 'products created'),
      }),
      answers: { 200: { description: 'A page', schema: pageOf('products', productWire) } },
      async handle({ caller, query }) {
        const page = readListQuery<ProductFilter>(query);
        const { items, total } = await products.listPage(caller.tenant, page);
        return { status: 200, body: { products: items, total, ...query } };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/products/{id}',
      operationId: 'getProduct',
      summary: 'Look a billing product up',
      tag: TAG,
      section: '4.5',
      params: byId,
      answers: { 200: { description: 'The product', schema: productWire } },
      errors: { 404: NOT_FOUND },
      async handle({ caller, params }) {
        return { status: 200, body: assertFound(await products.find(caller.tenant, params.id)) };
      },
    }),
    restOperation({
      method: 'DELETE',
      path: '/v1/products/{id}',
      operationId: 'deleteProduct',
      summary: 'Delete a billing product permanently',
      tag: TAG,
      section: '4.4',
      params: byId,
      answers: { 200: { description: 'It is gone', schema: z.object({ deleted: z.boolean() }) } },
      errors: { 404: NOT_FOUND },
      async handle({ caller, params }) {
        await products.delete(caller.tenant, params.id);
        return { status: 200, body: { deleted: true } };
      },
    }),
  ];
}
