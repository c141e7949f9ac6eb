import {
  type Change,
  type Collection,
  put,
  type Reader,
  type State,
  type Writes,
} from '../../state/commit/commit.ts';
import type { PaymentReference, ProductContent } from '../../state/commit/product-content.ts';
import {
  type DeliveryChange,
  decideDeliver,
  decideRevoke,
  type PaidContent,
  type StoredCode,
  waits,
} from './decisions.ts';
import { MAX_CODES, type PaidType, type StoredDelivery } from './model.ts';
import {
  codeTable,
  deliveryTable,
  saveCodes,
  saveDeliveries,
  saveGiven,
  selectGiven,
  selectOfProducts,
  selectShown,
  selectStocks,
  selectWaiting,
} from './store.ts';

// Only a part of a stock or of a queue is loaded. A group of commands that needs more is decided again by
// halves, and one command alone never needs more: a payment takes one code, and a request adds `MAX_CODES`.

/** The number of codes that are loaded from a stock: more than the commands of a group take. */
const LOADED_CODES = 100;

/**
 * Deliveries, including deleted ones. They are saved before the codes, because saving a deletion removes
 * codes.
 */
export const deliveries: Collection<StoredDelivery> = {
  ...deliveryTable,
  saveEach: saveDeliveries,
};

/** The ids of a product's deliveries, oldest first: derived, and not saved. */
const ofProducts: Collection<{ productId: string; deliveryIds: readonly string[] }> = {
  name: 'deliveries of a product',
  async loadEach(sql, products) {
    const deliveryIds = await selectOfProducts(sql, products);
    return products.map(({ tenant, key }, nth) => ({
      tenant,
      record: { productId: key, deliveryIds: deliveryIds[nth]! },
    }));
  },
  keyOf: ({ productId }) => productId,
  saveEach: async () => undefined,
};

/** The codes of products, by product and hash. */
const codes: Collection<StoredCode> = {
  ...codeTable,
  saveEach: saveCodes,
};

/** The next codes of stocks: derived, and not saved. */
const stocks: Collection<{ deliveryId: string; next: readonly StoredCode[]; isWhole: boolean }> = {
  name: 'stock',
  async loadEach(sql, deliveryIds) {
    const stocked = await selectStocks(sql, deliveryIds, LOADED_CODES);
    return deliveryIds.map(({ tenant, key: deliveryId }, nth) => {
      const next = stocked[nth]!;
      return { tenant, record: { deliveryId, next, isWhole: next.length < LOADED_CODES } };
    });
  },
  keyOf: ({ deliveryId }) => deliveryId,
  saveEach: async () => undefined,
};

/** The content of each payment. */
const given: Collection<PaidContent> = {
  name: 'delivered_content',
  loadEach: (sql, keys) =>
    selectGiven(
      sql,
      keys.map(({ tenant, key }) => {
        const [type, id] = key.split(' ') as [PaidType, string];
        return { tenant, type, id };
      }),
    ),
  keyOf: ({ payment }) => paymentKey(payment),
  saveEach: saveGiven,
};

interface Queue {
  productId: string;
  payments: readonly string[];
  isWhole: boolean;
}

/** The payments of a product that wait for a code, oldest first: derived, and not saved. */
const queues: Collection<Queue> = {
  name: 'waiting payments',
  async loadEach(sql, products) {
    const waiting = await selectWaiting(sql, products, MAX_CODES);
    return products.map(({ tenant, key: productId }, nth) => {
      const payments = waiting[nth]!.map(paymentKey);
      return { tenant, record: { productId, payments, isWhole: payments.length < MAX_CODES } };
    });
  },
  keyOf: ({ productId }) => productId,
  saveEach: async () => undefined,
};

/** The payments that have begun to wait in the same group of commands. */
const newlyWaiting: Collection<Omit<Queue, 'isWhole'>> = {
  name: 'newly waiting payments',
  loadEach: async () => [],
  keyOf: ({ productId }) => productId,
  saveEach: async () => undefined,
};

function paymentKey({ type, id }: PaymentReference): string {
  return `${type} ${id}`;
}

/** Loads the deliveries of a product, and the stock of its codes. */
async function readProduct(reader: Reader, productId: string): Promise<void> {
  const found = await reader.load(ofProducts, productId);
  await Promise.all(
    (found?.deliveryIds ?? []).map(async (deliveryId) => {
      const delivery = await reader.load(deliveries, deliveryId);
      if (delivery?.kind === 'codes') await reader.load(stocks, deliveryId);
    }),
  );
}

/**
 * Loads the records for adding content to a product. `hashes`: the hashes of the added codes; null for other
 * content.
 */
export async function readForCreation(
  reader: Reader,
  productId: string,
  hashes: readonly string[] | null,
): Promise<void> {
  await Promise.all([
    readProduct(reader, productId),
    ...(hashes ?? []).map((hash) => reader.load(codes, codeTable.keyOf({ productId, hash }))),
    hashes && reader.load(newlyWaiting, productId),
    hashes &&
      reader
        .load(queues, productId)
        .then((queue) => Promise.all(queue!.payments.map((key) => reader.load(given, key)))),
  ]);
}

