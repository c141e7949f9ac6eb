import { UPSTREAM_PRIORITIES, type UpstreamPriority } from '../upstream.ts';

/**
 * The part of the limit up to which each class fills the window, in percent, counting the slots of all classes. So the
 * last tenth is reserved for money, the tenth before it for money and queries, and so on: whatever the lower classes do,
 * each class has room that only more important ones can take.
 */
const PRIORITY_CAPS: Readonly<Record<UpstreamPriority, number>> = {
  money: 100,
  query: 90,
  lookup: 80,
  payer: 70,
  poll: 50,
};

/** A slot that is held in the window. */
export interface HeldSlot {
  readonly class: UpstreamPriority;
  readonly subject: string | null;
  readonly heldUntil: Date;
}

/** The state of an account's window at one instant. */
export interface WindowState {
  readonly at: Date;
  readonly blockedUntil: Date | null;
  /** All slots that are held at that instant. */
  readonly held: readonly HeldSlot[];
}

export interface SlotRequest {
  readonly class: UpstreamPriority;
  readonly subject: string | null;
  /** The longest wait, from the state's `at`. */
  readonly waitMs: number;
}

/** The answer to a request for a slot: granted, free in `ms`, or refused because none becomes free in time. */
export type Decision =
  | { readonly kind: 'granted' }
  | { readonly kind: 'waits'; readonly ms: number }
  | { readonly kind: 'refused'; readonly retryAfterMs: number };

export interface Rules {
  readonly limit: number;
  /** The time for which a slot is held after its request has ended. */
  readonly holdMs: number;
  /** The slots in a window of one subject of the class `payer`. */
  readonly subjectLimit: number;
}

/** The slots that a class may fill: at least one, or it would never be served. */
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
  const earliest = Math.max(now, blockedUntil?.getTime() ?? now);
  const timelineOf = (slots: readonly HeldSlot[]) =>
    createSlotTimeline(
      slots.map(({ heldUntil }) => Math.min(heldUntil.getTime(), now + holdMs)),
      holdMs,
    );
  const all = timelineOf(held);
  const subjects = new Map<string, SlotTimeline>();

  function timelineOfSubject(subject: string): SlotTimeline {
    const known = subjects.get(subject);
    if (known) return known;
    const own = timelineOf(held.filter((slot) => slot.class === 'payer' && slot.subject === subject));
    subjects.set(subject, own);
    return own;
  }

  return requests.map((request) => {
    const bounds = [{ timeline: all, cap: capOf(request.class, limit) }];
    if (request.class === 'payer' && request.subject !== null)
      bounds.push({ timeline: timelineOfSubject(request.subject), cap: subjectLimit });
    const from = Math.max(earliest, ...bounds.map(({ timeline, cap }) => timeline.freeFrom(cap)));
    const ms = from - now;
    if (ms > request.waitMs) return { kind: 'refused', retryAfterMs: ms };
    for (const { timeline } of bounds) timeline.take(from);
    return ms === 0 ? { kind: 'granted' } : { kind: 'waits', ms };
  });
}

/** The instants, in milliseconds, at which the slots of a window become free. */
interface SlotTimeline {
  /** The instant from which fewer than `cap` slots are held. */
  freeFrom(cap: number): number;
  /** Takes one more slot from an instant on: it is free again `holdMs` later at the earliest. */
  take(from: number): void;
}

function createSlotTimeline(heldUntil: readonly number[], holdMs: number): SlotTimeline {
  const ends = [...heldUntil].sort((left, right) => left - right);
  return {
    freeFrom: (cap) => ends[ends.length - cap] ?? Number.NEGATIVE_INFINITY,
    take(from) {
      const end = from + holdMs;
      const before = ends.findLastIndex((each) => each <= end);
      ends.splice(before + 1, 0, end);
    },
  };
}
