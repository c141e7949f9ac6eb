import { isUnchanged } from '../../kernel/objects.ts';
import { CLAIM_HOLDS_MS, type UpstreamSource } from '../../kernel/upstream-source.ts';
import { isFinal, type SubaccountPayout } from './model.ts';

/** A payout as the service behind a facade shows it, in an answer or an event. */
export type UpstreamPayout = Omit<SubaccountPayout, 'id' | 'version'>;

/** The progress of a payout (3.1), as a number that grows with each step. */
function progressOf({ status, reversed, inDoubt, neverMade }: UpstreamPayout): number {
  if (inDoubt || neverMade) return -1;
  if (status === 'unknown') return 0;
  if (status === 'processing') return 1;
  return reversed ? 3 : 2;
}

/**
 * Merges a payout as the service showed it into the known state; null if nothing is new. Answers and events
 * arrive in any order, twice and late: the status goes forward, and known members stay known. Only the
 * service itself corrects an end, in an answer that is newer than the known state.
 */
export function mergeUpstreamPayout(
  known: SubaccountPayout | null,
  shown: UpstreamPayout,
  newId: string,
  source: UpstreamSource,
): SubaccountPayout | null {
  const upstream = normalize(shown);
  const claimedAt = source.by === 'event' && isFinal(upstream) ? source.at : undefined;
  if (!known) return { id: newId, version: 1, ...upstream, ...(claimedAt && { claimedAt }) };
  const isConfirmation = hasSameState(known, upstream);
  const isReplacement = !isConfirmation && prevails(known, upstream, source);
  // A newer state that does not prevail contradicts a known end. An older one may still add members below.
  if (!isConfirmation && !isReplacement && progressOf(upstream) >= progressOf(known)) return null;
  // A payout that was made after all loses this server's own conclusion. If another system has used its key,
  // the amount is the service's too.
  const cleared = known.neverMade ? { failureReason: null, reversedAt: null } : {};
  const isRequest = known.inDoubt || known.neverMade;
  const isOfOtherRequest = isRequest && isReplacement && known.amountCents !== upstream.amountCents;
  const [newer, older] = isReplacement ? [upstream, { ...known, ...cleared }] : [known, upstream];
  const nextClaimedAt = isReplacement
    ? claimedAt
    : isConfirmation && source.by === 'service'
      ? undefined
      : known.claimedAt;
  // A payout that the bank refuses after all gets a SUB-… in place of its TURBO-….
  const code = newer.code ?? older.code;
  const formerCode = [known.code, known.formerCode, upstream.code].find((each) => each && each !== code);
  const { inDoubt: _, neverMade: __, claimedAt: ___, ...rest } = known;
  const merged: SubaccountPayout = {
    ...rest,
    ...normalize({
      ...rest,
      status: newer.status,
      reversed: newer.reversed,
      amountCents: isRequest ? newer.amountCents : known.amountCents,
      payoutId: known.payoutId ?? upstream.payoutId,
      withdrawalId: newer.withdrawalId ?? older.withdrawalId,
      code,
      ...(formerCode && { formerCode }),
      feeCents: known.feeCents ?? upstream.feeCents,
      platformFeeCents: newer.platformFeeCents ?? older.platformFeeCents,
      netAmountCents: newer.netAmountCents ?? older.netAmountCents,
      pixKey: known.pixKey ?? upstream.pixKey,
      destinationKind: known.destinationKind ?? upstream.destinationKind,
      endToEndId: newer.endToEndId ?? older.endToEndId,
      recipientName: newer.recipientName ?? older.recipientName,
      recipientBankName: newer.recipientBankName ?? older.recipientBankName,
      failureReason: newer.failureReason ?? older.failureReason,
      completedAt: newer.completedAt ?? older.completedAt,
      reversedAt: newer.reversedAt ?? older.reversedAt,
      externalId: isOfOtherRequest ? upstream.externalId : (known.externalId ?? upstream.externalId),
    }),
    ...(nextClaimedAt && { claimedAt: nextClaimedAt }),
    ...(!isReplacement && known.neverMade && { neverMade: true }),
    ...(newer.inDoubt && { inDoubt: true }),
  };
  if (isUnchanged(known, merged)) return null;
  return { ...merged, version: known.version + 1 };
}

function hasSameState(known: UpstreamPayout, upstream: UpstreamPayout): boolean {
  return progressOf(known) === progressOf(upstream) && known.status === upstream.status;
}

/** Whether a state that the service shows replaces the known one. */
function prevails(
  known: SubaccountPayout,
  upstream: UpstreamPayout,
  { by, at, knownAt }: UpstreamSource,
): boolean {
  const isForward = progressOf(upstream) > progressOf(known);
  if (!isFinal(known) || known.neverMade) {
    const isOtherEnd = known.status === 'failed' && upstream.status === 'completed' && !known.neverMade;
    return isOtherEnd ? by === 'service' && (!knownAt || at > knownAt) : isForward;
  }
  if (by === 'event') return false;
  const { claimedAt } = known;
  // If the service itself has reported the end, an answer without an end is older.
  if (progressOf(upstream) < 2 || (known.reversed && upstream.status === 'failed' && !upstream.reversed))
    return claimedAt !== undefined && at.getTime() >= claimedAt.getTime() + CLAIM_HOLDS_MS;
  // The service prevails over a webhook of the same millisecond.
  if (claimedAt) return at >= claimedAt;
  return !knownAt || at > knownAt;
}

/** Removes the members that the status excludes (2.2), whatever the source says. */
function normalize<Payout extends UpstreamPayout>(payout: Payout): Payout {
  const failed = payout.status === 'failed';
  // A completed payout is reversed if it was returned.
  const reversed = (failed || payout.status === 'completed') && payout.reversed;
  return {
    ...payout,
    reversed,
    reversedAt: reversed ? payout.reversedAt : null,
    failureReason: failed ? payout.failureReason : null,
    recipientName: failed ? null : payout.recipientName,
    recipientBankName: failed ? null : payout.recipientBankName,
    completedAt: payout.status === 'completed' ? payout.completedAt : null,
  };
}

/** The kind of the event that announces a payout's state. */
export function eventOf({ status, reversed }: SubaccountPayout): SubaccountPayout['status'] | 'reversed' {
  return reversed ? 'reversed' : status;
}
