// Compiled and never shipped: checks the console's documents and hand-written types against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from '../src/graphql-env.d.ts';
import {
  DELIVERIES,
  DELIVERY,
  type Deliveries,
  type DeliveryFilter,
  ENDPOINTS,
  type Endpoints,
  type OneDelivery,
} from './developer-operations.ts';
import {
  OFFERED,
  type Offered,
  REPORT,
  type Report,
  SALES_BY_TIME,
  type SalesTotals,
  TASKS,
  type Tasks,
  WEBHOOKS,
  type Webhooks,
} from './operations.ts';
import {
  type OneSubaccount,
  PAYOUTS,
  type Payouts,
  STATEMENT,
  type Statement,
  SUBACCOUNT,
  SUBACCOUNTS,
  type SubaccountFilter,
  type Subaccounts,
} from './subaccount-operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const offered = graphql(OFFERED);
const tasks = graphql(TASKS);
const report = graphql(REPORT);
const endpoints = graphql(ENDPOINTS);
const deliveries = graphql(DELIVERIES);
const delivery = graphql(DELIVERY);
const subaccounts = graphql(SUBACCOUNTS);
const subaccount = graphql(SUBACCOUNT);
const statement = graphql(STATEMENT);
const payouts = graphql(PAYOUTS);
const webhooks = graphql(WEBHOOKS);
const sales = graphql(SALES_BY_TIME);

type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Present<ResultOf<typeof offered>>, Offered>,
  Fits<Present<ResultOf<typeof tasks>>, Tasks>,
  Fits<Present<ResultOf<typeof report>>['wallet']['closing'], Report>,
  Fits<Present<ResultOf<typeof endpoints>>, Endpoints>,
  Fits<Present<ResultOf<typeof deliveries>>, Deliveries>,
  Fits<Present<ResultOf<typeof delivery>>, OneDelivery>,
  Fits<Present<ResultOf<typeof subaccounts>>, Subaccounts>,
  Fits<Present<ResultOf<typeof subaccount>>, OneSubaccount>,
  Fits<Present<ResultOf<typeof statement>>, Statement>,
  Fits<Present<ResultOf<typeof payouts>>, Payouts>,
  Fits<{ after: string | null; filter: SubaccountFilter }, VariablesOf<typeof subaccounts>>,
  Fits<{ after: string | null; filter: DeliveryFilter }, VariablesOf<typeof deliveries>>,
  Fits<{ after: string | null; id: string }, VariablesOf<typeof statement>>,
  Fits<Present<ResultOf<typeof webhooks>>, Webhooks>,
  Fits<Present<ResultOf<typeof sales>>, SalesTotals>,
  Fits<{ since: string; ltcSince: string }, VariablesOf<typeof tasks>>,
  Fits<{ reference: string }, VariablesOf<typeof webhooks>>,
  Fits<
    { filter: { paidAfter: string; paidBefore: string }; interval: 'DAY' | 'MONTH' },
    VariablesOf<typeof sales>
  >,
  Fits<{ startsAt: string; endsAt: string }, VariablesOf<typeof report>>,
];
