// Compiled and never shipped: checks the documents and hand-written types of operations.ts against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from '../graphql-env.d.ts';
import {
  PAYOUT_DETAILS,
  PAYOUT_TOTALS,
  PAYOUTS,
  type Payout,
  type PayoutDetails,
  type PayoutPage,
  type PayoutPageVariables,
  type PayoutTotals,
  POLL,
  START,
} from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const start = graphql(START);
const list = graphql(PAYOUTS);
const poll = graphql(POLL);
const totals = graphql(PAYOUT_TOTALS);
const details = graphql(PAYOUT_DETAILS);
type Start = typeof start;
type List = typeof list;
type Poll = typeof poll;

// A root field that is null has an error, and a request with an error is refused.
type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Present<ResultOf<Start>>, { updatesCursor: string; payouts: PayoutPage }>,
  Fits<Present<ResultOf<List>>['payouts'], PayoutPage>,
  Fits<PayoutPage, Present<ResultOf<List>>['payouts']>,
  Fits<Present<ResultOf<Poll>>['payouts']['nodes'], Payout[]>,
  Fits<Present<ResultOf<typeof totals>>['payoutTotals'], PayoutTotals>,
  Fits<Extract<ResultOf<typeof details>['node'], { withdrawalId: unknown }>, PayoutDetails>,
  Fits<PayoutPageVariables, VariablesOf<Start>>,
  Fits<PayoutPageVariables, VariablesOf<List>>,
  Fits<{ first: number; ids: string[] }, VariablesOf<Poll>>,
  Fits<Pick<PayoutPageVariables, 'filter'>, VariablesOf<typeof totals>>,
];
