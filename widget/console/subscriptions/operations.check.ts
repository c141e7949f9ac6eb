// Compiled and never shipped: checks the documents and hand-written types of operations.ts against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from '../../src/graphql-env.d.ts';
import {
  SUBSCRIPTION_DETAILS,
  SUBSCRIPTION_UPDATES,
  SUBSCRIPTIONS,
  SUBSCRIPTIONS_POLL,
  SUBSCRIPTIONS_START,
  type Subscription,
  type SubscriptionsAnswer,
  type SubscriptionUpdate,
  type SubscriptionVariables,
  type WholeSubscription,
} from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const start = graphql(SUBSCRIPTIONS_START);
const list = graphql(SUBSCRIPTIONS);
const poll = graphql(SUBSCRIPTIONS_POLL);
const details = graphql(SUBSCRIPTION_DETAILS);
const updates = graphql(SUBSCRIPTION_UPDATES);

// A root field that is null has an error, and a request with an error is refused.
type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Present<ResultOf<typeof start>>, SubscriptionsAnswer & { updatesCursor: string }>,
  Fits<Present<ResultOf<typeof list>>, SubscriptionsAnswer>,
  Fits<Present<ResultOf<typeof poll>>['subscriptions']['nodes'], Subscription[]>,
  Fits<Extract<ResultOf<typeof details>['node'], { subscriptionId: string }>, WholeSubscription>,
  Fits<Extract<ResultOf<typeof updates>['accountUpdates'], { subscription: object }>, SubscriptionUpdate>,
  Fits<SubscriptionVariables, VariablesOf<typeof start>>,
  Fits<SubscriptionVariables, VariablesOf<typeof list>>,
  Fits<{ first: number; ids: string[] }, VariablesOf<typeof poll>>,
  Fits<{ id: string }, VariablesOf<typeof details>>,
  Fits<{ after: string | null; kinds: ['SUBSCRIPTION'] }, VariablesOf<typeof updates>>,
];
