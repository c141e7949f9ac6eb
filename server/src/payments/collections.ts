import { type Change, type Collection, put, type State, type Writes } from '../commit/commit.ts';
import type { Order, OrderPayments } from '../commit/orders.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { type PaymentChange, type RecordedCredit, wasAnnounced } from './decisions.ts';
import type { StoredPayment } from './model.ts';
import { decideRefundBegin, decideRefundCompleted, decideRefundFailed } from './refunding.ts';
import {
  type CheckoutUse,
  type PaidOrder,
  saveCheckoutUses,
  saveCredits,
  savePaidOrders,
  savePayments,
  selectCheckoutUses,
  selectCredits,
  selectPaidOrders,
  selectPayments,
} from './store.ts';

/** Payments, as a decision reads and writes them. */
export const payments: Collection<StoredPayment> = {
  name: 'payment',
  load: selectPayments,
  keyOf: ({ paymentId }) => paymentId,
  save: savePayments,
};

/** The recorded credits of the bank, by their end-to-end id. */
export const credits: Collection<RecordedCredit> = {
  name: 'pix_credit',
  load: selectCredits,
  keyOf: ({ endToEndId }) => endToEndId,
  save: saveCredits,
};

/** The last PIX payments of single-use tokens. */
export const checkoutUses: Collection<CheckoutUse> = {
  name: 'pix_checkout_use',
  load: (sql, _tenant, tokenIds) => selectCheckoutUses(sql, tokenIds),
  keyOf: ({ tokenId }) => tokenId,
  save: (sql, _tenant, uses) => saveCheckoutUses(sql, uses),
};

/** The orders that a PIX payment has closed. */
const paidOrders: Collection<PaidOrder> = {
  name: 'pix_paid_order',
  load: selectPaidOrders,
  keyOf: ({ order }) => order,
  save: savePaidOrders,
};

/** The order of a payment. The token is known by the attempt alone, which is all that its other payments need. */
export function orderOf({ checkoutAttempt, externalId }: StoredPayment): Order {
  return { checkoutAttempt, externalId, tokenId: null };
}

/** The names by which an order is recorded: that of its attempt, and the merchant's number. */
function namesOf({ checkoutAttempt, externalId }: Pick<Order, 'checkoutAttempt' | 'externalId'>): string[] {
  return [
    ...(checkoutAttempt === null ? [] : [`attempt ${checkoutAttempt}`]),
    ...(externalId === null ? [] : [`external_id ${externalId}`]),
  ];
}

/** PIX payments, as the slices of other methods see those of an order. */
export const pixOrderPayments: OrderPayments = {
  read: (reader, order) => Promise.all(namesOf(order).map((name) => reader.load(paidOrders, name))),
  paymentsOf: (state, order) => namesOf(order).flatMap((name) => toOrderPayment(state.get(paidOrders, name))),
  selectPaid: async (sql, tenant, order) =>
    (await selectPaidOrders(sql, tenant, namesOf(order))).flatMap(toOrderPayment),
};

function toOrderPayment(paid: PaidOrder | null) {
  return paid ? [{ status: 'paid', paidAt: paid.paidAt, canceledAt: null }] : [];
}

/** Translates a step of a payment into writes. */
export function writesOf({
  previous,
  payment,
  credit,
  transaction,
  due,
  done,
  announced,
}: PaymentChange): Writes & { records: Change[] } {
  const { paymentId, paidAt } = payment;
  const hasBeenPaid = paidAt !== null && previous?.paidAt == null;
  return {
    records: [
      put(payments, payment),
      ...(credit ? [put(credits, credit)] : []),
      ...(hasBeenPaid ? namesOf(payment).map((order) => put(paidOrders, { order, paymentId, paidAt })) : []),
    ],
    transactions: transaction ? [transaction] : [],
    events: announced
      ? [
          {
            kind: `payment.${payment.status}`,
            resource: 'payment',
            resourceId: paymentId,
            previousStatus: previous && wasAnnounced(previous) ? previous.status : null,
            snapshot: payment,
          },
        ]
      : [],
    tasks: due.map(({ kind, key = paymentId, at }) => ({ kind, key, at })),
    done: done.map((kind) => ({ kind, key: paymentId })),
  };
}

/** Payments, as refunds take from them and end. */
export const refundablePayments = {
  read: (reader: Parameters<OrderPayments['read']>[0], paymentId: string) => reader.load(payments, paymentId),

  begin(state: State, paymentId: string, request: Parameters<typeof decideRefundBegin>[1]) {
    const payment = state.get(payments, paymentId);
    if (!payment) throw new NotFoundError('Payment not found');
    const { change, amountCents } = decideRefundBegin(payment, request, state);
    return {
      amountCents,
      chargeId: payment.endToEndId!,
      details: refundDetailsOf(payment),
      writes: writesOf(change),
    };
  },

  end(
    state: State,
    paymentId: string,
    refund: { refundId: string; amountCents: number; status: 'completed' | 'failed' },
  ) {
    const payment = state.need(payments, paymentId);
    const change =
      refund.status === 'completed'
        ? decideRefundCompleted(payment, refund, state.now)
        : decideRefundFailed(payment, refund, state.balances);
    return { details: refundDetailsOf(payment), writes: writesOf(change), mustRepeat: false };
  },
};

/** The details of a payment that the webhooks of its refunds need. */
function refundDetailsOf({ metadata, callbackUrl }: StoredPayment) {
  return { metadata, callbackUrl };
}
