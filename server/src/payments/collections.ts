import type { Collection } from '../commit/commit.ts';
import { type Beneficiaries, disputableOf, type PixFamily, refundableOf } from '../pix/collections.ts';
import { pixDecisions } from '../pix/decisions.ts';
import { pixRefunds } from '../pix/refunding.ts';
import { paymentRules } from './decisions.ts';
import { isPaymentId, type StoredPayment } from './model.ts';
import { type CheckoutUse, paymentTable, saveCheckoutUses, selectCheckoutUses } from './store.ts';

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

/** Payments, as codes pay them. */
export const pixPayments: PixFamily<StoredPayment> = {
  ...paymentRules,
  decisions: pixDecisions(paymentRules),
  records: payments,
  isId: isPaymentId,
  idsOfTxid: (txid) => [`psa_${txid}`],
  selectHosted: paymentTable.selectHosted,
  // The token is known by the attempt alone, which is all that its other payments need.
  orderOf: ({ checkoutAttempt, externalId }) => ({ checkoutAttempt, externalId, tokenId: null }),
  payerOf: ({ customer }) => customer,
  hostedOf: (payment) => ({ ...payment, id: payment.paymentId }),
  eventOf: (payment, previousStatus) => ({
    kind: `payment.${payment.status}`,
    resource: 'payment',
    resourceId: payment.paymentId,
    previousStatus,
    snapshot: payment,
  }),
};

/** Payments, as refunds take from them and end. */
export function refundablePayments(beneficiaries: Beneficiaries) {
  return refundableOf(pixPayments, {
    title: 'Payment',
    beneficiaries,
    detailsOf: ({ metadata, callbackUrl }) => ({ metadata, callbackUrl }),
    refunds: pixRefunds(paymentRules),
  });
}

/** Payments, as disputes take from them. */
export const disputablePayments = disputableOf(pixPayments, { title: 'Payment' });
