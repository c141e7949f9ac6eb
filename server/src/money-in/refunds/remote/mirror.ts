import { type Family, observationsOf } from '../../../upstream/family-mirror.ts';
import { isFinal, type RefundSnapshot, refundFromJson } from '../model.ts';
import { mergeUpstreamRefund, type UpstreamRefund } from '../upstream-refund.ts';

export const refundFamily: Family<RefundSnapshot, UpstreamRefund> = {
  resource: 'refund',
  idOf: ({ refundId }) => refundId,
  merge: mergeUpstreamRefund,
  isFinal,
  fromJson: refundFromJson,
  listedBy: ({ resource, createdAt }) => ({ parent: resource.type, createdAt }),
  eventOf: (refund, from) => ({
    kind: `refund.${refund.status}`,
    resource: 'refund',
    resourceId: refund.refundId,
    previousStatus: from,
    snapshot: refund,
  }),
};

/** Turns a claim into an observation. `at` is the time of the claim; null: the time of its recording. */
export const { observationOf } = observationsOf(refundFamily);
