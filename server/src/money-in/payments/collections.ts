import { PreconditionError } from '../../kernel/errors.ts';
import { type Collection, put, type Writes } from '../../state/commit/commit.ts';
import { type OrderPayments, openPaymentsOf } from '../../state/commit/orders.ts';
import type { ProductContent, ProductSale } from '../../state/commit/product-content.ts';
import type { LtcFamily } from '../ltc/collections.ts';
import {
  type Beneficiaries,
  closedOrders,
  disputableOf,
  orderPaymentsOf,
  type PixFamily,
  refundableOf,
} from '../pix/collections.ts';
import { wasAnnounced } from '../pix/decisions.ts';
import { pixRefunds } from '../pix/refunding.ts';
import { paymentDecisions, paymentRules } from './decisions.ts';
import { isDisputable, whyNotRefundable } from './methods.ts';
import { isPaymentId, type StoredPayment } from './model.ts';
import {
  type CheckoutUse,
  paymentTable,
  saveCheckoutUses,
  selectCheckoutUses,
  selectUnmatchedLtc,
} from './store.ts';

/** Payments, as a decision reads and writes them. */
export const payments: Collection<StoredPayment> = paymentTable;

/** The last PIX payments of single-use tokens. */
export const checkoutUses: Collection<CheckoutUse> = {
  name: 'pix_checkout_use',
  loadEach: selectCheckoutUses,
  keyOf: ({ tokenId }) => tokenId,
  saveEach: saveCheckoutUses,
};

/** The sale of a payment for a product; null for any other payment. */
function saleOf({ paymentId, productId, callbackUrl }: StoredPayment): ProductSale | null {
  return productId === null ? null : { payment: { type: 'payment', id: paymentId }, productId, callbackUrl };
}

/** The event of a payment's step, by either method. */
const eventOf: LtcFamily<StoredPayment>['eventOf'] = (payment, previousStatus) => ({
  kind: `payment.${payment.status}`,
  resource: 'payment',
  resourceId: payment.paymentId,
  previousStatus,
  snapshot: payment,
});

/** The rules of payments for PIX codes. */
export const pixPayments: PixFamily<StoredPayment> = {
  ...paymentRules,
  decisions: paymentDecisions,
  records: payments,
  isId: isPaymentId,
  idsOfTxid: (txid) => [`psa_${txid}`],
  selectHosted: paymentTable.loadHosted,
  // The checkout attempt stands for the token, which is all that the order's other payments need.
  orderOf: ({ checkoutAttempt, externalId }) => ({ checkoutAttempt, externalId, tokenId: null }),
  saleOf,
  payerOf: ({ customer }) => customer,
  hostedOf: (payment) => ({ ...payment, id: payment.paymentId }),
  returnDetailsOf: ({ paymentId: id, externalId, keptPayment, metadata, callbackUrl }) => ({
    ...{ resource: { type: 'payment', id }, externalId, keptPayment, metadata, callbackUrl },
  }),
  eventOf,
};

/** The port by which the slices of other methods see the payments of an order. */
export const pixOrderPayments: OrderPayments = {
  ...orderPaymentsOf(pixPayments),
  ...openPaymentsOf<StoredPayment>({
    table: 'payment',
    id: 'payment_id',
    records: payments,
    // A payment without a code or address was never announced: its first update will show the order.
    marked: (payment) =>
      wasAnnounced(payment)
        ? changed({ ...payment, version: payment.version + 1 }, payment.status)
        : { records: [put(payments, payment)] },
  }),
};

function changed(payment: StoredPayment, previousStatus: StoredPayment['status']): Writes {
  return { records: [put(payments, payment)], events: [eventOf(payment, previousStatus)] };
}

/**
 * The same port, with the last payment that a single-use token has started if that was canceled: then the
 * token starts nothing more, by any method.
 */
export const paymentOrderPayments: OrderPayments = {
  ...pixOrderPayments,
  read: (reader, order) =>
    Promise.all([
      pixOrderPayments.read(reader, order),
      order.tokenId !== null &&
        reader.load(checkoutUses, order.tokenId).then((use) => use && reader.load(payments, use.paymentId)),
    ]),
  paymentsOf(state, order) {
    const use = order.tokenId === null ? null : state.get(checkoutUses, order.tokenId);
    const last = use && state.need(payments, use.paymentId);
    return [
      ...pixOrderPayments.paymentsOf(state, order),
      ...(last?.canceledAt ? [{ ...last, id: last.paymentId }] : []),
    ];
  },
};

/** The rules of payments for LTC. */
export const ltcPayments: LtcFamily<StoredPayment> = {
  records: payments,
  selectHosted: paymentTable.loadHosted,
  selectUnmatched: selectUnmatchedLtc,
  orderOf: pixPayments.orderOf,
  saleOf,
  closedOrders: (payment, paidAt) => closedOrders(pixPayments.orderOf(payment), payment.paymentId, paidAt),
  eventOf,
};

/** The decisions about payments that refunds call. */
export function refundablePayments(
  beneficiaries: Beneficiaries,
  content: ProductContent,
  methods: readonly OrderPayments[],
) {
  const refunds = pixRefunds(paymentRules);
  return refundableOf(pixPayments, {
    title: 'Payment',
    beneficiaries,
    content,
    methods,
    detailsOf: ({ metadata, callbackUrl }) => ({ metadata, callbackUrl }),
    refunds: {
      ...refunds,
      decideRefundBegin(payment, request, state) {
        const why = whyNotRefundable(payment.method);
        if (why !== null) throw new PreconditionError('NOT_REFUNDABLE', why);
        return refunds.decideRefundBegin(payment, request, state);
      },
    },
  });
}

const disputes = disputableOf(pixPayments, { title: 'Payment' });

/** The decisions about payments that disputes call. */
export const disputablePayments: ReturnType<typeof disputableOf<StoredPayment>> = {
  ...disputes,
  begin(state, id, claim) {
    const payment = state.get(payments, id);
    return payment && !isDisputable(payment.method) ? null : disputes.begin(state, id, claim);
  },
};
