// Compiled and never shipped: checks the dashboard's documents and hand-written types against the printed schema.
import type { initGraphQLTada, ResultOf } from 'gql.tada';
import type { introspection } from '../../src/graphql-env.d.ts';
import type { Parts } from './api.ts';
import {
  CARD_PAYMENT_UPDATES,
  type CardPayment,
  CHARGE_UPDATES,
  CHARGES,
  type Charge,
  DAY_TOTALS,
  type DayTotalsData,
  DISPUTE_UPDATES,
  DISPUTES,
  type Dispute,
  MORE_CARD_PAYMENTS,
  MORE_SUBACCOUNT_PAYOUTS,
  MORE_SUBACCOUNTS,
  PAYOUT_UPDATES,
  type Page,
  PIX_PAYMENT_UPDATES,
  PIX_PAYMENTS,
  type PixPayment,
  PRODUCT_CONTENTS,
  type ProductContent,
  REFUND_UPDATES,
  REFUNDED_TOTALS,
  REFUNDS,
  type Refund,
  START,
  STORE_PRODUCTS,
  type StartData,
  type StoreProduct,
  SUBACCOUNT_NAMES,
  SUBACCOUNT_PAYOUT_UPDATES,
  SUBSCRIPTION_UPDATES,
  SUBSCRIPTIONS,
  type Subaccount,
  type SubaccountNames,
  type SubaccountPayout,
  type Subscription,
  WALLET_ALONE,
  WALLET_UPDATES,
  type Wallet,
  WEBHOOK_DELIVERIES,
  type WebhookDelivery,
} from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const start = graphql(START);
const dayTotals = graphql(DAY_TOTALS);
const refundedTotals = graphql(REFUNDED_TOTALS);
const moreCardPayments = graphql(MORE_CARD_PAYMENTS);
const deliveries = graphql(WEBHOOK_DELIVERIES);
const polled = graphql(WALLET_ALONE);
const contents = graphql(PRODUCT_CONTENTS);
const store = graphql(STORE_PRODUCTS);
const moreSubaccounts = graphql(MORE_SUBACCOUNTS);
const moreSubaccountPayouts = graphql(MORE_SUBACCOUNT_PAYOUTS);
const names = graphql(SUBACCOUNT_NAMES);
const wallet = graphql(WALLET_UPDATES);
const payouts = graphql(PAYOUT_UPDATES);
const subaccountPayouts = graphql(SUBACCOUNT_PAYOUT_UPDATES);
const cardPayments = graphql(CARD_PAYMENT_UPDATES);
const morePixPayments = graphql(PIX_PAYMENTS);
const pixPayments = graphql(PIX_PAYMENT_UPDATES);
const moreCharges = graphql(CHARGES);
const charges = graphql(CHARGE_UPDATES);
const moreSubscriptions = graphql(SUBSCRIPTIONS);
const subscriptions = graphql(SUBSCRIPTION_UPDATES);
const anyRefund = graphql(REFUNDS);
const refunds = graphql(REFUND_UPDATES);
const moreDisputes = graphql(DISPUTES);
const disputes = graphql(DISPUTE_UPDATES);

// A root field that is null has an error, and only the first query is shown in part.
type Present<Data> = { [Name in keyof Data]: NonNullable<Data[Name]> };
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<ResultOf<typeof start>, Parts<StartData>>,
  Fits<Present<ResultOf<typeof dayTotals>>, DayTotalsData>,
  Fits<
    Present<ResultOf<typeof refundedTotals>>,
    Pick<DayTotalsData, 'cardPaymentTotals' | 'paymentTotals' | 'chargeTotals'>
  >,
  Fits<Present<ResultOf<typeof moreCardPayments>>['cardPayments'], Page<CardPayment>>,
  Fits<Present<ResultOf<typeof deliveries>>['webhookDeliveries'], Page<WebhookDelivery>>,
  Fits<Present<ResultOf<typeof moreSubaccounts>>['subaccounts'], Page<Subaccount>>,
  Fits<NonNullable<ResultOf<typeof moreSubaccountPayouts>['subaccount']>['payouts'], Subaccount['payouts']>,
  Fits<Present<ResultOf<typeof polled>>['wallet'], Wallet>,
  Fits<Present<ResultOf<typeof contents>>['deliveries'], Page<ProductContent>>,
  Fits<Present<ResultOf<typeof store>>['storeProducts'], Page<StoreProduct>>,
  Fits<Present<ResultOf<typeof names>>, SubaccountNames>,
  Fits<ResultOf<typeof wallet>['walletUpdates']['wallet'], Wallet>,
  Fits<ResultOf<typeof payouts>['allPayoutUpdates']['payout'], { id: string }>,
  Fits<
    ResultOf<typeof subaccountPayouts>['allSubaccountPayoutUpdates']['subaccountPayout'],
    SubaccountPayout
  >,
  Fits<ResultOf<typeof cardPayments>['allCardPaymentUpdates']['cardPayment'], CardPayment>,
  Fits<Present<ResultOf<typeof morePixPayments>>['payments'], Page<PixPayment>>,
  Fits<ResultOf<typeof pixPayments>['allPaymentUpdates']['payment'], PixPayment>,
  Fits<Present<ResultOf<typeof moreCharges>>['charges'], Page<Charge>>,
  Fits<ResultOf<typeof charges>['allChargeUpdates']['charge'], Charge>,
  Fits<Present<ResultOf<typeof moreSubscriptions>>['subscriptions'], Page<Subscription>>,
  Fits<ResultOf<typeof subscriptions>['allSubscriptionUpdates']['subscription'], Subscription>,
  Fits<Present<ResultOf<typeof anyRefund>>['refunds']['nodes'], { refundId: string }[]>,
  Fits<ResultOf<typeof refunds>['allRefundUpdates']['refund'], Refund>,
  Fits<Present<ResultOf<typeof moreDisputes>>['disputes'], Page<Dispute>>,
  Fits<ResultOf<typeof disputes>['allDisputeUpdates']['dispute'], Dispute>,
];
