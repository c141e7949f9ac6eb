// Compiled and never shipped: checks the documents and hand-written types of operations.ts against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from '../graphql-env.d.ts';
import {
  CLOSING,
  type Closing,
  ENTRY_DETAILS,
  STATEMENT,
  STATEMENT_POLL,
  STATEMENT_START,
  type StatementAnswer,
  type StatementVariables,
  type WalletEntry,
  type WholeEntry,
} from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const start = graphql(STATEMENT_START);
const list = graphql(STATEMENT);
const poll = graphql(STATEMENT_POLL);
const closing = graphql(CLOSING);
const details = graphql(ENTRY_DETAILS);

// A root field that is null has an error, and a request with an error is refused.
type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Present<ResultOf<typeof start>>, StatementAnswer & { updatesCursor: string }>,
  Fits<Present<ResultOf<typeof list>>, StatementAnswer>,
  Fits<Present<ResultOf<typeof poll>>['wallet']['statement']['nodes'], WalletEntry[]>,
  Fits<Present<ResultOf<typeof closing>>['wallet']['closing'], Closing>,
  Fits<Extract<ResultOf<typeof details>['node'], { kind: unknown }>, WholeEntry>,
  Fits<StatementVariables, VariablesOf<typeof start>>,
  Fits<StatementVariables, VariablesOf<typeof list>>,
  Fits<{ startsAt: string; endsAt: string }, VariablesOf<typeof closing>>,
];
