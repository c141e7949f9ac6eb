import { NotFoundError } from '../../kernel/errors.ts';
import {
  type Change,
  type Collection,
  joined,
  put,
  type Reader,
  type State,
  type Writes,
} from '../../state/commit/commit.ts';
import {
  closeOpenPayments,
  type Order,
  type OrderPayment,
  type OrderPayments,
  openPaymentsOf,
  readToClose,
} from '../../state/commit/orders.ts';
import type { ProductContent, ProductSale } from '../../state/commit/product-content.ts';
import type { Sql } from '../../state/db/database.ts';
import type { TenantKey } from '../../state/db/each-tenant.ts';
import { tokenOf } from '../checkout/model.ts';
import type { CardPaymentChange } from './decisions.ts';
import type { StoredCardPayment } from './model.ts';
import {
  decideDisputeBegin,
  decideDisputeEnd,
  decideRefundBegin,
  decideRefundCompleted,
  decideRefundFailed,
} from './refunding.ts';
import {
  type CheckoutUse,
  cardPaymentTable,
  saveCheckoutUses,
  selectByAttempts,
  selectByExternalIds,
  selectCheckoutUses,
  selectPaidOfOrder,
} from './store.ts';

/** Card payments, as a decision reads and writes them. */
export const cardPayments: Collection<StoredCardPayment> = cardPaymentTable;

export const checkoutUses: Collection<CheckoutUse> = {
  name: 'checkout_use',
  loadEach: selectCheckoutUses,
  keyOf: (use) => use.tokenId,
  saveEach: saveCheckoutUses,
};

/**
 * A checkout attempt or an order of the merchant, with its payments that were paid or have an open charge.
 */
interface PaymentGroup {
  name: string;
  orderCodes: string[];
}

/** Checkout attempts, derived from the payments; read only. */
const attempts = groupCollection('checkout_attempt', selectByAttempts);

/** Orders of merchants by their externalId, derived from the payments; read only. */
const orders = groupCollection('order', selectByExternalIds);

function groupCollection(
  name: string,
  /** Selects the payments of each group. */
  select: (sql: Sql, names: readonly TenantKey[]) => Promise<string[][]>,
): Collection<PaymentGroup> {
  return {
    name,
    async loadEach(sql, names) {
      const orderCodes = await select(sql, names);
      return names.map(({ tenant, key }, nth) => ({
        tenant,
        record: { name: key, orderCodes: orderCodes[nth]! },
      }));
    },
    keyOf: (row) => row.name,
    saveEach: () => Promise.reject(new Error(`${name} is read only`)),
  };
}

/** Loads and returns a payment, and loads the others of its checkout attempt and of its order. */
export async function readWithOtherPayments(
  reader: Reader,
  orderCode: string,
): Promise<StoredCardPayment | null> {
  const payment = await reader.load(cardPayments, orderCode);
  await Promise.all([
    payment?.checkoutAttempt != null && readGroup(reader, attempts, payment.checkoutAttempt),
    payment?.externalId != null && readOrder(reader, payment.externalId),
  ]);
  return payment;
}

/** Loads the payments of an order that were paid, or have an open charge. */
function readOrder(reader: Reader, externalId: string): Promise<void> {
  return readGroup(reader, orders, externalId);
}

async function readGroup(reader: Reader, groups: Collection<PaymentGroup>, name: string): Promise<void> {
  const group = await reader.load(groups, name);
  await Promise.all((group?.orderCodes ?? []).map((orderCode) => reader.load(cardPayments, orderCode)));
}

/** The other payments of the same checkout attempt and of the same order that were paid, or have an open charge. */
export function otherCardPaymentsOf(state: State, payment: StoredCardPayment): OrderPayment[] {
  const { orderCode, checkoutAttempt, externalId } = payment;
  const orderCodes = new Set([
    ...(checkoutAttempt === null ? [] : state.need(attempts, checkoutAttempt).orderCodes),
    ...(externalId === null ? [] : state.need(orders, externalId).orderCodes),
  ]);
  return [...orderCodes]
    .filter((each) => each !== orderCode)
    .map((each) => toOrderPayment(state.need(cardPayments, each)));
}

/** The order of a payment. */
export function orderOf(payment: StoredCardPayment): Order {
  const { checkoutAttempt, externalId } = payment;
  return { checkoutAttempt, externalId, tokenId: tokenOf(payment) };
}

/** The port by which the slices of other methods see the card payments of an order. */
export const cardOrderPayments: OrderPayments = {
  read: (reader, { checkoutAttempt, externalId, tokenId }) =>
    Promise.all([
      checkoutAttempt !== null && readGroup(reader, attempts, checkoutAttempt),
      externalId !== null && readOrder(reader, externalId),
      tokenId !== null &&
        reader.load(checkoutUses, tokenId).then((use) => use && reader.load(cardPayments, use.orderCode)),
    ]),
  paymentsOf(state, { checkoutAttempt, externalId, tokenId }) {
    const use = tokenId === null ? null : state.get(checkoutUses, tokenId);
    const orderCodes = [
      ...(checkoutAttempt === null ? [] : state.need(attempts, checkoutAttempt).orderCodes),
      ...(externalId === null ? [] : state.need(orders, externalId).orderCodes),
      ...(use ? [use.orderCode] : []),
    ];
    return orderCodes.map((orderCode) => toOrderPayment(state.need(cardPayments, orderCode)));
  },
  selectPaid: async (sql, tenant, order) => (await selectPaidOfOrder(sql, tenant, order)).map(toOrderPayment),
  ...openPaymentsOf<StoredCardPayment>({
    table: 'card_payment',
    id: 'order_code',
    records: cardPayments,
    marked: (payment) =>
      writesOf({
        previous: payment,
        payment: { ...payment, version: payment.version + 1 },
        ...{ transaction: null, due: [], announced: true },
      }),
  }),
};

