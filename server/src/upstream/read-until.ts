import { LARGEST_PAGE } from './stable-list.ts';

/** The most pages that are read to find a resource in doubt. */
const MAX_PAGES = 10;

/** The items of a list that were read, without duplicates, in the list's order. */
export interface PagesRead<Item> {
  readonly items: Item[];
  /** Whether every item that is not older than `since` was read. */
  readonly complete: boolean;
}

/**
 * Reads a list by `limit` and `offset`, page by page to its end, or to items that are older than `since`, ten
 * pages at most. The document defines no order: only dates show that the rest is older still. Null if a page
 * cannot be read.
 * @throws errors of `fetchPage`
 */
export async function readPagesUntil<Item>({
  fetchPage,
  idOf,
  dateOf,
  since,
}: {
  /**
   * Reads a page by its query string. `length` counts all its items, including unreadable ones. `total`: the
   * length of the list; null if the service does not report it.
   */
  fetchPage: (
    page: string,
  ) => Promise<{ items: readonly Item[]; length: number; total: number | null } | null>;
  idOf: (item: Item) => string;
  dateOf: (item: Item) => Date | null;
  /** Called after each page, because each answer measures the service's clock. */
  since: () => Date;
}): Promise<PagesRead<Item> | null> {
  const known = new Map<string, Item>();
  for (let pages = 0, offset = 0; pages < MAX_PAGES; pages += 1) {
    const page = await fetchPage(`limit=${LARGEST_PAGE}&offset=${offset}`);
    if (!page) return null;
    const sizeBefore = known.size;
    for (const item of page.items) known.set(idOf(item), item);
    offset += page.length;
    const items = [...known.values()];
    // The total of a full page may be the number of items on that page.
    const isAtEnd =
      page.total === null ? page.length === 0 : page.length < LARGEST_PAGE && known.size >= page.total;
    if (isAtEnd || reachesBefore(items.map(dateOf), since())) return { items, complete: true };
    // The service ignores the offset, or has fewer items than its total.
    if (known.size === sizeBefore) break;
  }
  return { items: [...known.values()], complete: false };
}

/** Whether a list is newest first and goes back beyond `since`. */
export function reachesBefore(dates: readonly (Date | null)[], since: Date): boolean {
  return isNewestFirst(dates) && dates.some((date) => date !== null && date < since);
}

/** Whether dates are in descending order. Equal dates show no order, so they are not. */
export function isNewestFirst(dates: readonly (Date | null)[]): boolean {
  const isDescending = dates.every(
    (date, index) => date !== null && (index === 0 || dates[index - 1]! >= date),
  );
  return isDescending && dates.length > 1 && dates[0]! > dates.at(-1)!;
}
