import type { OrderStatus } from '../kernel/orders.ts';
import { lastStatusOf } from '../kernel/upstream-source.ts';
import {
  type Collection,
  joined,
  put,
  type Reader,
  type State,
  type Writes,
} from '../state/commit/commit.ts';
import { loadPerTenant } from '../state/db/each-tenant.ts';
import type { NewEvent } from '../state/events/event.ts';
import type { Operation } from './intents/operations.ts';
import { mirrored } from './mirror.ts';
import { type MirroredOrder, type MirroredRow, selectPaymentsOfOrders } from './mirror-store.ts';

const orders: Collection<MirroredOrder> = {
  name: 'mirrored order',
  loadEach: loadPerTenant(selectPaymentsOfOrders),
  keyOf: ({ externalId }) => externalId,
  // The order itself has no row: its payments are saved instead.
  saveEach: () => Promise.resolve(),
};

/** The members of a mirrored payment that show the status of its order. */
interface OrderedPayment {
  status: string;
  lastStatus?: string | null;
  version: number;
  canceledAt?: unknown;
  returned?: boolean;
  externalId?: string | null;
  orderStatus?: OrderStatus | null;
}

/** Loads what `orderStatusIn` and `showOrder` read. */
export async function readOrder(reader: Reader, externalId: string | null): Promise<void> {
  const order = externalId === null ? null : await reader.load(orders, externalId);
  await Promise.all((order?.payments ?? []).map(({ resource, id }) => reader.load(mirrored[resource], id)));
}

/** The status of a closed order; null if it is open, or without a number. */
export function orderStatusIn(state: State, externalId: string | null): OrderStatus | null {
  return externalId === null ? null : statusOf(paymentsIn(state, externalId).map(paymentOf));
}

/**
 * Checks the order of a request in the transaction that opens its intent: if `assertOpen` throws, the request
 * is refused.
 */
export function checkOrder(
  externalId: string | null,
  assertOpen: (status: OrderStatus | null) => void,
): NonNullable<Operation<unknown>['open']> {
  return {
    read: (reader) => readOrder(reader, externalId),
    decide(state) {
      assertOpen(orderStatusIn(state, externalId));
      return {};
    },
  };
}

/**
 * The number of the order of a mirrored payment; null for a payment without one, and for a resource that is
 * no payment.
 */
export function orderOf(row: Pick<MirroredRow, 'resource' | 'snapshot'> | null): string | null {
  const isOrdered = row?.resource === 'card_payment' || row?.resource === 'payment';
  return isOrdered ? ((row.snapshot as OrderedPayment).externalId ?? null) : null;
}

/**
 * Returns the resource as it is shown: a payment with the status of its order, as far as the mirror knows it,
 * since the service does not know the order. An unpaid payment of a closed order shows that the order is
 * closed. `writes` shows it on the other unpaid payments of the order too, each with an update, and shows the
 * open order again if a correction leaves no payment paid.
 */
export function showOrder<R extends { version: number; status: string }>(
  state: State,
  resource: R,
  row: Pick<MirroredRow, 'resource' | 'id'>,
): { shown: R; isMarked: boolean; writes: Writes | null } {
  const externalId = orderOf({ resource: row.resource, snapshot: resource });
  const order = externalId === null ? null : state.get(orders, externalId);
  if (!order) return { shown: resource, isMarked: false, writes: null };
  const before = paymentsIn(state, order.externalId);
  const isKnown = before.some((each) => isSame(each, row));
  const others = before.filter((each) => !isSame(each, row));
  const status = statusOf([...others.map(paymentOf), resource]);
  const isMarked = lacks(resource, status);
  const isOpenAgain = status === null && statusOf(before.map(paymentOf)) !== null;
  const marked = others.filter((each) =>
    isOpenAgain ? paymentOf(each).orderStatus != null : lacks(paymentOf(each), status),
  );
  return {
    shown: isMarked ? { ...resource, orderStatus: status } : resource,
    isMarked,
    writes: [
      isKnown ? {} : { records: [put(orders, { ...order, payments: [...order.payments, row as Ordered] })] },
      ...marked.map((each) => markedWrites(each, status)),
    ].reduce<Writes>(joined, {}),
  };
}

type Ordered = MirroredOrder['payments'][number];

function paymentsIn(state: State, externalId: string): MirroredRow[] {
  return state
    .need(orders, externalId)
    .payments.map(({ resource, id }) => state.need(mirrored[resource] as Collection<MirroredRow>, id));
}

const isSame = (one: Pick<MirroredRow, 'resource' | 'id'>, other: Pick<MirroredRow, 'resource' | 'id'>) =>
  one.resource === other.resource && one.id === other.id;

const paymentOf = ({ snapshot }: MirroredRow) => snapshot as OrderedPayment;

function statusOf(payments: readonly OrderedPayment[]): OrderStatus | null {
  const closing = payments.filter((payment) => {
    const status = lastStatusOf(payment);
    return status === 'paid' || (status === 'refunded' && !payment.canceledAt);
  });
  if (closing.length === 0) return null;
  return closing.every((payment) => lastStatusOf(payment) === 'refunded') ? 'refunded' : 'paid';
}

/** Whether a payment is unpaid, and shows an order status other than this one. */
function lacks(payment: OrderedPayment, status: OrderStatus | null): boolean {
  if (status === null || payment.orderStatus === status) return false;
  return (
    !['paid', 'refunded', 'failed'].includes(lastStatusOf(payment) ?? 'pending') || payment.returned === true
  );
}

function markedWrites(row: MirroredRow, orderStatus: OrderStatus | null): Writes {
  const { resource, id, status } = row;
  const version = row.version + 1;
  const snapshot = { ...paymentOf(row), version, orderStatus };
  // The log stores the snapshot as JSON, and the mirror's snapshot is JSON already.
  const event = { kind: `${resource}.${status}`, resource, resourceId: id, previousStatus: status, snapshot };
  return {
    records: [put(mirrored[resource], { ...row, version, snapshot })],
    events: [event as unknown as NewEvent],
  };
}
