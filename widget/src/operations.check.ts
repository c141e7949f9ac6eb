// Compiled and never shipped: checks the documents and hand-written types of operations.ts against the printed schema.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { introspection } from './graphql-env.d.ts';
import {
  CARD_PAYMENT,
  CARD_PAYMENT_DELIVERED,
  CARD_PAYMENT_UPDATES,
  type CardPayment,
  type CardPaymentUpdate,
  type DeliveredContent,
  PAYMENT,
  PAYMENT_DELIVERED,
  PAYMENT_UPDATES,
  type Payment,
  type PaymentUpdate,
  START_CHECKOUT,
  START_PIX_CHECKOUT,
  type StartCheckoutInput,
  type StartCheckoutResult,
  type StartPixCheckoutResult,
} from './operations.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const start = graphql(START_CHECKOUT);
const read = graphql(CARD_PAYMENT);
const updates = graphql(CARD_PAYMENT_UPDATES);
const startPix = graphql(START_PIX_CHECKOUT);
const readPix = graphql(PAYMENT);
const pixUpdates = graphql(PAYMENT_UPDATES);
const readDelivered = graphql(CARD_PAYMENT_DELIVERED);
const readPixDelivered = graphql(PAYMENT_DELIVERED);
type Start = typeof start;
type Read = typeof read;
type Updates = typeof updates;
type StartPix = typeof startPix;
type ReadPix = typeof readPix;
type PixUpdates = typeof pixUpdates;

type Delivered = NonNullable<ResultOf<typeof readDelivered>['cardPayment']>['delivered'];
type PixDelivered = NonNullable<ResultOf<typeof readPixDelivered>['payment']>['delivered'];

// A root field that is null has an error, and a request with an error is refused.
type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<NonNullable<ResultOf<Read>['cardPayment']>, CardPayment>,
  Fits<CardPayment, NonNullable<ResultOf<Read>['cardPayment']>>,
  Fits<ResultOf<Updates>['cardPaymentUpdates'], CardPaymentUpdate>,
  Fits<NonNullable<ResultOf<Start>['startCheckout']>, StartCheckoutResult>,
  Fits<{ input: StartCheckoutInput }, VariablesOf<Start>>,
  Fits<{ orderCode: string; after: string | null }, VariablesOf<Updates>>,
  Fits<{ orderCode: string }, VariablesOf<Read>>,
  Fits<NonNullable<ResultOf<ReadPix>['payment']>, Payment>,
  Fits<Payment, NonNullable<ResultOf<ReadPix>['payment']>>,
  Fits<ResultOf<PixUpdates>['paymentUpdates'], PaymentUpdate>,
  Fits<NonNullable<ResultOf<StartPix>['startPixCheckout']>, StartPixCheckoutResult>,
  Fits<{ input: StartCheckoutInput }, VariablesOf<StartPix>>,
  Fits<{ paymentId: string; after: string | null }, VariablesOf<PixUpdates>>,
  Fits<{ paymentId: string }, VariablesOf<ReadPix>>,
  Fits<Delivered, DeliveredContent[] | null>,
  Fits<PixDelivered, DeliveredContent[] | null>,
  Fits<{ orderCode: string }, VariablesOf<typeof readDelivered>>,
  Fits<{ paymentId: string }, VariablesOf<typeof readPixDelivered>>,
];
