import type { Collection, Reader, State } from '../commit/commit.ts';
import type { Operation } from './intents/operations.ts';
import { selectPaidByExternalIds } from './mirror-store.ts';

/** An order of a merchant's that was paid, as far as the mirror knows; `refunded`: in full since. */
export interface ClosedOrder {
  externalId: string;
  status: 'paid' | 'refunded';
}

const closedOrders: Collection<ClosedOrder> = {
  name: 'closed order',
  load: selectPaidByExternalIds,
  keyOf: ({ externalId }) => externalId,
  save: () => Promise.reject(new Error('a closed order is read only')),
};

/** Loads what `orderStatusIn` reads. */
export async function readOrder(reader: Reader, externalId: string | null): Promise<void> {
  if (externalId !== null) await reader.load(closedOrders, externalId);
}

/** The status of an order that is closed; null where it is not, and without a number. */
export function orderStatusIn(state: State, externalId: string | null): ClosedOrder['status'] | null {
  return externalId === null ? null : (state.get(closedOrders, externalId)?.status ?? null);
}

/** Checks the order of a request in the transaction that opens its intent: a throw of `assertOpen` refuses the request. */
export function checkOrder(
  externalId: string | null,
  assertOpen: (status: ClosedOrder['status'] | null) => void,
): NonNullable<Operation<unknown>['open']> {
  return {
    read: (reader) => readOrder(reader, externalId),
    decide(state) {
      assertOpen(orderStatusIn(state, externalId));
      return {};
    },
  };
}
