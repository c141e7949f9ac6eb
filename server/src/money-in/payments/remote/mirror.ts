import { type Family, observationsOf } from '../../../upstream/family-mirror.ts';
import { canFollow, isFinal } from '../../pix/model.ts';
import { isEndBefore } from '../../receiving/upstream-payment.ts';
import { type Payment, paymentBeganAt, paymentFromJson } from '../model.ts';
import { mergeUpstreamPayment, type UpstreamPayment } from '../upstream-payment.ts';

export const paymentFamily: Family<Payment, UpstreamPayment> = {
  resource: 'payment',
  idOf: ({ paymentId }) => paymentId,
  merge: mergeUpstreamPayment,
  isFinal,
  isEnd: isEndBefore(canFollow),
  openClaimOf: (paymentId) => ({ paymentId, status: 'pending', amountCents: null }),
  fromJson: paymentFromJson,
  listedBy: (payment) => ({ parent: payment.method, createdAt: paymentBeganAt(payment) }),
  eventOf: (payment, from) => ({
    kind: `payment.${payment.status}`,
    resource: 'payment',
    resourceId: payment.paymentId,
    previousStatus: from,
    snapshot: payment,
  }),
};

/** Turns a claim into an observation. `at` is the time of the claim; null: the time of its recording. */
export const { observationOf } = observationsOf(paymentFamily);
