import { type Checks, checkedFamily } from '../../../upstream/checks.ts';
import { productFromWire, productsFromWire } from '../wire.ts';

export const productChecks: Checks = {
  reads: checkedFamily({
    path: 'products',
    idName: 'id',
    nobody: '0'.repeat(24),
    members: ['name', 'priceCents'],
    read: productFromWire,
    readList: productsFromWire,
  }),
  writes: [{ name: 'POST /v1/products' }, { name: 'DELETE /v1/products/{id}' }],
  features: [{ feature: 'products' }],
};
