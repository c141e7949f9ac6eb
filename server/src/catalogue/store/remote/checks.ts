import { type Checks, list, ONE_ITEM } from '../../../upstream/checks.ts';
import { storeProductsFromWire } from '../wire.ts';

export const storeChecks: Checks = {
  reads: [
    {
      name: 'GET /v1/store/products',
      pathOf: () => `/v1/store/products?${ONE_ITEM}`,
      read: list(storeProductsFromWire, 'products', 'id', ['name']),
    },
  ],
  features: [{ feature: 'the store' }],
};
