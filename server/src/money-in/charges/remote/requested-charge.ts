import { contradictionOf } from '../../pix/upstream-resource.ts';
import { type ChargeRequest, kindOfCharge } from '../model.ts';
import type { UpstreamCharge } from '../upstream-charge.ts';

/** The body of a request to the service, which does not get the language. */
export function bodyOf({ splits, language: _, ...request }: ChargeRequest): object {
  if (splits.length === 0) return request;
  return {
    ...request,
    splits: splits.map(({ subaccountId, amountCents, percent }) => ({
      subaccountId,
      ...(percent === null ? { amountCents } : { percent: Number(percent) }),
    })),
  };
}

/**
 * The reason why the answer does not belong to the request, or must not reach a payer; null if it may.
 * Without its splits, a split charge would give the account the money of others.
 */
export function contradictionOfCharge(claim: UpstreamCharge, request: ChargeRequest): string | null {
  const kind = request.splits.length > 0 ? 'split' : 'single';
  if (kindOfCharge(claim.chargeId) !== kind) return 'an id of another kind of charge';
  return areSplitsAsRequested(claim, request)
    ? contradictionOf(claim, request.valueCents)
    : 'other splits, or none';
}

function areSplitsAsRequested({ splits }: UpstreamCharge, request: ChargeRequest): boolean {
  const shown = new Map((splits ?? []).map((split) => [split.subaccountId, split]));
  return (
    shown.size === request.splits.length &&
    request.splits.every(({ subaccountId, amountCents, percent }) => {
      const split = shown.get(subaccountId);
      if (!split || split.amountCents > request.valueCents) return false;
      return percent === null ? split.amountCents === amountCents : split.percent === percent;
    })
  );
}

/** A created charge: the request is more exact than the response. */
export function createdClaim(
  claim: UpstreamCharge,
  { description, metadata, externalId, language = null }: ChargeRequest,
  at: Date,
): UpstreamCharge {
  return {
    ...claim,
    description,
    metadata,
    externalId,
    language,
    status: claim.status ?? 'pending',
    createdAt: claim.createdAt ?? (claim.expiresAt ? null : at),
  };
}
