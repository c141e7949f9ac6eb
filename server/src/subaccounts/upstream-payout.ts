import { CLAIM_HOLDS_MS, type Source } from '../kernel/authority.ts';
import type { SubaccountPayout } from './model.ts';

/** A payout as the service showed it, in an answer or in an event. */
export type UpstreamPayout = Omit<SubaccountPayout, 'id' | 'version'>;

/** The progress of a payout (3.1), as a number that grows. */
function progressOf({ status, reversed, inDoubt, neverMade }: UpstreamPayout): number {
  if (inDoubt || neverMade) return -1;
  if (status === 'unknown') return 0;
  if (status === 'processing') return 1;
  return reversed ? 3 : 2;
}

/**
 * Merges a payout as the service showed it into what is known; null where nothing is new. Answers and events come in
 * any order, twice and late: the status goes forward, and what was once known stays known. An end can be corrected by
 * the service alone, in an answer that is newer than what is known.
 */
export function mergeUpstreamPayout(
  known: SubaccountPayout | null,
  given: UpstreamPayout,
  newId: string,
  source: Source,
): SubaccountPayout | null {
  const seen = normalize(given);
  const claimedAt = source.by === 'event' && isEnd(seen) ? source.at : undefined;
  if (!known) return { id: newId, version: 1, ...seen, ...(claimedAt && { claimedAt }) };
  const isConfirmation = saysTheSame(known, seen);
  const turns = !isConfirmation && prevails(known, seen, source);
  // The answer says that the payout ended otherwise than it did.
  if (!isConfirmation && !turns && progressOf(seen) >= progressOf(known)) return null;
  // A payout that turns out to have been made after all loses what this server concluded. Where another system has used
  // its key, the amount is the service's too.
  const ours = known.neverMade ? { failureReason: null, reversedAt: null } : {};
  const isRequest = known.inDoubt || known.neverMade;
  const [newer, older] = turns ? [seen, { ...known, ...ours }] : [known, seen];
  const holds = turns ? claimedAt : isConfirmation && source.by === 'service' ? undefined : known.claimedAt;
  const { inDoubt: _, neverMade: __, claimedAt: ___, ...rest } = known;
  const merged: SubaccountPayout = {
    ...rest,
    ...normalize({
      ...rest,
      status: newer.status,
      reversed: newer.reversed,
      amountCents: isRequest ? newer.amountCents : known.amountCents,
      payoutId: known.payoutId ?? seen.payoutId,
      withdrawalId: newer.withdrawalId ?? older.withdrawalId,
      // A payout that the bank refuses after all has its TURBO-… replaced.
      code: newer.code ?? older.code,
      feeCents: known.feeCents ?? seen.feeCents,
      platformFeeCents: newer.platformFeeCents ?? older.platformFeeCents,
      netAmountCents: newer.netAmountCents ?? older.netAmountCents,
      pixKey: known.pixKey ?? seen.pixKey,
      endToEndId: newer.endToEndId ?? older.endToEndId,
      recipientName: newer.recipientName ?? older.recipientName,
      recipientBankName: newer.recipientBankName ?? older.recipientBankName,
      failureReason: newer.failureReason ?? older.failureReason,
      completedAt: newer.completedAt ?? older.completedAt,
      reversedAt: newer.reversedAt ?? older.reversedAt,
    }),
    ...(holds && { claimedAt: holds }),
    ...(!turns && known.neverMade && { neverMade: true }),
    ...(newer.inDoubt && { inDoubt: true }),
  };
  if (isSame(known, merged)) return null;
  return { ...merged, version: known.version + 1 };
}

function isEnd({ status, reversed }: UpstreamPayout): boolean {
  return status === 'completed' || reversed;
}

function saysTheSame(known: UpstreamPayout, seen: UpstreamPayout): boolean {
  return progressOf(known) === progressOf(seen) && known.status === seen.status;
}

/** Whether a shown state replaces the known one. */
function prevails(known: SubaccountPayout, seen: UpstreamPayout, { by, at, knownAt }: Source): boolean {
  const isForward = progressOf(seen) > progressOf(known);
  if (!isEnd(known) || known.neverMade) {
    const isOtherEnd = known.status === 'failed' && seen.status === 'completed' && !known.neverMade;
    return isOtherEnd ? by === 'service' && (!knownAt || at > knownAt) : isForward;
  }
  if (by === 'event') return false;
  const { claimedAt } = known;
  // An end that the service itself has said does not become open again: an answer that says so is older.
  if (progressOf(seen) < 2 || (known.reversed && seen.status === 'failed' && !seen.reversed))
    return claimedAt !== undefined && at.getTime() >= claimedAt.getTime() + CLAIM_HOLDS_MS;
  const said = claimedAt ?? knownAt;
  return !said || at > said;
}

/** Removes the fields that have no place beside the status (2.2), whatever the source says. */
function normalize<Payout extends UpstreamPayout>(payout: Payout): Payout {
  const failed = payout.status === 'failed';
  const reversed = failed && payout.reversed;
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

function isSame(left: SubaccountPayout, right: SubaccountPayout): boolean {
  const shown = (value: unknown) => (value instanceof Date ? value.getTime() : value);
  const fields = Object.keys({ ...left, ...right }) as (keyof SubaccountPayout)[];
  return fields.every((field) => shown(left[field]) === shown(right[field]));
}

/** The kind of the event that announces a payout's state. */
export function eventOf({ status, reversed }: SubaccountPayout): SubaccountPayout['status'] | 'reversed' {
  return reversed ? 'reversed' : status;
}
