import { LARGEST_PAGE } from './ranked.ts';

/** Of a list so many pages are read to find what is in doubt. */
const PAGES = 10;

/** Each once, the newest first. */
export interface Newest<Item> {
  readonly items: Item[];
  /** Whatever is not older is among them. */
  readonly reachesBack: boolean;
}

/**
 * A list by `limit` and `offset`, newest first, page by page to where it is older. One that comes in meanwhile moves the
 * others to a later place, so that some come twice and none is passed over. Null where a page cannot be read.
 * @throws what `fetchPage` throws
 */
export async function readNewest<Item>({
  fetchPage,
  idOf,
  isOlder,
}: {
  /** `length`: of the page as it came, with what could not be read. */
  fetchPage: (page: string) => Promise<{ items: readonly Item[]; length: number } | null>;
  idOf: (item: Item) => string;
  isOlder: (item: Item) => boolean;
}): Promise<Newest<Item> | null> {
  const items = new Map<string, Item>();
  for (let offset = 0; offset < PAGES * LARGEST_PAGE; offset += LARGEST_PAGE) {
    const page = await fetchPage(`limit=${LARGEST_PAGE}&offset=${offset}`);
    if (!page) return null;
    const before = items.size;
    for (const item of page.items) items.set(idOf(item), item);
    if (page.length < LARGEST_PAGE || page.items.some(isOlder))
      return { items: [...items.values()], reachesBack: true };
    // It gives the same ones whatever is asked for.
    if (items.size === before) break;
  }
  return { items: [...items.values()], reachesBack: false };
}
