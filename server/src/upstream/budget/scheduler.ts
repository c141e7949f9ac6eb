import { UPSTREAM_PRIORITIES, type UpstreamPriority } from '../upstream.ts';

/**
 * Up to how much of the limit each class fills the window, in percent, counting what all classes hold. So the last
 * tenth is there for money alone, the tenth before it for money and queries, and so on: whatever those below do,
 * each class finds room that only more important ones can have taken.
 */
const PRIORITY_CAPS: Readonly<Record<UpstreamPriority, number>> = {
  money: 100,
  query: 90,
  lookup: 80,
  payer: 70,
  poll: 50,
};

/** A place in the window. */
export interface HeldSlot {
  readonly class: UpstreamPriority;
  readonly subject: string | null;
  readonly heldUntil: Date;
}

/** How the account stands at one instant. */
export interface WindowState {
  readonly at: Date;
  readonly blockedUntil: Date | null;
  /** All that are held then. */
  readonly held: readonly HeldSlot[];
}

export interface SlotRequest {
  readonly class: UpstreamPriority;
  readonly subject: string | null;
  /** How long from `at` it may still wait. */
  readonly waitMs: number;
}

/** What becomes of a want: it has its slot, it waits so long for it, or it cannot have one in time. */
export type Decision =
  | { readonly kind: 'granted' }
  | { readonly kind: 'waits'; readonly ms: number }
  | { readonly kind: 'refused'; readonly retryAfterMs: number };

export interface Rules {
  readonly limit: number;
  /** How long a slot is held after its request has ended. */
  readonly holdMs: number;
  /** Of one subject in the class `payer`, in a window. */
  readonly subjectLimit: number;
}

/** Less than one in the window would be never. */
function capOf(upstreamClass: UpstreamPriority, limit: number): number {
  return Math.max(1, Math.floor((limit * PRIORITY_CAPS[upstreamClass]) / 100));
}

/** The most important first; of one class, who came first. */
export function byPriority<Each extends Pick<SlotRequest, 'class'>>(wants: readonly Each[]): Each[] {
  return [...wants].sort(
    (left, right) => UPSTREAM_PRIORITIES.indexOf(left.class) - UPSTREAM_PRIORITIES.indexOf(right.class),
  );
}

/**
 * Gives out what is free, in the order of `wants`. Who waits has the next slot that frees put by, so that whoever comes
 * behind is not promised the same one. When a request under way will end nobody knows: for the best, now; so nobody is
 * refused who might still be served in time.
 */
export function decide(
  { at, blockedUntil, held }: WindowState,
  wants: readonly SlotRequest[],
  { limit, holdMs, subjectLimit }: Rules,
): Decision[] {
  const now = at.getTime();
  const begin = Math.max(now, blockedUntil?.getTime() ?? now);
  const fill = (slots: readonly HeldSlot[]) =>
    createSlotTimeline(
      slots.map(({ heldUntil }) => Math.min(heldUntil.getTime(), now + holdMs)),
      holdMs,
    );
  const all = fill(held);
  const subjects = new Map<string, SlotTimeline>();

  function ofSubject(subject: string): SlotTimeline {
    const known = subjects.get(subject);
    if (known) return known;
    const own = fill(held.filter((slot) => slot.class === 'payer' && slot.subject === subject));
    subjects.set(subject, own);
    return own;
  }

  return wants.map((want) => {
    const bounds = [{ filling: all, places: capOf(want.class, limit) }];
    if (want.class === 'payer' && want.subject !== null)
      bounds.push({ filling: ofSubject(want.subject), places: subjectLimit });
    const from = Math.max(begin, ...bounds.map(({ filling, places }) => filling.freeFrom(places)));
    const ms = from - now;
    if (ms > want.waitMs) return { kind: 'refused', retryAfterMs: ms };
    for (const { filling } of bounds) filling.take(from);
    return ms === 0 ? { kind: 'granted' } : { kind: 'waits', ms };
  });
}

interface SlotTimeline {
  /** From when on fewer than `places` are held. */
  freeFrom(places: number): number;
  /** One more, from that instant on: at the earliest it is free again `holdMs` later. */
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
