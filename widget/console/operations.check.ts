// Compiled and never shipped: checks the console's documents and hand-written types against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from '../src/graphql-env.d.ts';
import { REPORT, type Report, TASKS, type Tasks } from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const tasks = graphql(TASKS);
const report = graphql(REPORT);

type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Present<ResultOf<typeof tasks>>, Tasks>,
  Fits<Present<ResultOf<typeof report>>['wallet']['closing'], Report>,
  Fits<{ since: string }, VariablesOf<typeof tasks>>,
  Fits<{ startsAt: string; endsAt: string }, VariablesOf<typeof report>>,
];
