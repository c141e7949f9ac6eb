import type { Tenant } from '../../kernel/tenant.ts';
import { type Change, type Collection, put, type State, type Writes } from '../../state/commit/commit.ts';
import type { Order } from '../../state/commit/orders.ts';
import type { ProductSale } from '../../state/commit/product-content.ts';
import type { Sql } from '../../state/db/database.ts';
import { type LtcChange, nameOf, type RecordedOutput } from './decisions.ts';
import type { StoredLtcResource, UnmatchedLtc } from './model.ts';
import { type OutputsOf, saveOutputs, selectOutputs } from './store.ts';

/** The recorded outputs, by their payment. */
export const outputs: Collection<OutputsOf> = {
  name: 'ltc_output',
  loadEach: selectOutputs,
  keyOf: ({ paymentId }) => paymentId,
  saveEach: saveOutputs,
};

/** The payments that LTC pays. Their slice provides their records and their events. */
export interface LtcFamily<R extends StoredLtcResource> {
  readonly records: Collection<R>;
  /** Finds a payment of any account, for the payer's page, which knows the id alone. */
  selectHosted(sql: Sql, id: string): Promise<{ tenant: Tenant; resource: R } | null>;
  /**
   * Finds the payments of any account that have ended without the confirmed LTC they received, longest waiting first,
   * after the payment `after`. Null if `after` has received no LTC.
   */
  selectUnmatched(
    sql: Sql,
    page: { after?: string | undefined; limit: number },
  ): Promise<UnmatchedLtc[] | null>;
  orderOf(resource: R): Order;
  /** The sale of a payment for a product; null for any other payment. */
  saleOf(resource: R): ProductSale | null;
  /** The records by which other methods see that a payment has closed its order. */
  closedOrders(resource: R, paidAt: Date): Change[];
  eventOf(resource: R, previousStatus: R['status'] | null): NonNullable<Writes['events']>[number];
}

export function recordedOutputs(state: State, paymentId: string): readonly RecordedOutput[] {
  return state.get(outputs, paymentId)?.outputs ?? [];
}

/** Translates a step of a payment into writes. `recorded`: its outputs before the step. */
export function writesOfLtc<R extends StoredLtcResource>(
  family: LtcFamily<R>,
  { previous, resource, outputs: changed, transactions, due, done, announced }: LtcChange<R>,
  recorded: readonly RecordedOutput[],
): Writes & { records: Change[] } {
  const { paymentId, paidAt } = resource;
  const hasBeenPaid = paidAt !== null && previous?.paidAt == null;
  return {
    records: [
      put(family.records, resource),
      ...(changed.length > 0 ? [put(outputs, { paymentId, outputs: merged(recorded, changed) })] : []),
      ...(hasBeenPaid ? family.closedOrders(resource, paidAt) : []),
    ],
    transactions,
    events: announced
      ? // The first version has no address yet: it has no event.
        [family.eventOf(resource, previous && previous.version > 1 ? previous.status : null)]
      : [],
    tasks: due.map(({ kind, key = paymentId, at }) => ({ kind, key, at })),
    done: done.map((kind) => ({ kind, key: paymentId })),
  };
}

/** All outputs of the payment: a later command of the same transaction reads the changes of this one. */
function merged(recorded: readonly RecordedOutput[], changed: readonly RecordedOutput[]): RecordedOutput[] {
  const all = new Map([...recorded, ...changed].map((output) => [nameOf(output), output]));
  return [...all.values()];
}
