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
import type { Part } from './parts.ts';

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

/** The lists of what moves money, each with the part that it is read from. */
export function listsOfDay({ payouts, cardPayments, pixPayments, charges }: ReturnType<typeof createLists>) {
  return [
    ['payouts', payouts],
    ['cardPayments', cardPayments],
    ['payments', pixPayments],
    ['charges', charges],
  ] as const;
}

/** Whether everything is loaded that a sum of the chart counts, by the sum. */
export interface WholeSums {
  sales: boolean;
  outgoing: boolean;
}

/**
 * Returns whether everything that was created since an instant is loaded. What is older and moves money today, such as a sale
 * that is refunded, is in the sums only where it was loaded or an update brought it.
 */
export function wholeSums(
  lists: readonly (readonly [Part, { reaches(sinceMs: number): boolean }])[],
  {
    sinceMs,
    missing,
    subaccountsReachedMs,
  }: {
    sinceMs: number;
    /** The parts that could not be read. */
    missing: ReadonlySet<Part>;
    /** The instant from which on the payouts of subaccounts are loaded. */
    subaccountsReachedMs: number;
  },
): WholeSums {
  const cut = lists.filter(([part, list]) => missing.has(part) || !list.reaches(sinceMs));
  return {
    sales: cut.every(([part]) => part === 'payouts'),
    // Refunds are read with their payments, so what lacks sales lacks refunds.
    outgoing: cut.length === 0 && subaccountsReachedMs < sinceMs && !missing.has('subaccounts'),
  };
}
