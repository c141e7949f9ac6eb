import { UnavailableError } from '../../kernel/errors.ts';
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
export const payments: Collection<StoredPayment> = {
  name: 'payment',
  load: paymentTable.select,
  keyOf: ({ paymentId }) => paymentId,
  save: paymentTable.save,
};

/** The last PIX payments of single-use tokens. */
export const checkoutUses: Collection<CheckoutUse> = {
  name: 'pix_checkout_use',
  load: (sql, _tenant, tokenIds) => selectCheckoutUses(sql, tokenIds),
  keyOf: ({ tokenId }) => tokenId,
  save: (sql, _tenant, uses) => saveCheckoutUses(sql, uses),
};

/** The sale that a payment is, where it pays for a product; null otherwise. */
function saleOf({ paymentId, productId, callbackUrl }: StoredPayment): ProductSale | null {
  return productId === null ? null : { payment: { type: 'payment', id: paymentId }, productId, callbackUrl };
}

/** The event of a payment's step, of either method. */
const eventOf: LtcFamily<StoredPayment>['eventOf'] = (payment, previousStatus) => ({
  kind: `payment.${payment.status}`,
  resource: 'payment',
  resourceId: payment.paymentId,
  previousStatus,
  snapshot: payment,
});

/** Payments, as codes pay them. */
export const pixPayments: PixFamily<StoredPayment> = {
  ...paymentRules,
  decisions: paymentDecisions,
  records: payments,
  isId: isPaymentId,
  idsOfTxid: (txid) => [`psa_${txid}`],
  selectHosted: paymentTable.selectHosted,
  // The token is known by the checkout attempt alone, which is all that its other payments need.
  orderOf: ({ checkoutAttempt, externalId }) => ({ checkoutAttempt, externalId, tokenId: null }),
  saleOf,
  payerOf: ({ customer }) => customer,
  hostedOf: (payment) => ({ ...payment, id: payment.paymentId }),
  returnDetailsOf: ({ paymentId: id, externalId, keptPayment, metadata, callbackUrl }) => ({
    ...{ resource: { type: 'payment', id }, externalId, keptPayment, metadata, callbackUrl },
  }),
  eventOf,
};

/** Payments, as the slices of other methods see those of an order. */
export const pixOrderPayments: OrderPayments = {
  ...orderPaymentsOf(pixPayments),
  ...openPaymentsOf<StoredPayment>({
    table: 'payment',
    id: 'payment_id',
    records: payments,
    // One that has no code or address yet was never announced: its first update shows the order.
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
 * The same, with the last payment that a single-use token has started where it was canceled: its token starts nothing more, by
 * whichever method.
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

/** Payments, as the outputs of a chain pay them. */
export const ltcPayments: LtcFamily<StoredPayment> = {
  records: payments,
  selectHosted: paymentTable.selectHosted,
  selectUnmatched: selectUnmatchedLtc,
  orderOf: pixPayments.orderOf,
  saleOf,
  closedOrders: (payment, paidAt) => closedOrders(pixPayments.orderOf(payment), payment.paymentId, paidAt),
  eventOf,
};

/** Payments, as refunds take from them and end. */
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
        if (why !== null) throw new UnavailableError('NOT_REFUNDABLE', why);
        return refunds.decideRefundBegin(payment, request, state);
      },
    },
  });
}

const disputes = disputableOf(pixPayments, { title: 'Payment' });

/** Payments, as disputes take from them. */
export const disputablePayments: ReturnType<typeof disputableOf<StoredPayment>> = {
  ...disputes,
  begin(state, id, claim) {
    const payment = state.get(payments, id);
    return payment && !isDisputable(payment.method) ? null : disputes.begin(state, id, claim);
  },
};
