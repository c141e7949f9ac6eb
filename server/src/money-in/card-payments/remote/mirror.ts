import { type Family, type FamilyMirror, observationsOf } from '../../../upstream/family-mirror.ts';
import type { MirroredRow } from '../../../upstream/mirror-store.ts';
import { isEndBefore } from '../../receiving/upstream-payment.ts';
import { type CardPayment, canFollow, cardPaymentFromJson, isFinal } from '../model.ts';
import { mergeUpstreamCardPayment, type UpstreamCardPayment } from '../upstream-card-payment.ts';

/** The mirror of the service's card payments. */
export type MirroredCardPayments = FamilyMirror<UpstreamCardPayment>;

export const cardPaymentFamily: Family<CardPayment, UpstreamCardPayment> = {
  resource: 'card_payment',
  idOf: ({ orderCode }) => orderCode,
  merge: mergeUpstreamCardPayment,
  isFinal,
  isEnd: isEndBefore(canFollow),
  openClaimOf: (orderCode) => ({ orderCode, status: 'pending', amountCents: null }),
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
