// Compiled and never shipped: checks the documents and hand-written types of operations.ts against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from '../graphql-env.d.ts';
import {
  DISPUTE_DETAILS,
  DISPUTES,
  DISPUTES_POLL,
  DISPUTES_START,
  type Dispute,
  type DisputesAnswer,
  type DisputeVariables,
  type WholeDispute,
} from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const start = graphql(DISPUTES_START);
const list = graphql(DISPUTES);
const poll = graphql(DISPUTES_POLL);
const details = graphql(DISPUTE_DETAILS);

// A root field that is null has an error, and a request with an error is refused.
type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Present<ResultOf<typeof start>>, DisputesAnswer & { updatesCursor: string }>,
  Fits<Present<ResultOf<typeof list>>, DisputesAnswer>,
  Fits<Present<ResultOf<typeof poll>>['disputes']['nodes'], Dispute[]>,
  Fits<Extract<ResultOf<typeof details>['node'], { disputeId: string }>, WholeDispute>,
  Fits<DisputeVariables, VariablesOf<typeof start>>,
  Fits<DisputeVariables, VariablesOf<typeof list>>,
  Fits<{ first: number; ids: string[] }, VariablesOf<typeof poll>>,
  Fits<{ id: string }, VariablesOf<typeof details>>,
];
