// Compiled and never shipped: checks the hand-written types of topics.ts against the printed schema.
import type { initGraphQLTada, ResultOf } from 'gql.tada';
import type { introspection } from '../graphql-env.d.ts';
import { type FollowedEntry, type FollowedResources, TOPICS } from './topics.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const cardPayments = graphql(
  `subscription{allCardPaymentUpdates{cardPayment{${TOPICS.cardPayments[2]}}}}` as const,
);
const payments = graphql(`subscription{allPaymentUpdates{payment{${TOPICS.payments[2]}}}}` as const);
const charges = graphql(`subscription{allChargeUpdates{charge{${TOPICS.charges[2]}}}}` as const);
const refunds = graphql(`subscription{allRefundUpdates{refund{${TOPICS.refunds[2]}}}}` as const);
const payouts = graphql(`subscription{allPayoutUpdates{payout{${TOPICS.payouts[2]}}}}` as const);
const subaccountPayouts = graphql(
  `subscription{allSubaccountPayoutUpdates{subaccountPayout{${TOPICS.subaccountPayouts[2]}}}}` as const,
);
const subscriptions = graphql(
  `subscription{allSubscriptionUpdates{subscription{${TOPICS.subscriptions[2]}}}}` as const,
);
const disputes = graphql(`subscription{allDisputeUpdates{dispute{${TOPICS.disputes[2]}}}}` as const);
const subaccounts = graphql(
  `subscription{allSubaccountUpdates{${TOPICS.subaccounts[3]} subaccount{${TOPICS.subaccounts[2]}}}}` as const,
);
const webhookDeliveries = graphql(
  `subscription{allWebhookDeliveryUpdates{delivery{${TOPICS.webhookDeliveries[2]}}}}` as const,
);

// Fails to compile unless the server's type fits the type that the program reads.
type Fits<Given extends Expected, Expected> = [Given, Expected];
type Of<Topic extends keyof FollowedResources> = FollowedResources[Topic];

export type Checks = [
  Fits<ResultOf<typeof cardPayments>['allCardPaymentUpdates']['cardPayment'], Of<'cardPayments'>>,
  Fits<ResultOf<typeof payments>['allPaymentUpdates']['payment'], Of<'payments'>>,
  Fits<ResultOf<typeof charges>['allChargeUpdates']['charge'], Of<'charges'>>,
  Fits<ResultOf<typeof refunds>['allRefundUpdates']['refund'], Of<'refunds'>>,
  Fits<ResultOf<typeof payouts>['allPayoutUpdates']['payout'], Of<'payouts'>>,
  Fits<
    ResultOf<typeof subaccountPayouts>['allSubaccountPayoutUpdates']['subaccountPayout'],
    Of<'subaccountPayouts'>
  >,
  Fits<ResultOf<typeof subscriptions>['allSubscriptionUpdates']['subscription'], Of<'subscriptions'>>,
  Fits<ResultOf<typeof disputes>['allDisputeUpdates']['dispute'], Of<'disputes'>>,
  Fits<ResultOf<typeof subaccounts>['allSubaccountUpdates']['subaccount'], Of<'subaccounts'>>,
  Fits<
    Omit<NonNullable<ResultOf<typeof subaccounts>['allSubaccountUpdates']['entry']>, 'kind'>,
    Omit<FollowedEntry, 'kind'>
  >,
  Fits<ResultOf<typeof webhookDeliveries>['allWebhookDeliveryUpdates']['delivery'], Of<'webhookDeliveries'>>,
];
