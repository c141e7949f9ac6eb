// Compiled and never shipped: checks the documents and hand-written types of operations.ts against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from '../graphql-env.d.ts';
import {
  SALE_DETAILS,
  SALES,
  SALES_POLL,
  SALES_START,
  SALES_TOTALS,
  type Sale,
  type SaleDetails,
  type SalePage,
  type SalePageVariables,
  type SalesTotals,
} from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const start = graphql(SALES_START);
const list = graphql(SALES);
const poll = graphql(SALES_POLL);
const totals = graphql(SALES_TOTALS);
const details = graphql(SALE_DETAILS);

// A root field that is null has an error, and a request with an error is refused.
type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Present<ResultOf<typeof start>>, { updatesCursor: string; updateKinds: string[]; sales: SalePage }>,
  Fits<Present<ResultOf<typeof list>>['sales'], SalePage>,
  Fits<Extract<NonNullable<ResultOf<typeof poll>['nodes']>[number], { reference: string }>, Sale>,
  Fits<Present<ResultOf<typeof totals>>['salesTotals'], SalesTotals>,
  Fits<Extract<ResultOf<typeof details>['node'], { reference: string }>, SaleDetails>,
  Fits<SalePageVariables, VariablesOf<typeof start>>,
  Fits<SalePageVariables, VariablesOf<typeof list>>,
  Fits<Pick<SalePageVariables, 'filter'>, VariablesOf<typeof totals>>,
  Fits<{ first: number; ids: string[] }, VariablesOf<typeof poll>>,
];
