import { plusMs } from '../kernel/clock.ts';

/**
 * The margin around a window. A date beyond it belongs to another request, by any clock and in any time zone.
 */
export const CLOCK_MARGIN_MS = 26 * 60 * 60_000;

/** The time around a request in which the service dates its resource, by its clock or by ours. */
export interface TimeWindow {
  readonly beforeMs: number;
  readonly afterMs: number;
  /** The distance outside the window at which a date may still belong to the request, by a wrong clock. */
  readonly marginMs: number;
}

/** A window for dates that may come from a clock far from ours. */
export function windowOf({ beforeMs, afterMs }: Omit<TimeWindow, 'marginMs'>): TimeWindow {
  return { beforeMs, afterMs, marginMs: CLOCK_MARGIN_MS };
}

/**
 * The date back to which a list has to be read: the resource of a request that began at `begunAt` is not
 * older.
 */
export function earliestOf(begunAt: Date, { beforeMs, marginMs }: TimeWindow): Date {
  return plusMs(begunAt, -beforeMs - marginMs);
}

/**
 * The result of looking for the resource that a request has made. `items` are the candidates. `one`: it is
 * this one. `none`: there is none, and the list was read back to the window. `unclear`: the list was not read
 * so far, there are several candidates, another request may have made it, or its date does not show that it
 * came after the request.
 */
export type Recognition<Item> =
  | { readonly kind: 'one'; readonly items: readonly [Item] }
  | { readonly kind: 'none'; readonly items: readonly [] }
  | { readonly kind: 'unclear'; readonly reason: Reason; readonly items: readonly Item[] };

type Reason = 'incomplete' | 'several' | 'rival' | 'undated' | 'clock';

/**
 * Recognizes the resource of a request whose answer was lost, among the resources in the service's list that
 * match the request. A resource that is dated far from the request, or that another request has made, does
 * not count. Of several candidates none is taken, unless they are interchangeable: then each of the other
 * lost requests may have made one more, and the last is taken. Pure.
 */
export function recognise<Item>({
  items,
  idOf,
  dateOf,
  begunAt,
  window,
  claimed,
  hasRival,
  interchangeable,
  complete,
}: {
  items: readonly Item[];
  /** The id of an item; a resource that appears several times counts once. */
  idOf: (item: Item) => string;
  dateOf: (item: Item) => Date | null;
  begunAt: Date;
  window: TimeWindow;
  /** The ids of the resources that another request has made. */
  claimed: ReadonlySet<string>;
  /** Whether another request, whose outcome is unknown, may have made an item. */
  hasRival: (item: Item) => boolean;
  /**
   * The number of other lost requests with the same input; undefined if the items are not interchangeable.
   */
  interchangeable?: number;
  /** Whether the list contains every item that is as new as the window. */
  complete: boolean;
}): Recognition<Item> {
  const candidates = new Map<string, { item: Item; timing: Timing }>();
  for (const item of items) {
    const id = idOf(item);
    const timing = timingOf(dateOf(item), begunAt, window);
    if (timing === 'outside' || claimed.has(id)) continue;
    if (timing === 'within' || !candidates.has(id)) candidates.set(id, { item, timing });
  }
  const found = [...candidates.values()];
  const [last] = found.slice(-1);
  const unclear = (reason: Reason): Recognition<Item> => ({
    kind: 'unclear',
    reason,
    items: found.map(({ item }) => item),
  });
  // An incomplete list may lack another candidate, which matters unless the candidates are interchangeable.
  if (!complete && (!last || interchangeable === undefined)) return unclear('incomplete');
  if (!last) return { kind: 'none', items: [] };
  if (found.length > 1 + (interchangeable ?? 0)) return unclear('several');
  if (hasRival(last.item)) return unclear('rival');
  if (found.some(({ timing }) => timing === 'undated')) return unclear('undated');
  if (found.some(({ timing }) => timing === 'near')) return unclear('clock');
  return { kind: 'one', items: [last.item] };
}

type Timing = 'within' | 'near' | 'outside' | 'undated';

function timingOf(date: Date | null, begunAt: Date, { beforeMs, afterMs, marginMs }: TimeWindow): Timing {
  if (date === null) return 'undated';
  const offsetMs = date.getTime() - begunAt.getTime();
  if (offsetMs >= -beforeMs && offsetMs <= afterMs) return 'within';
  return offsetMs < -beforeMs - marginMs || offsetMs > afterMs + marginMs ? 'outside' : 'near';
}
