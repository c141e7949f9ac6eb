/** One event of a tenant's log, or one received update, as its cursor says. */
export interface Entry {
  /** The version of the event; null if the cursor is not of the follower's tenant. */
  version: number | null;
  id: string;
}

export interface Compared {
  missed: number;
  doubled: number;
  /** The number of updates that came after a later one. */
  misplaced: number;
  /** The number of updates of another tenant or of another resource. */
  foreign: number;
}

/** Compares the received updates with the events that the follower follows, in their order. */
export function compare(
  events: readonly (Entry & { version: number })[],
  received: readonly Entry[],
): Compared {
  const followed = new Map(events.map(({ version, id }) => [version, id]));
  const seen = new Set<number>();
  const found: Compared = { missed: 0, doubled: 0, misplaced: 0, foreign: 0 };
  let newest = 0;
  for (const { version, id } of received) {
    if (version === null || followed.get(version) !== id) {
      found.foreign += 1;
      continue;
    }
    if (seen.has(version)) found.doubled += 1;
    else if (version < newest) found.misplaced += 1;
    seen.add(version);
    newest = Math.max(newest, version);
  }
  found.missed = followed.size - seen.size;
  return found;
}

/** The memory of all instances together, at one moment of a dose. */
export interface Memory {
  /** The memory that JavaScript holds, buffers included, after garbage collection. */
  heldMb: number;
  rssMb: number;
}

/**
 * The allowed growth from the quarter to the end. A small dose has noise, and the results of large updates, which
 * come after the quarter, fill 8 MB of each instance.
 */
const GROWTH_SHARE = 0.04;
const GROWTH_MB = 10;
/** The allowed growth of the process, whose free memory V8 and the allocator may keep. */
const RSS_SHARE = 0.25;
const RSS_MB = 40;

/** Whether memory has stayed flat between two moments with equally many followers, for this number of instances. */
export function isFlat(before: Memory, after: Memory, instances: number): boolean {
  return (
    after.heldMb <= before.heldMb * (1 + GROWTH_SHARE) + GROWTH_MB * instances &&
    after.rssMb <= before.rssMb * (1 + RSS_SHARE) + RSS_MB * instances
  );
}

/** The share of outages in which at least one event of the follower happened. `eventsAt` is sorted. */
export function shareWithEvent(
  outages: readonly { cutAt: number; upAt: number | null; eventsAt: readonly number[] }[],
): number {
  const withEvent = outages.filter(({ cutAt, upAt, eventsAt }) =>
    eventsAt.some((at) => at >= cutAt && (upAt === null || at <= upAt)),
  );
  return outages.length === 0 ? 0 : withEvent.length / outages.length;
}
