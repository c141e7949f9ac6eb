// Compiled and never shipped: checks the document of updates.ts against the printed schema, and its results against the hand-written
// types of the elements.
import type { initGraphQLTada, ResultOf, VariablesOf } from 'gql.tada';
import type { DisputeUpdate } from '../disputes/operations.ts';
import type { introspection } from '../graphql-env.d.ts';
import type { PayoutUpdate } from '../payouts/operations.ts';
import type { SaleUpdate } from '../sales/operations.ts';
import type { Wallet } from '../wallet/operations.ts';
import {
  boardUpdates,
  disputeUpdates,
  payoutUpdates,
  saleUpdates,
  statementUpdates,
  walletUpdates,
} from './updates.ts';

interface Setup {
  introspection: introspection;
  scalars: { Cents: number; DateTime: string; Url: string; Decimal: string };
}
declare const graphql: initGraphQLTada<Setup>;

const all = graphql(boardUpdates());
const payouts = graphql(payoutUpdates());
const disputes = graphql(disputeUpdates());
const sales = graphql(saleUpdates());
const wallet = graphql(walletUpdates());
const statement = graphql(statementUpdates());
type Update<Document> = ResultOf<Document> extends { accountUpdates: infer Update } ? Update : never;
type WalletUpdate = { wallet: Wallet; occurredAt: string };

type Fits<Given extends Expected, Expected> = [Given, Expected];

export type Checks = [
  Fits<Extract<Update<typeof all>, { payout: object }>, PayoutUpdate>,
  Fits<Extract<Update<typeof payouts>, { payout: object }>, PayoutUpdate>,
  Fits<Extract<Update<typeof all>, { dispute: object }>, DisputeUpdate>,
  Fits<Extract<Update<typeof disputes>, { dispute: object }>, DisputeUpdate>,
  Fits<Extract<Update<typeof all>, { sale: object } | { refund: object }>, SaleUpdate>,
  Fits<Extract<Update<typeof sales>, { sale: object } | { refund: object }>, SaleUpdate>,
  Fits<Extract<Update<typeof all>, { wallet: object }>, WalletUpdate>,
  Fits<Extract<Update<typeof wallet>, { wallet: object }>, WalletUpdate>,
  Fits<Extract<Update<typeof statement>, { occurredAt: string }>, { occurredAt: string }>,
  Fits<
    {
      after: string | null;
      kinds: ['CARD_PAYMENT', 'CHARGE', 'DISPUTE', 'PAYMENT', 'PAYOUT', 'REFUND', 'WALLET'];
    },
    VariablesOf<typeof all>
  >,
];
