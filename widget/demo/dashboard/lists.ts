// The lists of the dashboard, with the pages of older items.
import { FilteredList } from './filtered-list.ts';
import { LoadedList } from './loaded-list.ts';
import {
  type CardPayment,
  CHARGES,
  type Charge,
  DISPUTES,
  type Dispute,
  MORE_CARD_PAYMENTS,
  MORE_SUBACCOUNT_PAYOUTS,
  MORE_SUBACCOUNTS,
  type Page,
  PIX_PAYMENTS,
  type PixPayment,
  SUBSCRIPTIONS,
  type Subaccount,
  type SubaccountPayout,
  type Subscription,
} from './operations.ts';
import { SubaccountPayoutList } from './subaccount-payouts.ts';

type Request = <Data>(query: string, variables: Record<string, unknown>) => Promise<Data>;

/**
 * Creates the empty lists. Each reads a page of one root field, which starts after the last item of the page before it, with the
 * chosen filter as an argument.
 */
export function createLists(request: Request) {
  const subaccountNames = new Map<string, string>();
  function noteNames(subaccounts: readonly Pick<Subaccount, 'subaccountId' | 'name'>[]): void {
    for (const { subaccountId, name } of subaccounts) subaccountNames.set(subaccountId, name ?? subaccountId);
  }
  function read<Item>(field: string, query: string, filter: Record<string, string[]> | null) {
    return async (after: string | null) =>
      (await request<Record<string, Page<Item>>>(query, { after, ...filter }))[field]!;
  }
  function create<Item extends { version: number; status: string; createdAt: string | null }>(
    field: string,
    query: string,
    keyOf: (item: Item) => string,
  ) {
    return new FilteredList<Item, LoadedList<Item>>({
      filterOf: ({ status }) => status,
      create: (filter) =>
        new LoadedList({
          keyOf,
          instantOf: ({ createdAt }) => createdAt,
          read: read(field, query, filter === null ? null : { status: [filter] }),
        }),
    });
  }
  return {
    subaccountNames,
    noteNames,
    cardPayments: create<CardPayment>('cardPayments', MORE_CARD_PAYMENTS, ({ orderCode }) => orderCode),
    pixPayments: create<PixPayment>('payments', PIX_PAYMENTS, ({ paymentId }) => paymentId),
    disputes: create<Dispute>('disputes', DISPUTES, ({ disputeId }) => disputeId),
    charges: create<Charge>('charges', CHARGES, ({ chargeId }) => chargeId),
    subscriptions: create<Subscription>(
      'subscriptions',
      SUBSCRIPTIONS,
      ({ subscriptionId }) => subscriptionId,
    ),
    subaccountPayouts: new FilteredList<SubaccountPayout, SubaccountPayoutList>({
      filterOf: ({ status }) => status,
      create(filter) {
        const status = filter === null ? null : { status: [filter] };
        return new SubaccountPayoutList({
          async readSubaccounts(after) {
            const page = await read<Subaccount>('subaccounts', MORE_SUBACCOUNTS, status)(after);
            noteNames(page.nodes);
            return page;
          },
          async readPayouts(subaccountId, after) {
            const variables = { subaccountId, after, ...status };
            const { subaccount } = await request<MorePayouts>(MORE_SUBACCOUNT_PAYOUTS, variables);
            return subaccount?.payouts ?? { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
          },
        });
      },
    }),
  };
}

type Lists = ReturnType<typeof createLists>;

function filteredOf(lists: Lists) {
  const { cardPayments, pixPayments, disputes, charges, subscriptions, subaccountPayouts } = lists;
  return [cardPayments, pixPayments, disputes, charges, subscriptions, subaccountPayouts];
}

/** Empties the lists: what was loaded was not followed since. */
export function clearLists(lists: Lists): void {
  lists.subaccountNames.clear();
  for (const each of filteredOf(lists)) each.each((list: { clear(): void }) => list.clear());
}

/** Reads the start of what the chosen filters select again. Never rejects. */
export async function rereadFiltered(lists: Lists): Promise<void> {
  await Promise.all(filteredOf(lists).map((each) => each.reread()));
}

interface MorePayouts {
  subaccount: Pick<Subaccount, 'payouts'> | null;
}
