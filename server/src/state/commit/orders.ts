import { sql as raw } from 'kysely';
import { type OrderStatus, orderStatusOf } from '../../kernel/orders.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import { isOfWanted, type TenantKey, tenantArrays } from '../db/each-tenant.ts';
import {
  type Change,
  type Collection,
  joined,
  put,
  type Reader,
  type State,
  stateAfter,
  type Writes,
} from './commit.ts';

/**
 * An order: a checkout attempt, an external id of the merchant, or both. The order keeps one of its payments,
 * whichever method pays.
 */
export interface Order {
  checkoutAttempt: string | null;
  /** The merchant's own number of the order. */
  externalId: string | null;
  /** The single-use token that starts the order's payments; null if there is none. */
  tokenId: string | null;
}

/** The order of a payment that was created with an API key. */
export function orderOfNumber(externalId: string | null | undefined): Order {
  return { checkoutAttempt: null, externalId: externalId ?? null, tokenId: null };
}

/** The names of an order: its checkout attempt and the merchant's number, each with its kind in front. */
export function namesOf({ checkoutAttempt, externalId }: Omit<Order, 'tokenId'>): string[] {
  return [
    ...(checkoutAttempt === null ? [] : [`attempt ${checkoutAttempt}`]),
    ...(externalId === null ? [] : [`external_id ${externalId}`]),
  ];
}

/** The members of a payment that decide whether another payment of its order can be paid. */
export interface OrderPayment {
  /** The `orderCode` or `paymentId` of the payment. */
  readonly id: string;
  readonly status: string;
  readonly paidAt: Date | null;
  readonly canceledAt: Date | null;
  /**
   * The checkout attempt that started the payment. Omitted for a method whose payments cannot be canceled.
   */
  readonly checkoutAttempt?: string | null;
}

/** The payments of orders by one method. The slice that owns the method provides them to the slices of the others. */
export interface OrderPayments extends OpenPayments {
  /** Loads what `paymentsOf` returns. */
  read(reader: Reader, order: Order): Promise<unknown>;
  /**
   * Lists the payments of the order that were paid or may be by now, and the last payment that its token
   * started.
   */
  paymentsOf(state: State, order: Order): readonly OrderPayment[];
  /** Selects those that were paid, outside of a change. */
  selectPaid(sql: Sql, tenant: Tenant, order: Order): Promise<readonly OrderPayment[]>;
}

/**
 * The payments of orders by one method that show the status of their order while they are not paid: open,
 * expired or returned ones.
 */
interface OpenPayments {
  /** Loads what `opened` and `mark` read. */
  readOpen(reader: Reader, order: Order): Promise<unknown>;
  /** Adds a new payment to the group, for the later commands of the same transaction. */
  opened(state: State, order: Order, id: string): Change[];
  /** Sets the order status of each of these payments, with an update. */
  mark(state: State, order: Order, status: OrderStatus): Writes;
}

/** Loads what `closeOpenPayments` reads. */
export function readToClose(
  methods: readonly OrderPayments[],
  reader: Reader,
  order: Order,
): Promise<unknown> {
  return Promise.all(
    methods.flatMap((method) => [method.read(reader, order), method.readOpen(reader, order)]),
  );
}

/**
 * The writes of the unpaid payments of an order, which then show that `writes` have closed it; none if the order stays open.
 */
export function closeOpenPayments(
  methods: readonly OrderPayments[],
  state: State,
  order: Order,
  writes: Writes,
): Writes {
  const after = stateAfter(state, writes);
  const status = orderStatusOf(methods.flatMap((method) => method.paymentsOf(after, order)));
  if (status === null) return {};
  return methods.map((method) => method.mark(after, order, status)).reduce(joined);
}

/**
 * The largest number of expired payments of an order that get its status, and of returned ones, the newest first: payers may
 * still have their pages open.
 */
const MAX_ENDED = 20;

/** The open, expired and returned payments of an order, by their ids. `name` is one of the order's names. */
interface OpenGroup {
  name: string;
  ids: readonly string[];
}

/** Creates the port on the unpaid payments in one table. `marked` returns the writes of a payment whose `orderStatus` has changed. */
export function openPaymentsOf<
  P extends { status: string; returned: boolean; orderStatus: OrderStatus | null },
>({
  table,
  id,
  records,
  marked,
}: {
  table: 'card_payment' | 'payment';
  /** The column of the id. */
  id: string;
  records: Collection<P>;
  marked(payment: P): Writes;
}): OpenPayments {
  const groups: Collection<OpenGroup> = {
    name: `open ${table}`,
    async loadEach(sql, names) {
      const ids = names.map((): string[] => []);
      for (const { nth, id: found } of await selectOpen(sql, { table, id }, names)) ids[nth]!.push(found);
      return names.map(({ tenant, key: name }, nth) => ({ tenant, record: { name, ids: ids[nth]! } }));
    },
    keyOf: ({ name }) => name,
    // The group itself has no row: the changed payments are saved instead.
    saveEach: () => Promise.resolve(),
  };
  return {
    readOpen: (reader, order) =>
      Promise.all(
        namesOf(order).map(async (name) => {
          const group = await reader.load(groups, name);
          await Promise.all((group?.ids ?? []).map((each) => reader.load(records, each)));
        }),
      ),
    opened: (state, order, added) =>
      namesOf(order).map((name) => put(groups, { name, ids: [...state.need(groups, name).ids, added] })),
    mark(state, order, orderStatus) {
      const ids = new Set(namesOf(order).flatMap((name) => state.need(groups, name).ids));
      return [...ids]
        .map((each) => state.need(records, each))
        .filter(({ status, returned }) => status === 'pending' || status === 'expired' || returned)
        .filter((payment) => payment.orderStatus !== orderStatus)
        .map((payment) => marked({ ...payment, orderStatus }))
        .reduce<Writes>(joined, {});
    },
  };
}

/** Selects the ids of each of several orders of tenants, by the order's place among the names. */
async function selectOpen(
  sql: Sql,
  { table, id }: { table: string; id: string },
  names: readonly TenantKey[],
): Promise<{ nth: number; id: string }[]> {
  const of = (kind: string, column: string) => {
    const wanted = names.flatMap(({ tenant, key }, nth) =>
      key.startsWith(`${kind} `) ? [{ tenant, name: key.slice(kind.length + 1), nth }] : [],
    );
    const select = (status: 'pending' | 'expired' | 'failed') => raw`
      select ${raw.ref(id)} as id from ${raw.table(table)}
      where ${isOfWanted(table)} and status = ${raw.lit(status)} and ${raw.ref(column)} = wanted.name`;
    return raw`
      select wanted.nth, found.id from unnest(
        ${tenantArrays(wanted)}, ${wanted.map(({ name }) => name)}::text[], ${wanted.map(({ nth }) => nth)}::integer[]
      ) wanted (account_id, environment, name, nth)
      cross join lateral (
        (${select('pending')})
        union all (${select('expired')} order by number desc limit ${raw.lit(MAX_ENDED)})
        union all (${select('failed')} and returned order by number desc limit ${raw.lit(MAX_ENDED)})
      ) as found`;
  };
  const { rows } = await raw<{ nth: number; id: string }>`
    ${of('attempt', 'checkout_attempt')} union all ${of('external_id', 'external_id')}`.execute(sql);
  return rows;
}
