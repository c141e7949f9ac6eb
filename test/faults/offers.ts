import type { GraphQLClient } from '../support/graphql.ts';
import { repeated } from './load.ts';

const PRODUCT = `mutation ($input: CreateProductInput!) {
  createProduct(input: $input) { ... on CreateProductSuccess { product { productId } } }
}`;
const DELIVERY = `mutation ($input: CreateDeliveryInput!) {
  createDelivery(input: $input) { ... on CreateDeliverySuccess { replayed } }
}`;

/** Offers a product with this number of codes in stock. Returns its id. */
export async function offerWithCodes(
  api: Pick<GraphQLClient, 'request'>,
  {
    name,
    valueCents: priceCents,
    codes: many,
    twice,
  }: { name: string; valueCents: number; codes: number; twice: boolean },
): Promise<string> {
  const { createProduct } = await api.request(PRODUCT, { input: { name, priceCents } });
  const { productId } = createProduct.product;
  const codes = Array.from({ length: many }, (_, nth) => `${productId} ${nth}`);
  const input = { productId, content: { codes }, idempotencyKey: `entrega:${productId}` };
  await repeated(twice, () => api.request(DELIVERY, { input }));
  return productId;
}
