import { LARGEST_PAGE } from './stable-list.ts';

/** Of a list so many pages are read to find what is in doubt. */
const PAGES = 10;

/** Each once, in the order of the list. */
export interface PagesRead<Item> {
  readonly items: Item[];
  /** Whatever is not older is among them. */
  readonly reachesBack: boolean;
}

/**
 * A list by `limit` and `offset`, page by page to its end, or to where it is older than `since`. The document does not say
 * in which order a list comes: only dates show that what follows is older still. Null where a page cannot be read.
 * @throws what `fetchPage` throws
 */
export async function readPagesUntil<Item>({
  fetchPage,
  idOf,
  dateOf,
  since,
}: {
  /** `length`: of the page as it came, with what could not be read. `total`: null where it is not given. */
  fetchPage: (
    page: string,
  ) => Promise<{ items: readonly Item[]; length: number; total: number | null } | null>;
  idOf: (item: Item) => string;
  dateOf: (item: Item) => Date | null;
  since: Date;
}): Promise<PagesRead<Item> | null> {
  const known = new Map<string, Item>();
  for (let pages = 0, offset = 0; pages < PAGES; pages += 1) {
    const page = await fetchPage(`limit=${LARGEST_PAGE}&offset=${offset}`);
    if (!page) return null;
    const before = known.size;
    for (const item of page.items) known.set(idOf(item), item);
    offset += page.length;
    const items = [...known.values()];
    // The total of a full page may be its own.
    const isWhole =
      page.total === null ? page.length === 0 : page.length < LARGEST_PAGE && known.size >= page.total;
    if (isWhole || isBehind(items.map(dateOf), since)) return { items, reachesBack: true };
    // It gives the same ones whatever is asked for, or fewer than it says that there are.
    if (known.size === before) break;
  }
  return { items: [...known.values()], reachesBack: false };
}

/** The newest first, and the last ones older. */
export function isBehind(dates: readonly (Date | null)[], since: Date): boolean {
  return isNewestFirst(dates) && dates.some((date) => date !== null && date < since);
}

/** Equal dates show no order. */
export function isNewestFirst(dates: readonly (Date | null)[]): boolean {
  const isDescending = dates.every(
    (date, index) => date !== null && (index === 0 || dates[index - 1]! >= date),
  );
  return isDescending && dates.length > 1 && dates[0]! > dates.at(-1)!;
}
