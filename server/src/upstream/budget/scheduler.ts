import type { BudgetSubject } from '../../kernel/requester.ts';
import { isOfPayers, UPSTREAM_PRIORITIES, type UpstreamPriority } from '../upstream.ts';

/**
 * The percentage of the limit up to which a class may fill the window, counting the slots of all classes. The
 * last tenth is reserved for money, and so on: each class has room that only more important classes can take.
 */
const PRIORITY_CAPS: Readonly<Record<UpstreamPriority, number>> = {
  money: 100,
  query: 90,
  money_read: 85,
  lookup: 80,
  payer: 70,
  payer_read: 50,
  poll: 40,
};
/** The reads of the merchant's money in a busy window: one in three seconds. */
const MONEY_READS = 20;
/**
 * The largest share of payers of one token, behind one network, or in one IPv6 block, as a multiple of what
 * they leave to their class.
 */
const WHOLE_SHARE = 3;
/**
 * The slots that a purchase takes. Payers that hold more may fill the limit only up to `LATER_PERCENT`: the
 * rest is for first purchases.
 */
const FIRST_SLOTS = 4;
const LATER_PERCENT = 60;

/** A slot that is held in the window. */
export interface HeldSlot {
  readonly class: UpstreamPriority;
  readonly subject: BudgetSubject | null;
  readonly heldUntil: Date;
}

/** The state of an account's window at one instant. */
export interface WindowState {
  readonly at: Date;
  readonly blockedUntil: Date | null;
  /** All slots that are held at `at`. */
  readonly held: readonly HeldSlot[];
}

export interface SlotRequest {
  readonly class: UpstreamPriority;
  readonly subject: BudgetSubject | null;
  /** The longest wait, from `at` on. */
  readonly waitMs: number;
}

/**
 * The decision on a request for a slot: granted, free in `ms`, or refused because no slot becomes free in
 * time.
 */
export type Decision =
  | { readonly kind: 'granted' }
  | { readonly kind: 'waits'; readonly ms: number }
  | { readonly kind: 'refused'; readonly retryAfterMs: number };

export interface Rules {
  readonly limit: number;
  /** The time for which a slot is held after its request has ended. */
  readonly holdMs: number;
}

/** The number of slots that a class may fill: at least one, or the class would never be served. */
function capOf(upstreamClass: UpstreamPriority, limit: number): number {
  return Math.max(1, Math.floor((limit * PRIORITY_CAPS[upstreamClass]) / 100));
}

/** Sorts requests by class, the most important first; within one class the order stays. */
export function byPriority<Each extends Pick<SlotRequest, 'class'>>(requests: readonly Each[]): Each[] {
  return [...requests].sort(
    (left, right) => UPSTREAM_PRIORITIES.indexOf(left.class) - UPSTREAM_PRIORITIES.indexOf(right.class),
  );
}

/**
 * Grants the free slots in the order of `requests`. A waiting request is assigned the next slot that becomes
 * free, so that a later request is not promised the same slot. The end of a request under way is unknown; it
 * is assumed to be now, so that no request is refused that might still be served in time.
 *
 * - *Payers* of one token behind one network hold at most as much as they leave to all others: the first
 * takes half of the room, the next half of the rest, and no number of them takes it all. All payers of one
 * token, all behind one network, and all in one IPv6 block hold three times as much. The first slots of each
 * payer are granted beyond that, whatever the others hold.
 * - *Reads of money* take slots above the share of polls one at a time, with a part of the window between
 * them. A burst would use up its room, and the next read would wait for a minute.
 */
