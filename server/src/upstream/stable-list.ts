import { RateLimitError } from '../kernel/errors.ts';

/** A part of a list of the service, newest first, as it stood when it was read. */
export interface OffsetPage<Item> {
  /** The items, with null in the place of one that cannot be read. */
  readonly items: readonly (Item | null)[];
  /** The length of the whole list. */
  readonly total: number;
  /** The time of the request. */
  readonly at: Date;
}

export interface StableFilter<Item> {
  /** Whether an item is wanted; left out, all are. */
  readonly wants?: ((item: Item) => boolean) | undefined;
  /** Whether an item ends the search: none that is older is wanted. */
  readonly isBeyond?: ((item: Item) => boolean) | undefined;
}

/** A range of a list: between the places `after` and `before`, the first `limit` or the last. */
export interface StableRange<Item> extends StableFilter<Item> {
  readonly end: 'first' | 'last';
  readonly limit: number;
  readonly after?: number | undefined;
  readonly before?: number | undefined;
}

/**
 * A list that the service gives by `limit` and `offset` (the document's 2.1.6), read by places that stay: an item's
 * place is its rank counted from the oldest, which a newer item does not move.
 */
export interface StableOffsetList<Where, Item> {
  /**
   * A page, newest first, and whether there is more in its direction.
   * @throws what `fetchPage` throws; RateLimitError where too much would have to be read at once: what was read is
   *   kept, and a repeated call gets further
   */
  list(
    where: Where,
    range: StableRange<Item>,
  ): Promise<{ items: { place: number; item: Item }[]; more: boolean }>;
  /**
   * Finds the newest `limit` that are wanted, on no more than `pages` pages. `complete`: all of the list was looked at,
   * or `limit` items were found. Not `readable`: an item cannot be read, or is missing from its page.
   * @throws what `fetchPage` throws
   */
  find(
    where: Where,
    wanted: { wants: (item: Item) => boolean; limit: number; pages: number },
  ): Promise<{ items: Item[]; complete: boolean; readable: boolean }>;
  /** Counts the items. @throws as `list` */
  count(where: Where, filter: StableFilter<Item>): Promise<number>;
}

/** The largest page that the service gives. */
export const LARGEST_PAGE = 100;
/** The pages that are read for one answer: a twelfth of the budget of a minute. */
const LARGEST_SCAN = 10;
const ASK_AGAIN_SECONDS = 5;
const KEPT_ITEMS = 20_000;
const KEPT_LISTS = 1_000;

