import { UPSTREAM_PRIORITIES, type UpstreamPriority } from '../upstream.ts';

/**
 * The part of the limit up to which each class fills the window, in percent, counting the slots of all classes. So the
 * last tenth is there for money alone, the tenth before it for money and queries, and so on: whatever the lower classes
 * do, each class finds room that only more important ones can have taken.
 */
const PRIORITY_CAPS: Readonly<Record<UpstreamPriority, number>> = {
  money: 100,
  query: 90,
  lookup: 80,
  payer: 70,
  poll: 50,
};

/** A slot of the window. */
export interface HeldSlot {
  readonly class: UpstreamPriority;
  readonly subject: string | null;
  readonly heldUntil: Date;
}

/** The state of an account's window at one instant. */
export interface WindowState {
  readonly at: Date;
  readonly blockedUntil: Date | null;
  /** All slots that are held then. */
  readonly held: readonly HeldSlot[];
}

export interface SlotRequest {
  readonly class: UpstreamPriority;
  readonly subject: string | null;
  /** The time from `at` that the request may still wait. */
  readonly waitMs: number;
}

/** The answer to a request for a slot: it has one, it waits this long for one, or it cannot have one in time. */
export type Decision =
  | { readonly kind: 'granted' }
  | { readonly kind: 'waits'; readonly ms: number }
  | { readonly kind: 'refused'; readonly retryAfterMs: number };

export interface Rules {
  readonly limit: number;
  /** The time for which a slot is held after its request has ended. */
  readonly holdMs: number;
  /** The slots of one subject in the class `payer`, in a window. */
  readonly subjectLimit: number;
}

/** The slots that a class may fill: at least one, for none would be never. */
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
 * Grants the free slots in the order of `requests`. A waiting request is assigned the next slot that becomes free, so that
 * a later one is not promised the same. The end of a request under way is unknown; it is taken to be now, so that no
 * request is refused that might still be served in time.
 */
export function decide(
  { at, blockedUntil, held }: WindowState,
  requests: readonly SlotRequest[],
  { limit, holdMs, subjectLimit }: Rules,
): Decision[] {
  const now = at.getTime();
  const begin = Math.max(now, blockedUntil?.getTime() ?? now);
  const timelineOf = (slots: readonly HeldSlot[]) =>
    createSlotTimeline(
      slots.map(({ heldUntil }) => Math.min(heldUntil.getTime(), now + holdMs)),
      holdMs,
    );
  const all = timelineOf(held);
  const subjects = new Map<string, SlotTimeline>();

  function ofSubject(subject: string): SlotTimeline {
    const known = subjects.get(subject);
    if (known) return known;
    const own = timelineOf(held.filter((slot) => slot.class === 'payer' && slot.subject === subject));
    subjects.set(subject, own);
    return own;
  }

  return requests.map((request) => {
    const bounds = [{ filling: all, places: capOf(request.class, limit) }];
    if (request.class === 'payer' && request.subject !== null)
      bounds.push({ filling: ofSubject(request.subject), places: subjectLimit });
    const from = Math.max(begin, ...bounds.map(({ filling: timeline, places }) => timeline.freeFrom(places)));
    const ms = from - now;
    if (ms > request.waitMs) return { kind: 'refused', retryAfterMs: ms };
    for (const { filling: timeline } of bounds) timeline.take(from);
    return ms === 0 ? { kind: 'granted' } : { kind: 'waits', ms };
  });
}

interface SlotTimeline {
  /** The instant from which fewer than `places` slots are held. */
  freeFrom(places: number): number;
  /** Takes one more slot from that instant on: it is free again `holdMs` later at the earliest. */
  take(from: number): void;
}

function createSlotTimeline(heldUntil: readonly number[], holdMs: number): SlotTimeline {
  const ends = [...heldUntil].sort((left, right) => left - right);
  return {
    freeFrom: (places) => ends[ends.length - places] ?? Number.NEGATIVE_INFINITY,
    take(from) {
      const end = from + holdMs;
      const before = ends.findLastIndex((each) => each <= end);
      ends.splice(before + 1, 0, end);
    },
  };
}