function toOrderPayment({ orderCode: id, status, paidAt, canceledAt, checkoutAttempt }: StoredCardPayment) {
  return { id, status, paidAt, canceledAt, checkoutAttempt };
}

/** Translates a step of a payment into writes. */
export function writesOf({ previous, payment, transaction, due, announced }: CardPaymentChange): Writes & {
  records: Change[];
} {
  return {
    records: [put(cardPayments, payment)],
    transactions: transaction ? [transaction] : [],
    events: announced
      ? [
          {
            kind: `card_payment.${payment.status}`,
            resource: 'card_payment',
            resourceId: payment.orderCode,
            previousStatus: previous?.status ?? null,
            snapshot: payment,
          },
        ]
      : [],
    tasks: due.map(({ kind, at }) => ({ kind, key: payment.orderCode, at })),
  };
}

/** The sale of a payment for a product; null for any other payment. */
export function saleOf({ orderCode, productId, callbackUrl }: StoredCardPayment): ProductSale | null {
  return productId === null
    ? null
    : { payment: { type: 'card_payment', id: orderCode }, productId, callbackUrl };
}

/** Translates a step of a payment into writes, including the product content that its payer gets or loses. */
export function writesWithContent(change: CardPaymentChange, content: ProductContent, state: State): Writes {
  const writes = writesOf(change);
  const { previous, payment } = change;
  const sale = saleOf(payment);
  if (!sale || !previous || previous.status === payment.status) return writes;
  if (payment.status === 'paid') return joined(writes, content.deliver(state, sale, payment.paidAt!));
  return payment.status === 'refunded' ? joined(writes, content.revoke(state, sale)) : writes;
}

/** Loads what `writesWithContent` reads. */
export async function readContent(
  reader: Reader,
  payment: StoredCardPayment | null,
  content: ProductContent,
): Promise<void> {
  const sale = payment && saleOf(payment);
  if (sale) await content.read(reader, sale);
}

/** The decisions about card payments that refunds call. */
export function refundableCardPayments(content: ProductContent, methods: readonly OrderPayments[]) {
  return {
    async read(reader: Reader, orderCode: string) {
      const payment = await reader.load(cardPayments, orderCode);
      await readContent(reader, payment, content);
      if (payment) await readToClose(methods, reader, orderOf(payment));
    },

    begin(state: State, orderCode: string, request: Parameters<typeof decideRefundBegin>[1]) {
      const payment = state.get(cardPayments, orderCode);
      if (!payment) throw new NotFoundError('Card payment not found');
      const { change, amountCents } = decideRefundBegin(payment, request, state);
      return {
        amountCents,
        railChargeId: payment.paidChargeId!,
        details: refundDetailsOf(payment),
        writes: writesOf(change),
      };
    },

    end(
      state: State,
      orderCode: string,
      refund: { refundId: string; amountCents: number; isAutomatic: boolean; status: 'completed' | 'failed' },
    ) {
      const payment = state.need(cardPayments, orderCode);
      const details = refundDetailsOf(payment);
      // An earlier version refunded a payment that it should have returned. The merchant never gets that
      // money, so the refund must not fail.
      if (refund.status === 'failed' && payment.status === 'refunded')
        return { details, writes: {}, mustRepeat: true };
      const change =
        refund.status === 'completed'
          ? decideRefundCompleted(payment, refund, state.now)
          : decideRefundFailed(payment, refund, state.balances);
      const writes = writesWithContent(change, content, state);
      const others =
        change.payment.status === 'refunded' && payment.status === 'paid'
          ? closeOpenPayments(methods, state, orderOf(payment), writes)
          : {};
      return { details, writes: joined(writes, others), mustRepeat: false };
    },
  };
}

/**
 * The decisions about card payments that disputes call. A claim of the acquirer names its payment, and no PIX
 * code.
 */
export const disputableCardPayments = {
  idsOfTxid: () => [],
  read: (reader: Reader, orderCode: string) => reader.load(cardPayments, orderCode),
  has: (state: State, orderCode: string) => state.get(cardPayments, orderCode) !== null,

  begin(state: State, orderCode: string, claim: Parameters<typeof decideDisputeBegin>[1]) {
    const payment = state.get(cardPayments, orderCode);
    if (!payment) throw new NotFoundError('Card payment not found');
    const begun = decideDisputeBegin(payment, claim, state.now);
    return begun && { ...begun, writes: begun.change ? writesOf(begun.change) : {} };
  },

  end: (state: State, orderCode: string, { amountCents }: { amountCents: number }) =>
    writesOf(decideDisputeEnd(state.need(cardPayments, orderCode), amountCents)),
};

/** The details of a payment that the webhooks of its refunds need. */
export function refundDetailsOf({ metadata, callbackUrl }: StoredCardPayment) {
  return { metadata, callbackUrl };
}
