import { RateLimitError, UpstreamError, ValidationError } from '../kernel/errors.ts';
import { createLRUCache } from '../kernel/lru-cache.ts';

/** A page of a list of the service, newest first, as it was when it was read. */
export interface OffsetPage<Item> {
  /** The items, with null for one that cannot be read. */
  readonly items: readonly (Item | null)[];
  /** The length of the whole list. */
  readonly total: number;
  /** Whether `total` is the length. False if the service does not report it, and this page shows no end. */
  readonly isTotalKnown?: boolean;
  /** The time of the request. */
  readonly at: Date;
}

/** A filter that this server applies to each item, because the service has none. */
export interface StableFilter<Item> {
  /** Whether an item passes; by default all do. */
  readonly wants?: ((item: Item) => boolean) | undefined;
  /** Whether an item ends the scan, because no older item passes. */
  readonly isBeyond?: ((item: Item) => boolean) | undefined;
}

/**
 * A range of a list between the positions `after` and `before`, both excluded: the first `limit` items or the
 * last.
 */
export interface StableRange<Item> extends StableFilter<Item> {
  readonly end: 'first' | 'last';
  readonly limit: number;
  readonly after?: number | undefined;
  readonly before?: number | undefined;
}

/**
 * A list that the service pages by `limit` and `offset` (the document's 2.1.6), read by stable positions: an
 * item's position is its rank counted from the oldest, which a newer item does not change. A deletion lowers the
 * positions of newer items, so a page after such a position may skip an item.
 */
export interface StableOffsetList<Where, Item> {
  /**
   * Lists a range, newest first. `more`: there are other items in the direction of `end`.
   * @throws errors of `fetchPage`; ValidationError for `after`, and for `last` without `before`, if the
   * service does not report where the list ends, and ten pages do not show it; RateLimitError if more than
   * ten pages would have to be read: these are cached, and a repeated call gets further
   */
  list(
    where: Where,
    range: StableRange<Item>,
  ): Promise<{ items: { position: number; item: Item }[]; more: boolean }>;
  /**
   * Finds the newest `limit` items that pass, reading `pages` pages at most. `complete`: the whole list was
   * scanned, or `limit` items were found. If not `readable`, an item cannot be read, or is missing from its
   * page.
   * @throws errors of `fetchPage`
   */
  find(
    where: Where,
    wanted: { wants: (item: Item) => boolean; limit: number; pages: number },
  ): Promise<{ items: Item[]; complete: boolean; readable: boolean }>;
  /** Counts the items that pass. @throws as `list`, and UpstreamError if the end of the list is not known */
  count(where: Where, filter: StableFilter<Item>): Promise<number>;
}

/** The number of items in the largest page that the service gives. */
export const LARGEST_PAGE = 100;
/** The most pages that are read for one answer: a twelfth of the budget of a minute. */
const MAX_SCAN_PAGES = 10;
const RETRY_AFTER_SECONDS = 5;
/** The memory of about 20,000 items. */
const ITEMS_BYTES = 32_000_000;
/** The memory of about 1,000 lists. */
const LISTS_BYTES = 400_000;
const LIST_BYTES = 100;

