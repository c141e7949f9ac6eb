// Compiled and never shipped: checks the documents and hand-written types of operations.ts against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from '../../src/graphql-env.d.ts';
import {
  DELIVERIES,
  type Delivery,
  LOW_STOCKS,
  type Page,
  PRODUCTS,
  type Product,
  STORE_PRODUCTS,
  type StoreProduct,
} from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const products = graphql(PRODUCTS);
const lowStocks = graphql(LOW_STOCKS);
const deliveries = graphql(DELIVERIES);
const storeProducts = graphql(STORE_PRODUCTS);

type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Present<ResultOf<typeof products>>, { products: Page<Product> }>,
  Fits<Present<ResultOf<typeof lowStocks>>, { deliveries: Page<Delivery> }>,
  Fits<Present<ResultOf<typeof deliveries>>, { deliveries: Page<Delivery> }>,
  Fits<Present<ResultOf<typeof storeProducts>>, { storeProducts: Page<StoreProduct> }>,
  Fits<{ after: string | null }, VariablesOf<typeof products>>,
  Fits<{ after: string | null }, VariablesOf<typeof lowStocks>>,
  Fits<{ productId: string }, VariablesOf<typeof deliveries>>,
  Fits<{ after: string | null }, VariablesOf<typeof storeProducts>>,
];
