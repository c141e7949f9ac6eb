import { type Checks, list, ONE_ITEM, one } from '../../../upstream/checks.ts';
import { productFromWire, productsFromWire } from '../wire.ts';

const MEMBERS = ['name', 'priceCents'];

export const productChecks: Checks = {
  reads: [
    {
      name: 'GET /v1/products',
      pathOf: () => `/v1/products?${ONE_ITEM}`,
      read: list(productsFromWire, 'products', 'id', MEMBERS),
    },
    {
      name: 'GET /v1/products/{id}',
      family: 'GET /v1/products',
      nobody: '0'.repeat(24),
      pathOf: (id) => `/v1/products/${id}`,
      read: one(productFromWire, 'id', MEMBERS),
    },
  ],
  writes: [{ name: 'POST /v1/products' }, { name: 'DELETE /v1/products/{id}' }],
  features: [{ feature: 'products' }],
};