export function createStableOffsetList<Where, Item>({
  keyOf,
  idOf,
  fetchPage,
  isKept,
  keptItems = KEPT_ITEMS,
}: {
  /** The key of a list and of its reader: items that are kept for one are never given to another. */
  keyOf: (where: Where) => string;
  idOf: (item: Item) => string;
  fetchPage: (where: Where, page: { limit: number; offset: number }) => Promise<OffsetPage<Item>>;
  /** Whether an item cannot change any more, and need not be read again. */
  isKept: (item: Item) => boolean;
  /** The number of kept items; the least recently used are dropped. */
  keptItems?: number;
}): StableOffsetList<Where, Item> {
  interface Known {
    /** A counter that separates the items kept before the list was found to be another from those kept since. */
    readonly generation: number;
    total: number;
    at: Date;
  }
  const lists = new Map<string, Known>();
  const kept = new Map<string, Item>();
  let generations = 0;

  /** Begins the reading for one answer. */
  function beginReading(where: Where, most = LARGEST_SCAN) {
    const key = keyOf(where);
    const seen = new Map<number, Item | null>();
    let pages = 0;

    const known = () => lists.get(key) ?? null;
    const keptUnder = (rank: number) => `${known()?.generation} ${rank}`;

    async function read(offset: number): Promise<void> {
      if (pages >= most) throw tooManyPages(most);
      pages += 1;
      const { items, total, at } = await fetchPage(where, { limit: LARGEST_PAGE, offset });
      const counted = Math.max(total, offset + items.length);
      const ranked = items.map((item, index) => ({ rank: counted - offset - index, item }));
      if (isAnother(counted, at, ranked)) {
        seen.clear();
        lists.delete(key);
      }
      note(counted, at);
      for (const { rank, item } of ranked) {
        seen.set(rank, item);
        if (item !== null && isKept(item)) touch(kept, keptUnder(rank), item, keptItems);
      }
    }

    /**
     * Whether a list is not the one that was read: nothing ever leaves a list, so it got no shorter and has the same
     * items.
     */
    function isAnother(
      total: number,
      at: Date,
      ranked: readonly { rank: number; item: Item | null }[],
    ): boolean {
      const before = known();
      if (!before) return false;
      if (total < before.total && at > before.at) return true;
      return ranked.some(({ rank, item }) => {
        const there = kept.get(keptUnder(rank));
        return there !== undefined && item !== null && idOf(there) !== idOf(item);
      });
    }

    function note(total: number, at: Date): void {
      const before = known();
      const newer = !before || at >= before.at || total > before.total;
      const generation = before?.generation ?? ++generations;
      touch(lists, key, newer ? { generation, total, at } : before, KEPT_LISTS);
    }

    /** The item of a rank; undefined where the list has none. */
    async function itemAt(rank: number, towards: 'older' | 'newer'): Promise<Item | null | undefined> {
      if (seen.has(rank)) return seen.get(rank);
      const there = kept.get(keptUnder(rank));
      if (there !== undefined) {
        touch(kept, keptUnder(rank), there, keptItems);
        return there;
      }
      const beneath = towards === 'older' ? 0 : LARGEST_PAGE - 1;
      // Twice, for meanwhile the list may have grown, or a page may be smaller than requested: then the item stands
      // first.
      for (const above of [beneath, 0]) {
        await read(Math.max(0, total() - rank - above));
        if (seen.has(rank)) return seen.get(rank);
      }
      return undefined;
    }

    const total = () => known()?.total ?? 0;
    /** Whether the reading has used up its pages. */
    const isSpent = () => pages >= most;
    return { newest: () => read(0), isSpent, isKnown: () => known() !== null, total, itemAt };
  }

  return {
    async list(where, { end, limit, after, before, wants, isBeyond }) {
      const reading = beginReading(where);
      // Only the newest page shows new items; nothing new comes after a place that was given out.
      if (after === undefined || !reading.isKnown() || after > reading.total() + 1) await reading.newest();
      const highest = after === undefined ? reading.total() : Math.min(after - 1, reading.total());
      const lowest = before === undefined ? 1 : before + 1;
      const step = end === 'first' ? -1 : 1;
      const found: { place: number; item: Item }[] = [];
      let more = false;
      for (let rank = end === 'first' ? highest : lowest; rank >= lowest && rank <= highest; rank += step) {
        more = found.length === limit && !wants;
        if (more) break;
        const item = await reading
          .itemAt(rank, end === 'first' ? 'older' : 'newer')
          .catch((error: unknown) => {
            // The page is there; whether there is more remains open.
            if (!(error instanceof RateLimitError) || found.length < limit) throw error;
            more = true;
          });
        if (item === undefined) break;
        if (item === null) continue;
        if (end === 'first' && isBeyond?.(item)) break;
        if (wants && !wants(item)) continue;
        more = found.length === limit;
        if (more) break;
        found.push({ place: rank, item });
      }
      return { items: end === 'first' ? found : found.reverse(), more };
    },

    async find(where, { wants, limit, pages }) {
      const reading = beginReading(where, pages);
      await reading.newest();
      const found = new Map<string, Item>();
      let readable = true;
      for (let rank = reading.total(); rank >= 1 && found.size < limit; rank -= 1) {
        const item = await reading.itemAt(rank, 'older').catch((error: unknown) => {
          if (!(error instanceof RateLimitError && reading.isSpent())) throw error;
          return 'spent' as const;
        });
        if (item === 'spent') return { items: [...found.values()], complete: false, readable };
        if (item == null) readable = false;
        else if (wants(item)) found.set(idOf(item), item);
      }
      return { items: [...found.values()], complete: readable || found.size === limit, readable };
    },

    async count(where, { wants, isBeyond }) {
      const reading = beginReading(where);
      await reading.newest();
      if (!wants) return reading.total();
      let count = 0;
      for (let rank = reading.total(); rank >= 1; rank -= 1) {
        const item = await reading.itemAt(rank, 'older');
        if (item === undefined || (item !== null && isBeyond?.(item))) break;
        if (item !== null && wants(item)) count += 1;
      }
      return count;
    },
  };
}

/** The error of a reading that needs more pages; a repeated call gets further. */
export function tooManyPages(pages: number): RateLimitError {
  return new RateLimitError(
    `${pages} pages of the payments service for one answer; what was read is kept, so ask again`,
    ASK_AGAIN_SECONDS,
  );
}

/** Puts an entry in as the one last used; beyond `limit` the least recently used is dropped. */
function touch<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > limit) map.delete(map.keys().next().value!);
}
