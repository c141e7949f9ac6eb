import { plusMs } from '../kernel/clock.ts';

/** A date so far outside a window belongs to another request, whatever clock says it, and in whatever time zone. */
const CLOCK_MARGIN_MS = 26 * 60 * 60_000;

/** The time around a request in which the service dates its resource, by its clock or by ours. */
export interface TimeWindow {
  readonly beforeMs: number;
  readonly afterMs: number;
  /** A resource that is dated outside the window by up to so much may be its resource, by a clock that is wrong. */
  readonly marginMs: number;
}

/** A window whose dates may come from a clock that is far from ours. */
export function windowOf({ beforeMs, afterMs }: Omit<TimeWindow, 'marginMs'>): TimeWindow {
  return { beforeMs, afterMs, marginMs: CLOCK_MARGIN_MS };
}

/** The date behind which a list need not be read: the resource of a request begun at `begunAt` is not older. */
export function earliestOf(begunAt: Date, { beforeMs, marginMs }: TimeWindow): Date {
  return plusMs(begunAt, -beforeMs - marginMs);
}

/**
 * The resource of the service that a request has made. `items` are the resources that may be it.
 * - `one`: it is this one.
 * - `none`: there is none, and the list that says so was read to its beginning.
 * - `unclear`: the list was not, there are several, another request may have made it, or its date does not show that it
 *   came after the request.
 */
export type Recognition<Item> =
  | { readonly kind: 'one'; readonly items: readonly [Item] }
  | { readonly kind: 'none'; readonly items: readonly [] }
  | { readonly kind: 'unclear'; readonly reason: Reason; readonly items: readonly Item[] };

type Reason = 'incomplete' | 'several' | 'rival' | 'undated' | 'clock';

/**
 * Recognises the resource of a request whose answer was lost, among those of the service's list that are like what was
 * sent. A resource that is dated far from the request, or that another request has made, is not it. Of several none is
 * taken, unless they are `interchangeable`: then there may be one for each of so many other lost requests, and the last
 * is taken. Pure.
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
  /** The id of an item; a resource that comes several times counts once. */
  idOf: (item: Item) => string;
  dateOf: (item: Item) => Date | null;
  begunAt: Date;
  window: TimeWindow;
  /** The ids of those that another request has made. */
  claimed: ReadonlySet<string>;
  /** Whether a request whose end is unknown may have made this one instead. */
  hasRival: (item: Item) => boolean;
  interchangeable?: number;
  /** The list has whatever is as new as the window. */
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
  // A list that ends too early may have another one that is like it, which matters where any of them will not do.
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
  const behindMs = date.getTime() - begunAt.getTime();
  if (behindMs >= -beforeMs && behindMs <= afterMs) return 'within';
  return behindMs < -beforeMs - marginMs || behindMs > afterMs + marginMs ? 'outside' : 'near';
}
