// Compiled and never shipped: checks the documents and hand-written types of operations.ts against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from '../graphql-env.d.ts';
import { WALLET, WALLET_START, type WalletStart } from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const start = graphql(WALLET_START);
const wallet = graphql(WALLET);

// A root field that is null has an error, and a request with an error is refused.
type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Present<ResultOf<typeof start>>, WalletStart>,
  Fits<Present<ResultOf<typeof wallet>>['wallet'], WalletStart['wallet']>,
  Fits<
    { startsAt: string; endsAt: string; interval: 'DAY'; withHistory: boolean },
    VariablesOf<typeof start>
  >,
];