/** The deliveries of a product, oldest first. */
export function deliveriesOf(state: State, productId: string): StoredDelivery[] {
  return state.need(ofProducts, productId).deliveryIds.map((id) => state.need(deliveries, id));
}

/** Whether a product has or had a code. */
export function isKnown(state: State, productId: string, hash: string): boolean {
  return state.get(codes, codeTable.keyOf({ productId, hash })) !== null;
}

/** The payments of a product that wait for a code, at most `count` of them. */
export function waitingFor(state: State, productId: string, count: number): PaidContent[] {
  const queue = state.need(queues, productId);
  const keys = new Set([...queue.payments, ...(state.get(newlyWaiting, productId)?.payments ?? [])]);
  const waiting = [...keys].map((key) => state.need(given, key)).filter(waits);
  if (waiting.length < count && !queue.isWhole) throw new Error('More payments wait than were read');
  return waiting;
}

/** Translates a decision into writes. */
export function writesOf(
  state: State,
  productId: string,
  change: DeliveryChange,
): Writes & { records: Change[] } {
  const { announced } = change;
  return {
    records: [
      ...change.deliveries.map((delivery) => put(deliveries, delivery)),
      ...change.codes.map((code) => put(codes, code)),
      ...change.given.map((content) => put(given, content)),
      ...derivedOf(state, productId, change),
    ],
    events: announced.map(({ kind, snapshot }) => ({
      kind,
      resource: 'delivery',
      resourceId: snapshot.deliveryId,
      previousStatus: null,
      snapshot,
    })),
  };
}

/** The derived records after a change, for the next commands of the group. */
function derivedOf(state: State, productId: string, change: DeliveryChange): Change[] {
  const { deliveryIds } = state.need(ofProducts, productId);
  const added = change.deliveries.filter(({ deliveryId }) => !deliveryIds.includes(deliveryId));
  const waiting = change.given.filter(waits).map(({ payment }) => paymentKey(payment));
  const isOfStock = new Set(change.codes.map(({ deliveryId }) => deliveryId));
  return [
    ...(added.length > 0
      ? [
          put(ofProducts, {
            productId,
            deliveryIds: [...deliveryIds, ...added.map(({ deliveryId }) => deliveryId)],
          }),
        ]
      : []),
    ...[...isOfStock].map((deliveryId) => {
      const { next, isWhole } = added.some((delivery) => delivery.deliveryId === deliveryId)
        ? { next: [], isWhole: true }
        : state.need(stocks, deliveryId);
      const taken = new Set(change.codes.flatMap(({ hash, isDelivered }) => (isDelivered ? [hash] : [])));
      const appended = isWhole ? change.codes.filter(({ isDelivered }) => !isDelivered) : [];
      return put(stocks, {
        deliveryId,
        next: [...next.filter(({ hash }) => !taken.has(hash)), ...appended],
        isWhole,
      });
    }),
    ...(waiting.length > 0
      ? [
          put(newlyWaiting, {
            productId,
            payments: [...(state.get(newlyWaiting, productId)?.payments ?? []), ...waiting],
          }),
        ]
      : []),
  ];
}

/** Loads a delivery and the records that its end changes. */
export async function readForDeletion(reader: Reader, deliveryId: string): Promise<void> {
  const delivery = await reader.load(deliveries, deliveryId);
  if (delivery) await reader.load(ofProducts, delivery.productId);
}

/** The writes of the end of a delivery. */
export function writesOfDeletion(state: State, delivery: StoredDelivery): Writes {
  const { deliveryId, productId } = delivery;
  const { deliveryIds } = state.need(ofProducts, productId);
  return {
    records: [
      put(deliveries, { ...delivery, deletedAt: state.now }),
      put(ofProducts, { productId, deliveryIds: deliveryIds.filter((id) => id !== deliveryId) }),
    ],
  };
}

/** The port by which the slices of payments deliver the content of products. */
export const productContent: ProductContent = {
  read: (reader, { payment, productId }) =>
    Promise.all([
      readProduct(reader, productId),
      reader.load(given, paymentKey(payment)),
      reader.load(newlyWaiting, productId),
    ]),

  deliver(state, sale, paidAt) {
    const offers = deliveriesOf(state, sale.productId).map((delivery) => {
      if (delivery.kind !== 'codes') return { delivery, next: null };
      const { next, isWhole } = state.need(stocks, delivery.deliveryId);
      if (next.length === 0 && !isWhole) throw new Error('More codes were taken than were read');
      return { delivery, next: next[0] ?? null };
    });
    const change = decideDeliver(
      offers,
      { ...sale, paidAt },
      {
        before: state.get(given, paymentKey(sale.payment)),
        now: state.now,
      },
    );
    return change ? writesOf(state, sale.productId, change) : {};
  },

  revoke(state, { payment, productId }) {
    const change = decideRevoke(state.get(given, paymentKey(payment)));
    return change ? writesOf(state, productId, change) : {};
  },

  async select(sql, tenant, { type, id }) {
    const shown = await selectShown(sql, tenant, { type, ids: [id] });
    return shown.map(({ id: _, ...content }) => content);
  },
};
