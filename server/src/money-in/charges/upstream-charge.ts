import type { Merged, UpstreamSource } from '../../kernel/upstream-source.ts';
import { mergeUpstreamPix, type UpstreamPixResource } from '../pix/upstream-resource.ts';
import type { Charge, ChargeSplit } from './model.ts';

/** A charge as the service shows it in a response or a webhook. Null: not shown. */
export interface UpstreamCharge extends UpstreamPixResource {
  chargeId: string;
  splits?: readonly ChargeSplit[] | null;
}

/** Merges the service's answer into the known charge, by `mergeUpstreamPix`. */
export function mergeUpstreamCharge(
  known: Charge | null,
  claim: UpstreamCharge,
  now: Date,
  source?: UpstreamSource,
): Merged<Charge> | null {
  return mergeUpstreamPix<Charge, 'externalId'>(known, claim, now, {
    source,
    ownOf: ({ externalId }) => ({
      chargeId: claim.chargeId,
      externalId: externalId ?? null,
      splits: splitsAfter(known, claim),
    }),
    announcedOf: ({ splits }) => ({ splits }),
  });
}

/** The splits, which change only by refunds. */
function splitsAfter(known: Charge | null, { splits: claimed }: UpstreamCharge): readonly ChargeSplit[] {
  if (!known || known.splits.length === 0) return claimed ?? known?.splits ?? [];
  const claimedOf = new Map((claimed ?? []).map((split) => [split.subaccountId, split]));
  return known.splits.map((split) => ({
    ...split,
    refundedCents: claimedOf.get(split.subaccountId)?.refundedCents ?? split.refundedCents,
  }));
}
