import type { Collection } from '../../commit/commit.ts';
import { confirmsStatus } from '../../receiving/upstream-payment.ts';
import { type MirroredRow, selectPaidByExternalIds } from '../../upstream/mirror-store.ts';
import { type MirroredPayments, observationsOf, type PaymentFamily } from '../../upstream/payment-mirror.ts';
import { type CardPayment, cardPaymentFromJson, isFinal } from '../model.ts';
import { mergeUpstreamCardPayment, type UpstreamCardPayment } from '../upstream-card-payment.ts';

/** Orders of merchants that were paid, as far as the mirror knows; read only. */
export const paidOrders: Collection<{ externalId: string }> = {
  name: 'paid order',
  load: selectPaidByExternalIds,
  keyOf: ({ externalId }) => externalId,
  save: () => Promise.reject(new Error('a paid order is read only')),
};

/** The mirror of the service's card payments. */
export type MirroredCardPayments = MirroredPayments<UpstreamCardPayment>;

export const cardPaymentFamily: PaymentFamily<CardPayment, UpstreamCardPayment> = {
  resource: 'card_payment',
  idOf: ({ orderCode }) => orderCode,
  merge: mergeUpstreamCardPayment,
  confirmsStatus,
  isFinal,
  fromJson: cardPaymentFromJson,
  listedBy: () => ({ parent: null }),
  eventOf: (payment, from) => ({
    kind: `card_payment.${payment.status}`,
    resource: 'card_payment',
    resourceId: payment.orderCode,
    previousStatus: from,
    snapshot: payment,
  }),
};

/** Turns a claim into an observation. `at` is the time of the claim; null: the time of its recording. */
export const { observationOf } = observationsOf(cardPaymentFamily);

export function paymentOf({ snapshot }: MirroredRow): CardPayment {
  return cardPaymentFromJson(snapshot);
}
