import { parseBrCode } from '../../kernel/br-code.ts';
import type { Language } from '../../kernel/language.ts';
import type { Cents } from '../../kernel/money.ts';
import { isUnchanged } from '../../kernel/objects.ts';
import {
  eventAt,
  lastStatusOf,
  type Merged,
  prevails,
  type UpstreamSource,
} from '../../kernel/upstream-source.ts';
import { customerOf } from '../checkout/model.ts';
import {
  canFollow,
  isAuthorisable,
  isFinal,
  type Subscription,
  type SubscriptionCycle,
  type SubscriptionSnapshot,
  type SubscriptionStatus,
} from './model.ts';

/** A cycle as the service shows it. Null: not shown. */
export type UpstreamCycle = Pick<SubscriptionCycle, 'number'> & {
  [Member in Exclude<keyof SubscriptionCycle, 'number'>]: SubscriptionCycle[Member] | null;
};

/** A subscription as the service shows it in a response or a webhook. Null: not shown. */
export type UpstreamSubscription = Pick<Subscription, 'subscriptionId'> & {
  [Member in Exclude<
    keyof Subscription,
    'subscriptionId' | 'version' | 'lastStatus' | 'cycles' | 'checkoutUrl' | 'language' | 'txid' | 'nextDueAt'
  >]: Subscription[Member] | null;
} & {
  checkoutUrl: string | null;
  /** `none`: the service shows that no further cycle follows. */
  nextDueAt: Date | 'none' | null;
  /** The language from this server's own request, which the service does not get. */
  language?: Language | null;
  txid: string | null;
  /** Whether a webhook shows it, which may arrive late. A response shows the present state. */
  isWebhook: boolean;
  /** Some cycles of the subscription, in any order; empty if none is shown. */
  cycles: readonly UpstreamCycle[];
};

/** The number of cycles that the mirror keeps of a subscription, the newest. */
const KEPT_CYCLES = 100;

/**
 * Merges what the service shows into the known state; null if nothing changes, or if the subscription is
 * unknown and its amount is not shown. Known values stay, and only a newer answer of the service itself moves
 * a status back. `changed` has the status before, if subscribers get an update.
 */
export function mergeUpstreamSubscription(
  known: SubscriptionSnapshot | null,
  claim: UpstreamSubscription,
  now: Date,
  source: UpstreamSource = eventAt(now),
): Merged<SubscriptionSnapshot> | null {
  const amountCents = known?.amountCents ?? claim.amountCents;
  if (amountCents === null) return null;
  const { cycles, changedCycle } = mergeCycles(known?.cycles ?? [], claim.cycles, { amountCents, source });
  const isLate = claim.isWebhook && claim.cycles.some((cycle) => hasEndedSince(cycle, known?.cycles ?? []));
  const isStatusOld = isLate && !isFinal(claim.status ?? 'unknown');
  const status = statusAfter(known, isStatusOld ? null : claim.status, source);
  const canceled = status === 'canceled';
  const language = known?.language ?? claim.language;
  const subscription: SubscriptionSnapshot = {
    subscriptionId: claim.subscriptionId,
    version: known?.version ?? 1,
    status,
    ...(status === 'unknown' && { lastStatus: known && lastStatusOf<SubscriptionStatus>(known) }),
    amountCents,
    interval: known && known.interval !== 'unknown' ? known.interval : (claim.interval ?? 'unknown'),
    endsAfterCycles: known?.endsAfterCycles ?? claim.endsAfterCycles,
    description: known?.description ?? claim.description,
    customer: customerOf({ ...claim.customer, ...known?.customer }),
    metadata: known?.metadata ?? claim.metadata,
    successUrl: known?.successUrl ?? claim.successUrl,
    cancelUrl: known?.cancelUrl ?? claim.cancelUrl,
    checkoutUrl: known?.checkoutUrl ?? claim.checkoutUrl,
    // Omitted if there is none, so that the record of an earlier version does not change.
    ...(language && { language }),
    brCode: known?.brCode ?? codeOf(claim.brCode, amountCents),
    txid: known?.txid ?? claim.txid,
    nextDueAt: isFinal(status) ? null : nextDueAfter(known, isLate ? null : claim.nextDueAt),
    cancelReason: canceled ? (known?.cancelReason ?? claim.cancelReason) : null,
    canceledAt: canceled ? (known?.canceledAt ?? claim.canceledAt) : null,
    createdAt: known?.createdAt ?? claim.createdAt,
    expiresAt: known?.expiresAt ?? claim.expiresAt,
    returnedCredits: claim.returnedCredits ?? known?.returnedCredits ?? [],
    cycles,
    changedCycle: null,
  };
  if (!known) return { resource: subscription, changed: { from: null } };
  if (isUnchanged({ ...known, changedCycle: null }, subscription)) return null;
  return {
    resource: { ...subscription, version: known.version + 1, changedCycle },
    changed: isUnchanged(announcedOf(known), announcedOf(subscription)) ? null : { from: known.status },
  };
}

