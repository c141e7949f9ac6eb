// The lists of the dashboard, with the pages of older items.
import { LoadedList } from './loaded-list.ts';
import {
  type CardPayment,
  CHARGES,
  type Charge,
  DISPUTES,
  type Dispute,
  MORE_CARD_PAYMENTS,
  MORE_PAYOUTS,
  type Page,
  type Payout,
  PIX_PAYMENTS,
  type PixPayment,
  type StartData,
  SUBSCRIPTIONS,
  type Subscription,
} from './operations.ts';

/** Returns the instant from which on the payouts of all subaccounts are in a first page, in milliseconds. */
export function reachedMs({ nodes, pageInfo }: StartData['subaccounts']): number {
  if (pageInfo.hasNextPage) return Number.POSITIVE_INFINITY;
  const cut = nodes.filter(({ payouts }) => payouts.pageInfo.hasNextPage);
  return Math.max(...cut.map(({ payouts }) => Date.parse(payouts.nodes.at(-1)!.createdAt)));
}

type Request = <Data>(query: string, variables: Record<string, unknown>) => Promise<Data>;

/** Creates the empty lists. Each reads a page of one root field, which starts after the last item of the page before it. */
export function createLists(request: Request) {
  function create<Item extends { version: number }>(
    field: string,
    query: string,
    keyOf: (item: Item) => string,
    instantOf: (item: Item) => string | null,
  ): LoadedList<Item> {
    const read = async (after: string | null) =>
      (await request<Record<string, Page<Item>>>(query, { after }))[field]!;
    return new LoadedList<Item>({ keyOf, instantOf, read });
  }
  const createdAt = (item: { createdAt: string | null }) => item.createdAt;
  return {
    payouts: create<Payout>(
      'payouts',
      MORE_PAYOUTS,
      ({ id }) => id,
      ({ requestedAt }) => requestedAt,
    ),
    cardPayments: create<CardPayment>(
      'cardPayments',
      MORE_CARD_PAYMENTS,
      ({ orderCode }) => orderCode,
      createdAt,
    ),
    pixPayments: create<PixPayment>('payments', PIX_PAYMENTS, ({ paymentId }) => paymentId, createdAt),
    disputes: create<Dispute>('disputes', DISPUTES, ({ disputeId }) => disputeId, createdAt),
    charges: create<Charge>('charges', CHARGES, ({ chargeId }) => chargeId, createdAt),
    subscriptions: create<Subscription>(
      'subscriptions',
      SUBSCRIPTIONS,
      ({ subscriptionId }) => subscriptionId,
      createdAt,
    ),
  };
}
