import type { StoreProduct } from '../../../server/src/catalogue/store/model.ts';

/** A product of a store. */
export const product = (id: string, rest: Partial<StoreProduct> = {}): StoreProduct => ({
  storeProductId: id,
  name: `Produto ${id}`,
  description: null,
  price: '49,90',
  imageUrl: null,
  available: true,
  ...rest,
});
