import { parseBrCode } from '../../kernel/br-code.ts';
import type { Cents } from '../../kernel/money.ts';
import { isUnchanged } from '../../kernel/objects.ts';
import { eventAt, lastStatusOf, type Merged, type UpstreamSource } from '../../kernel/upstream-source.ts';
import {
  announcedDoubt,
  feeOf,
  isCorrection,
  mergeDetails,
  type PaymentDetails,
  type UpstreamDetails,
  wasPaidBy,
  withoutDoubt,
} from '../receiving/upstream-payment.ts';
import { canFollow, isFinal, isPayable, type PixResource, type ReturnedCredit } from './model.ts';

/** A resource that a PIX code pays, as the service shows it in a response or a webhook. Null: not shown. */
export interface UpstreamPixResource extends UpstreamDetails {
  feeCents?: Cents | null;
  brCode?: string | null;
  txid?: string | null;
  canceledAt?: Date | null;
  endToEndId?: string | null;
  refundIds?: readonly string[] | null;
  returnedCredits?: readonly ReturnedCredit[] | null;
}

/** The members that only this family has. `Left`: those that may be omitted. */
type OwnMembers<R, Left extends keyof R> = {
  [Member in Exclude<keyof R, keyof PixResource | keyof PaymentDetails | Left>]-?: R[Member];
} & Pick<R, Left>;

/**
 * Merges what the service shows into the known state, by `mergeDetails`; null if nothing changes, or if the
 * resource is unknown and too little of it is shown. `ownOf` merges the family's own members. Subscribers get
 * each change of the status, the code, the refunds, the returned credits and the fee of what is paid, and of
 * the result of `announcedOf`.
 */
export function mergeUpstreamPix<R extends PixResource, Left extends keyof R = never>(
  known: R | null,
  claim: UpstreamPixResource,
  now: Date,
  {
    ownOf,
    announcedOf = () => ({}),
    source = eventAt(now),
  }: {
    ownOf: (details: PaymentDetails) => OwnMembers<R, Left>;
    announcedOf?: (resource: R) => object;
    source?: UpstreamSource | undefined;
  },
): Merged<R> | null {
  if (!known && claim.amountCents === null) return null;
  // A member that a family lacks, such as an address of its shop, is null in the service's answers.
  const before = known as unknown as PaymentDetails | null;
  const details = mergeDetails(before, claim, { canFollow, isFinal }, now, source);
  const { amountCents, status } = details;
  const isCorrected = known !== null && isCorrection(lastStatusOf(known), status, { canFollow });
  const kept = isCorrected ? null : known;
  const canceledAt =
    kept?.canceledAt ?? (status === 'expired' || status === 'failed' ? claim.canceledAt : null);
  const merged: PixResource = {
    version: known?.version ?? 1,
    ...details,
    ...(canceledAt && { canceledAt }),
    feeCents: known?.feeCents ?? feeOf(claim, amountCents),
    brCode: known?.brCode ?? codeOf(claim, amountCents),
    txid: known?.txid ?? claim.txid ?? null,
    endToEndId: kept?.endToEndId ?? (wasPaidBy(status) ? (claim.endToEndId ?? null) : null),
    ...refundIdsIn(known, claim, details),
    returnedCredits: claim.returnedCredits ?? known?.returnedCredits ?? [],
  };
  const resource = { ...merged, ...ownOf(details) } as unknown as R;
  if (!known) return { resource, changed: { from: null } };
  if (isUnchanged(known, resource)) return null;
  const announced = (each: R) => ({ ...announcedMembers(each), ...announcedOf(each) });
  const isStep = !isUnchanged(withoutDoubt(known), withoutDoubt(resource));
  return {
    resource: isStep ? { ...resource, version: known.version + 1 } : resource,
    changed: isUnchanged(announced(known), announced(resource)) ? null : { from: known.status },
  };
}

/**
 * The refund ids that the claim shows. A webhook shows the amounts alone: the known ids then stay if the amounts
 * are the known ones.
 */
function refundIdsIn(
  known: PixResource | null,
  claim: UpstreamPixResource,
  { refundedCents, refundingCents }: Pick<PaymentDetails, 'refundedCents' | 'refundingCents'>,
): Pick<PixResource, 'refundIds'> {
  const isSame = known?.refundedCents === refundedCents && known.refundingCents === refundingCents;
  const refundIds = claim.refundIds ?? (isSame ? known.refundIds : undefined);
  return refundIds ? { refundIds } : {};
}

const HAS_ENDED: ReadonlySet<string | null> = new Set(['paid', 'refunded', 'expired', 'failed']);

/**
 * The reason why the answer to a creation must not reach a payer: another amount, or no code for the amount.
 * Null if it may, and if the resource has ended since its creation, and so has no code any more.
 */
export function contradictionOf(claim: UpstreamPixResource, amountCents: Cents): string | null {
  if (claim.amountCents !== amountCents) return 'another amount, or none';
  if (HAS_ENDED.has(claim.status) || codeOf(claim, amountCents) !== null) return null;
  return 'no code whose checksum holds and whose amount fits';
}

/** The members whose changes subscribers get. An amount that becomes known as 0 is no change, nor is the fee of what is not paid. */
function announcedMembers(resource: PixResource) {
  const { status, feeCents, otherPaidCents, refundedCents, refundingCents, returnedCredits } = resource;
  return {
    status,
    feeCents: wasPaidBy(lastStatusOf(resource)) ? (feeCents ?? 0) : 0,
    otherPaidCents,
    returnedCredits,
    refundedCents: refundedCents ?? 0,
    refundingCents: refundingCents ?? 0,
    ...announcedDoubt(resource),
    brCode: isPayable(resource) ? resource.brCode : null,
  };
}

/**
 * The code, if it is for the resource's amount. A dynamic code may leave the amount to the charge at its
 * address. With another or an open amount, the payer would pay something else.
 */
function codeOf({ brCode = null }: UpstreamPixResource, amountCents: Cents): string | null {
  const code = brCode === null ? null : parseBrCode(brCode);
  const isFit = code && (code.amountCents === amountCents || (code.amountCents === null && code.isDynamic));
  return isFit ? brCode : null;
}
