import { type Family, observationsOf } from '../../../upstream/family-mirror.ts';
import { canFollow, isFinal, pixResourceFromJson } from '../../pix/model.ts';
import { isEndBefore } from '../../receiving/upstream-payment.ts';
import { type Charge, chargeBeganAt, kindOfCharge } from '../model.ts';
import { mergeUpstreamCharge, type UpstreamCharge } from '../upstream-charge.ts';

export const chargeFamily: Family<Charge, UpstreamCharge> = {
  resource: 'charge',
  idOf: ({ chargeId }) => chargeId,
  merge: mergeUpstreamCharge,
  isFinal,
  isEnd: isEndBefore(canFollow),
  openClaimOf: (chargeId) => ({ chargeId, status: 'pending', amountCents: null }),
  fromJson: pixResourceFromJson<Charge>,
  listedBy: (charge) => ({ parent: kindOfCharge(charge.chargeId), createdAt: chargeBeganAt(charge) }),
  eventOf: (charge, from) => ({
    kind: `charge.${charge.status}`,
    resource: 'charge',
    resourceId: charge.chargeId,
    previousStatus: from,
    snapshot: charge,
  }),
};

/** Turns a claim into an observation. `at` is the time of the claim; null: the time of its recording. */
export const { observationOf } = observationsOf(chargeFamily);