/** The members whose changes subscribers get. */
function announcedOf(subscription: Subscription) {
  const { status, nextDueAt, cancelReason, returnedCredits, cycles } = subscription;
  return {
    status,
    nextDueAt,
    cancelReason,
    returnedCredits,
    cycles,
    brCode: isAuthorisable(subscription) ? subscription.brCode : null,
  };
}

function statusAfter(
  known: Subscription | null,
  claimed: Subscription['status'] | null,
  source: UpstreamSource,
): Subscription['status'] {
  const before = known && lastStatusOf<SubscriptionStatus>(known);
  if (claimed === null) return known?.status ?? 'unknown';
  if (before === null) return claimed;
  if (claimed === 'unknown') return isFinal(before) ? before : 'unknown';
  if (claimed === before || canFollow(before, claimed)) return claimed;
  // An answer from before the known status may arrive late.
  const isOlder = canFollow(claimed, before);
  return prevails(source, { isOlder, isPaid: true }) ? claimed : known!.status;
}

function nextDueAfter(
  known: Subscription | null,
  claimed: UpstreamSubscription['nextDueAt'],
): Subscription['nextDueAt'] {
  return claimed === 'none' ? null : (claimed ?? known?.nextDueAt ?? null);
}

/**
 * Whether a cycle that is shown as open is known to have ended: then everything shown with it is old, the
 * status too.
 */
function hasEndedSince(shown: UpstreamCycle, known: readonly SubscriptionCycle[]): boolean {
  if (shown.status !== 'scheduled' && shown.status !== 'retrying') return false;
  return known.some(({ number, status }) => number === shown.number && isOver(status));
}

/** The cycles, known and shown ones merged, newest first, and the newest that has changed. */
function mergeCycles(
  known: readonly SubscriptionCycle[],
  shown: readonly UpstreamCycle[],
  terms: { amountCents: Cents; source: UpstreamSource },
) {
  const cycles = new Map(known.map((cycle) => [cycle.number, cycle]));
  let changedCycle: SubscriptionCycle | null = null;
  for (const claim of shown) {
    const before = cycles.get(claim.number) ?? null;
    const merged = mergeCycle(before, claim, terms);
    if (before && isUnchanged(before, merged)) continue;
    cycles.set(claim.number, merged);
    if (!changedCycle || merged.number > changedCycle.number) changedCycle = merged;
  }
  const newestFirst = [...cycles.values()].sort((left, right) => right.number - left.number);
  return { cycles: newestFirst.slice(0, KEPT_CYCLES), changedCycle };
}

function isOver(status: SubscriptionCycle['status'] | null): boolean {
  return status === 'paid' || status === 'failed' || status === 'canceled';
}

function mergeCycle(
  known: SubscriptionCycle | null,
  claim: UpstreamCycle,
  { amountCents, source }: { amountCents: Cents; source: UpstreamSource },
): SubscriptionCycle {
  // An older claim undoes nothing: an ended cycle stays so, and attempts never decrease.
  const isStepBack = !isOver(claim.status) && (claim.attempts ?? 0) < (known?.attempts ?? 0);
  const isCorrection =
    known !== null && isOver(known.status) && isOver(claim.status) && prevails(source, { isOlder: false });
  const isOlder = known !== null && !isCorrection && (isOver(known.status) || isStepBack);
  const status = isOlder ? known!.status : (claim.status ?? known?.status ?? 'unknown');
  const isPaid = status === 'paid';
  return {
    number: claim.number,
    dueAt: known?.dueAt ?? claim.dueAt,
    status,
    amountCents: known?.amountCents ?? claim.amountCents ?? amountCents,
    attempts: Math.max(known?.attempts ?? 0, claim.attempts ?? 0),
    nextAttemptAt: isOlder ? known!.nextAttemptAt : claim.nextAttemptAt,
    paymentId: known?.paymentId ?? (isPaid ? claim.paymentId : null),
    paidAt: known?.paidAt ?? (isPaid ? claim.paidAt : null),
    failureReason: isPaid ? null : (claim.failureReason ?? known?.failureReason ?? null),
  };
}

/** The code, if it is for the amount of a cycle. */
function codeOf(brCode: string | null, amountCents: Cents): string | null {
  return brCode !== null && takesAmount(brCode, amountCents) ? brCode : null;
}

/** Whether a text is a code for the amount, or one that leaves it to the charge at its address. */
export function takesAmount(brCode: string, amountCents: Cents): boolean {
  const code = parseBrCode(brCode);
  return code !== null && (code.amountCents === amountCents || (code.amountCents === null && code.isDynamic));
}