export function decide(
  { at, blockedUntil, held }: WindowState,
  requests: readonly SlotRequest[],
  { limit, holdMs }: Rules,
): Decision[] {
  const now = at.getTime();
  const earliest = Math.max(now, blockedUntil?.getTime() ?? now);
  const timelines = new Map<string, SlotTimeline>();

  /** The slots that `isOwn` selects, cached under a name from one request to the next. */
  function timelineOf(name: string, isOwn: (slot: HeldSlot) => boolean): SlotTimeline {
    const known = timelines.get(name);
    if (known) return known;
    const ends = held
      .filter(isOwn)
      .map(({ heldUntil }) => Math.min(heldUntil.getTime(), now + holdMs))
      .sort((left, right) => left - right);
    const timeline = createSlotTimeline(ends, holdMs);
    timelines.set(name, timeline);
    return timeline;
  }

  function sharesOf(request: SlotRequest): Share[] {
    const { subject } = request;
    if (!subject || !isOfPayers(request.class)) return [];
    const { token, network } = subject;
    const isOfToken = (slot: HeldSlot) => isOfPayers(slot.class) && slot.subject?.token === token;
    const isOfNetwork = (slot: HeldSlot) => isOfPayers(slot.class) && slot.subject?.network === network;
    const isOfBoth = (slot: HeldSlot) => isOfToken(slot) && isOfNetwork(slot);
    const [block] = network?.match(/^.*\//) ?? [];
    const isOfBlock = (slot: HeldSlot) =>
      isOfPayers(slot.class) && slot.subject?.network?.startsWith(block!) === true;
    return [
      ...(block ? [{ timeline: timelineOf(`block ${block}`, isOfBlock), times: WHOLE_SHARE }] : []),
      { timeline: timelineOf(`token ${token}`, isOfToken), times: WHOLE_SHARE },
      { timeline: timelineOf(`network ${network}`, isOfNetwork), times: WHOLE_SHARE },
      { timeline: timelineOf(`token ${token} network ${network}`, isOfBoth), times: 1 },
    ];
  }

  const all = timelineOf('all', () => true);

  /** The earliest instant at which a request can have a slot. */
  function freeFrom(request: SlotRequest, shares: readonly Share[]): number {
    const cap = capOf(request.class, limit);
    if (request.class === 'money_read') {
      const last = timelineOf('money_read', (slot) => slot.class === 'money_read').lastBegun();
      const inTurn = last + holdMs / MONEY_READS;
      return Math.max(all.freeFrom(cap), Math.min(all.freeFrom(capOf('poll', limit)), inTurn));
    }
    const isInShare = (ms: number) => {
      const count = all.countAt(ms);
      const isFirst = shares.some(({ timeline, times }) => times === 1 && timeline.countAt(ms) < FIRST_SLOTS);
      const room = isFirst ? cap : Math.min(cap, (limit * LATER_PERCENT) / 100);
      const left = (isFirst ? capOf('lookup', limit) : cap) - count;
      return count < room && shares.every(({ timeline, times }) => timeline.countAt(ms) < left * times);
    };
    const first = Math.max(earliest, all.freeFrom(cap));
    if (shares.length === 0 || isInShare(first)) return first;
    return all.ends().find((end) => end > first && isInShare(end)) ?? first;
  }

  return requests.map((request) => {
    const shares = sharesOf(request);
    const from = Math.max(earliest, freeFrom(request, shares));
    const ms = from - now;
    if (ms > request.waitMs) return { kind: 'refused', retryAfterMs: ms };
    all.take(from);
    for (const { timeline } of shares) timeline.take(from);
    if (request.class === 'money_read') timelines.get('money_read')!.take(from);
    return ms === 0 ? { kind: 'granted' } : { kind: 'waits', ms };
  });
}

/** A bound on the slots of a timeline: fewer than `times` the slots that are left. */
interface Share {
  readonly timeline: SlotTimeline;
  readonly times: number;
}

/** The instants, in milliseconds, at which the slots of a window become free. */
interface SlotTimeline {
  /** The earliest instant from which fewer than `cap` slots are held. */
  freeFrom(cap: number): number;
  /** The number of slots that are held at an instant, or taken by then. */
  countAt(ms: number): number;
  /** The instant at which the last slot was taken. */
  lastBegun(): number;
  /** The instants at which slots become free, the earliest first. */
  ends(): readonly number[];
  /** Takes one more slot from an instant on; it becomes free `holdMs` later at the earliest. */
  take(from: number): void;
}

/** Creates a timeline from `ends`, which must be in order. */
function createSlotTimeline(ends: number[], holdMs: number): SlotTimeline {
  /** The number of slots that have become free by an instant. */
  function freeAt(ms: number): number {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! <= ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    freeFrom: (cap) => ends[ends.length - cap] ?? Number.NEGATIVE_INFINITY,
    countAt: (ms) => ends.length - freeAt(ms),
    lastBegun: () => (ends.at(-1) ?? Number.NEGATIVE_INFINITY) - holdMs,
    ends: () => ends,
    take(from) {
      const end = from + holdMs;
      ends.splice(freeAt(end), 0, end);
    },
  };
}
