import { type Family, observationsOf } from '../../../upstream/family-mirror.ts';
import type { MirroredRow } from '../../../upstream/mirror-store.ts';
import { type Dispute, disputeFromJson, isFinal } from '../model.ts';
import { mergeUpstreamDispute, type UpstreamDispute } from '../upstream-dispute.ts';

export const disputeFamily: Family<Dispute, UpstreamDispute> = {
  resource: 'dispute',
  idOf: ({ disputeId }) => disputeId,
  merge: mergeUpstreamDispute,
  isFinal,
  fromJson: disputeFromJson,
  listedBy: ({ createdAt }) => ({ parent: null, createdAt }),
  eventOf: (dispute, from) => ({
    kind: `dispute.${dispute.status}`,
    resource: 'dispute',
    resourceId: dispute.disputeId,
    previousStatus: from,
    snapshot: dispute,
  }),
};

/** Turns a claim into an observation. `at` is the time of the claim; null: the time of its recording. */
export const { observationOf } = observationsOf(disputeFamily);

export function disputeOf({ snapshot }: MirroredRow): Dispute {
  return disputeFromJson(snapshot);
}