export function createStableOffsetList<Where, Item extends object | number>({
  keyOf,
  idOf,
  fetchPage,
  isCacheable,
  itemsBytes = ITEMS_BYTES,
}: {
  /** The key of a list and of its reader: cached items of one key are never given to another. */
  keyOf: (where: Where) => string;
  idOf: (item: Item) => string;
  fetchPage: (where: Where, page: { limit: number; offset: number }) => Promise<OffsetPage<Item>>;
  /** Whether an item can no longer change, so that it need not be read again. */
  isCacheable: (item: Item) => boolean;
  /** The memory of the cached items; the least recently used are evicted. */
  itemsBytes?: number;
}): StableOffsetList<Where, Item> {
  interface KnownList {
    /** A number that distinguishes the items cached before the list was replaced from those cached since. */
    readonly generation: number;
    total: number;
    isTotalKnown: boolean;
    /** Whether the service reports `total`; if not, it was counted by reading the whole list. */
    isReported: boolean;
    at: Date;
  }
  const lists = createLRUCache<KnownList>(LISTS_BYTES, () => LIST_BYTES);
  const cache = createLRUCache<Item>(itemsBytes, itemBytesOf);
  let generations = 0;

  /** Opens a scan for one answer, which reads `maxPages` pages at most. */
  function openScan(where: Where, maxPages = MAX_SCAN_PAGES) {
    const key = keyOf(where);
    const seen = new Map<number, Item | null>();
    let pages = 0;

    const known = () => lists.peek(key) ?? null;
    const cacheKeyOf = (rank: number) => `${known()?.generation} ${rank}`;

    async function read(offset: number): Promise<void> {
      const { items, length, ...rest } = await fetchToKnownEnd(offset);
      const { at } = rest;
      const ranked = items.map((item, index) => ({ rank: length - offset - index, item }));
      if (isReplaced(length, at, ranked)) {
        seen.clear();
        lists.delete(key);
      }
      recordTotal({ total: length, ...rest });
      for (const { rank, item } of ranked) {
        seen.set(rank, item);
        if (item !== null && isCacheable(item)) cache.set(cacheKeyOf(rank), item);
      }
    }

    /**
     * Fetches a page. Without a reported total it also fetches all pages behind it, because ranks are counted
     * from the end.
     */
    async function fetchToKnownEnd(offset: number) {
      const { total, isTotalKnown: isReported = true, at, items: first } = await fetchNext(offset);
      if (isReported) {
        const length = Math.max(total, offset + first.length);
        return { items: first, length, isTotalKnown: true, isReported, at };
      }
      const items = [...first];
      const seenIds = new Set(idsOf(first));
      let isAtEnd = false;
      for (let next = offset + first.length; !isAtEnd && !isSpent(); ) {
        const page = await fetchNext(next);
        // Skips items that were seen: the list may have grown meanwhile, or the service may ignore the
        // offset.
        const fresh = page.items.filter((item) => item === null || !seenIds.has(idOf(item)));
        items.push(...fresh);
        for (const id of idsOf(fresh)) seenIds.add(id);
        next += page.items.length;
        isAtEnd = page.isTotalKnown !== false || fresh.length === 0;
      }
      return { items, length: offset + items.length, isTotalKnown: isAtEnd, isReported, at };
    }

    const idsOf = (items: readonly (Item | null)[]) => items.flatMap((item) => item ?? []).map(idOf);

    async function fetchNext(offset: number): Promise<OffsetPage<Item>> {
      if (isSpent()) throw tooManyPages(maxPages);
      pages += 1;
      return fetchPage(where, { limit: LARGEST_PAGE, offset });
    }

    /**
     * Whether the service's list was replaced: no item ever leaves a list, so the same list is never shorter
     * and still has its items.
     */
    function isReplaced(
      total: number,
      at: Date,
      ranked: readonly { rank: number; item: Item | null }[],
    ): boolean {
      const before = known();
      if (!before) return false;
      if (total < before.total && at > before.at) return true;
      return ranked.some(({ rank, item }) => {
        const cached = cache.peek(cacheKeyOf(rank));
        return cached !== undefined && item !== null && idOf(cached) !== idOf(item);
      });
    }

    function recordTotal(read: Omit<KnownList, 'generation'>): void {
      const before = known();
      const isNewer = !before || read.at >= before.at || read.total > before.total;
      const generation = before?.generation ?? ++generations;
      lists.set(key, isNewer ? { generation, ...read } : before);
    }

    /**
     * The item of a rank; null if it cannot be read, undefined if the list has none. `towards`: the direction
     * of the next rank.
     */
    async function itemAt(rank: number, towards: 'older' | 'newer'): Promise<Item | null | undefined> {
      if (seen.has(rank)) return seen.get(rank);
      const cached = cache.get(cacheKeyOf(rank));
      if (cached !== undefined) return cached;
      // The second attempt requests a page that begins with the item: the list may have grown meanwhile, or a
      // page may be smaller than requested.
      for (const itemsBefore of [towards === 'older' ? 0 : LARGEST_PAGE - 1, 0]) {
        await read(Math.max(0, total() - rank - itemsBefore));
        if (seen.has(rank)) return seen.get(rank);
      }
      return undefined;
    }

    const total = () => known()?.total ?? 0;
    /** Whether the scan has used up its pages. */
    const isSpent = () => pages >= maxPages;
    return { newest: () => read(0), isSpent, known, total, itemAt };
  }

  return {
    async list(where, { end, limit, after, before, wants, isBeyond }) {
      const scan = openScan(where);
      // Only the newest page shows new items, and a caller with a position wants older ones, so its pages may be
      // cached. Without a reported total, or for an unknown position, the newest page is still read first.
      if (after === undefined || !scan.known()?.isReported || after > scan.total() + 1) await scan.newest();
      if (scan.known()?.isTotalKnown === false) assertNeedsNoEnd({ end, after, before });
      const highest = after === undefined ? scan.total() : Math.min(after - 1, scan.total());
      const lowest = before === undefined ? 1 : before + 1;
      const step = end === 'first' ? -1 : 1;
      const found: { position: number; item: Item }[] = [];
      let more = false;
      for (let rank = end === 'first' ? highest : lowest; rank >= lowest && rank <= highest; rank += step) {
        more = found.length === limit && !wants;
        if (more) break;
        const item = await scan.itemAt(rank, end === 'first' ? 'older' : 'newer').catch((error: unknown) => {
          // The page is complete. Whether more items follow remains unknown, so a next page is offered.
          if (!(error instanceof RateLimitError) || found.length < limit) throw error;
          more = true;
        });
        if (item === undefined) break;
        if (item === null) continue;
        if (end === 'first' && isBeyond?.(item)) break;
        if (wants && !wants(item)) continue;
        more = found.length === limit;
        if (more) break;
        found.push({ position: rank, item });
      }
      return { items: end === 'first' ? found : found.reverse(), more };
    },

    async find(where, { wants, limit, pages }) {
      const scan = openScan(where, pages);
      await scan.newest();
      const found = new Map<string, Item>();
      let readable = true;
      for (let rank = scan.total(); rank >= 1 && found.size < limit; rank -= 1) {
        const item = await scan.itemAt(rank, 'older').catch((error: unknown) => {
          if (!(error instanceof RateLimitError && scan.isSpent())) throw error;
          return 'spent' as const;
        });
        if (item === 'spent') return { items: [...found.values()], complete: false, readable };
        if (item == null) readable = false;
        else if (wants(item)) found.set(idOf(item), item);
      }
      const isWhole = readable && scan.known()?.isTotalKnown !== false;
      return { items: [...found.values()], complete: isWhole || found.size === limit, readable };
    },

    async count(where, { wants, isBeyond }) {
      const scan = openScan(where);
      await scan.newest();
      if (scan.known()?.isTotalKnown === false)
        throw new UpstreamError('UPSTREAM_REFUSED', `${END_UNKNOWN}, so its items cannot be counted`);
      if (!wants) return scan.total();
      let count = 0;
      for (let rank = scan.total(); rank >= 1; rank -= 1) {
        const item = await scan.itemAt(rank, 'older');
        if (item === undefined || (item !== null && isBeyond?.(item))) break;
        if (item !== null && wants(item)) count += 1;
      }
      return count;
    },
  };
}

const END_UNKNOWN = 'the payments service does not report where the list ends';

/**
 * Asserts that a range of a list whose end is not known begins at its newest item: positions are counted from
 * the end.
 */
function assertNeedsNoEnd({
  end,
  after,
  before,
}: Pick<StableRange<never>, 'end' | 'after' | 'before'>): void {
  const refuse = (path: string, message: string) => {
    throw new ValidationError([{ path, message: `${message}: ${END_UNKNOWN}` }]);
  };
  if (after !== undefined)
    refuse('after', `gets no further in a list of more than ${MAX_SCAN_PAGES * LARGEST_PAGE} items here`);
  if (end === 'last' && before === undefined) refuse('last', 'needs `before` here');
}

/** The memory of an item: two bytes for each character of its JSON text. */
function itemBytesOf(item: object | number): number {
  return 2 * JSON.stringify(item).length;
}

/** The error of a scan that needs more than `pages` pages; a repeated call gets further. */
export function tooManyPages(pages: number): RateLimitError {
  return new RateLimitError(
    `${pages} pages of the payments service for one answer; what was read is kept, so ask again`,
    RETRY_AFTER_SECONDS,
  );
}
